package dev.raddle.task;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks methods whose call has no effect but the value that they return, such as {@code Rate.strict()}; on a type, all
 * of its methods. Error Prone and other checkers know this annotation by its simple name, and report a call whose value
 * is ignored.
 *
 * {@snippet :
 * RunOptions options = RunOptions.defaults();
 * options.withTimeout(Duration.ofSeconds(5));           // reported: the options are as before
 * options = options.withTimeout(Duration.ofSeconds(5));
 * }
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target({ElementType.METHOD, ElementType.TYPE})
public @interface CheckReturnValue {}
