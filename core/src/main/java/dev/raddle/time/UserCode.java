package dev.raddle.time;

import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Guards calls to user code whose exceptions must not affect Raddle: log handlers, uncaught exception handlers, and
 * {@code toString} of objects that appear in messages. No method throws, whatever the user code throws, so a task
 * settles and its permit is released even if all of these are broken.
 *
 * <p>Exceptions of listeners, propagators and other callbacks go to an {@link dev.raddle.task.ExceptionSink}, which
 * uses this class.
 */
public final class UserCode {

    private UserCode() {}

    /**
     * Returns the text of an object for a message.
     *
     * @param object any object
     * @return its {@code toString()}; if that throws, the names of its class and of the exception's class
     */
    public static String textOf(@Nullable Object object) {
        try {
            return String.valueOf(object);
        } catch (Throwable failure) {
            return Objects.requireNonNull(object).getClass().getName() + " (its toString() threw "
                    + failure.getClass().getName() + ")";
        }
    }

    /**
     * Returns a name for a task: its own name if it has one, otherwise that of its class, or of the enclosing class of
     * a lambda.
     *
     * @param name the supplier of the task's own name, or null if it has none
     * @param task the task
     * @return the name to display
     */
    public static String nameOf(@Nullable Supplier<String> name, Object task) {
        if (name != null) {
            try {
                return Objects.requireNonNull(name.get());
            } catch (Throwable failure) {
                uncaught(failure);
            }
        }
        String type = task.getClass().getName();
        int lambda = type.indexOf("$$Lambda");
        return lambda < 0 ? type : "lambda in " + type.substring(0, lambda);
    }

    /**
     * Passes an exception to the uncaught exception handler of the calling thread. An exception from the handler is
     * ignored, as the JVM ignores it.
     *
     * @param failure the exception
     * @see <a href="https://docs.oracle.com/javase/specs/jls/se25/html/jls-11.html#jls-11.3">JLS 11.3</a>
     */
    public static void uncaught(Throwable failure) {
        try {
            Thread thread = Thread.currentThread();
            thread.getUncaughtExceptionHandler().uncaughtException(thread, failure);
        } catch (Throwable ignored) {
            // the handler is the last resort
        }
    }

    /**
     * Writes a warning to a {@link System.Logger}. If the logger throws, its exception goes to the {@linkplain
     * #uncaught uncaught exception handler}, with the given error as a suppressed exception.
     *
     * @param logger the name of the logger
     * @param message the text
     * @param error the exception to write, or null
     */
    public static void warn(String logger, String message, @Nullable Throwable error) {
        try {
            System.getLogger(logger).log(System.Logger.Level.WARNING, message, error);
        } catch (Throwable failure) {
            if (error != null && failure != error) {
                failure.addSuppressed(error);
            }
            uncaught(failure);
        }
    }
}
