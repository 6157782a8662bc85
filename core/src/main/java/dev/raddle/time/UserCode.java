package dev.raddle.time;

import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The guard around calls from Raddle's machinery to code of the user's that must not change the machinery's course by throwing:
 * handlers of logs, uncaught exception handlers, clocks, and {@code toString} of objects that appear in messages. No method
 * throws, whatever the user's code throws, so a task settles and a permit is released however much of that is broken.
 *
 * <p>Listeners, propagators and other callbacks have an {@link dev.raddle.task.ExceptionSink}, which ends here.
 */
public final class UserCode {

    private UserCode() {}

    /**
     * Returns the text of an object for a message.
     *
     * @param object any object
     * @return its {@code toString()}; if that throws, its class and what was thrown
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
     * Returns a name for a task: the one that it has, or else that of its class; for a lambda, that of the class it stands in.
     *
     * @param name returns the task's own name; null if it has none
     * @param task the task
     * @return the name for people
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
     * Passes an exception that must change nothing to the uncaught exception handler of the calling thread. What that throws is
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
     * Writes a warning to a {@link System.Logger}. If the log throws, that goes to the {@linkplain #uncaught uncaught exception
     * handler}, with the exception that was to be written.
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

    /**
     * Returns a clock that keeps going when a time source is broken: while {@link TimeSource#nanoTime()} throws, its time stands
     * still, and an alarm whose cancellation throws stays armed. An alarm that cannot be armed still throws.
     *
     * @param source the time source
     * @param report receives what the time source throws
     * @return the time source itself if it is the system's, which does not throw
     */
    public static TimeSource clock(TimeSource source, Consumer<Throwable> report) {
        return source == SystemTime.INSTANCE || source instanceof GuardedTime
                ? source
                : new GuardedTime(source, report);
    }

    /**
     * Returns whether two time sources have one clock.
     *
     * @param one a time source, guarded or not
     * @param other another one, guarded or not
     * @return true if they are the same object but for the guards
     */
    public static boolean isSameClock(TimeSource one, TimeSource other) {
        return GuardedTime.unguarded(one) == GuardedTime.unguarded(other);
    }
}
