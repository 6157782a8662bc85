package dev.raddle.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs a method of a bean under the limits of a group. The method waits for its slot as every other task of the group
 * does, and is rejected if the queue is full.
 *
 * {@snippet :
 * @Grouped(executor = "tenants", key = "#tenantId", queueTimeout = "500ms")
 * Report render(String tenantId, Query query) {
 *     return renderer.render(query);
 * }
 * }
 *
 * <p>A method that returns a {@link java.util.concurrent.CompletableFuture}, {@link
 * java.util.concurrent.CompletionStage} or {@link java.util.concurrent.Future} is submitted: the caller gets a future
 * at once, and the method runs in a thread of the group. It holds its slot until the future that it returns has
 * completed. A cancellation of the caller's future cancels the task. Every other method runs in the caller's thread,
 * which waits for the slot.
 *
 * <p>Exceptions of the method reach the caller unchanged. A rejected call throws {@link
 * dev.raddle.group.RejectedTaskException}, or completes the future with it, unless {@link #onReject} names a method. In
 * a web application it becomes the status 429 if the group itself is full, and 503 otherwise, with a Retry-After.
 *
 * <p>The limits cover calls through the bean only. A private, static or final method with this annotation, a key that
 * cannot be parsed and an executor that does not exist prevent the start. A call by the
 * object itself has no limits. The limits enclose transactions: a call that waits has no connection.
 *
 * <p>An annotation that has this one is as good as it. Its attributes may be those of this one, by
 * {@link org.springframework.core.annotation.AliasFor}.
 */
@Documented
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
public @interface Grouped {

    /**
     * Returns the name of the bean of the executor.
     *
     * @return the name; empty for the only executor, or the primary one
     */
    String executor() default "";

    /**
     * Returns the key of the group, as an expression of Spring: {@code #tenantId} is a parameter, {@code #p0} the first
     * one, {@code #order.customer} a property, {@code 'mail'} a constant, {@code @tenants.current()} a call of a bean.
     * The value's text is the key; it must not be null.
     *
     * @return the expression; empty for the constant {@code Class.method}
     */
    String key() default "";

    /**
     * Returns how many slots the method takes.
     *
     * @return the cost, at least 1
     */
    int cost() default 1;

    /**
     * Returns the priority among the waiting tasks of the group.
     *
     * @return the priority; higher ones start first
     */
    int priority() default 0;

    /**
     * Returns how long the call may wait for its slot before it is rejected.
     *
     * @return a duration such as {@code 500ms} or <code>${shop.patience}</code>; empty for the queue timeout of the
     *     executor
     */
    String queueTimeout() default "";

    /**
     * Returns how long the call may take in all, with the time that it waits. When that has passed, the method is
     * interrupted, and the caller gets a {@link dev.raddle.task.TaskTimeoutException}.
     *
     * @return a duration such as {@code 2s}; empty for no limit
     */
    String timeout() default "";

    /**
     * Returns the name of the method of the same class that is called in place of a rejected one. It has the same
     * parameters, or in addition a last one of the type {@link dev.raddle.group.RejectedTaskException}, and the same
     * result type. It may be private. It runs without a slot, in the thread that rejects the task.
     *
     * @return the name; empty for an exception
     */
    String onReject() default "";
}
