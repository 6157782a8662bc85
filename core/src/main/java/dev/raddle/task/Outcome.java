package dev.raddle.task;

import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of a task, one of five kinds. Immutable.
 *
 * {@snippet :
 * String line = switch (outcome) {
 *     case Outcome.Success<?>(Object value) -> "got " + value;
 *     case Outcome.Failure<?>(Throwable error) -> "failed: " + error;
 *     case Outcome.Cancelled<?>(Throwable cause) -> "cancelled: " + cause;
 *     case Outcome.Rejected<?>(Rejection rejection) -> "rejected, " + rejection;
 *     case Outcome.Skipped<?>(String reason) -> "skipped: " + reason;
 * };
 * }
 *
 * @param <T> the type of the value
 */
public sealed interface Outcome<T> {

    /**
     * Returns the kind of this outcome.
     *
     * @return the status
     */
    TaskStatus status();

    /**
     * Returns the outcome of a callable that threw an exception. After an {@link InterruptedException} or a
     * {@link CancellationException} the task was cancelled; after any other throwable, including an {@link Error}, it
     * failed.
     *
     * @param <T> the type of the value
     * @param thrown the exception
     * @return the outcome, either {@link Cancelled} or {@link Failure}
     */
    static <T> Outcome<T> ofThrown(Throwable thrown) {
        return thrown instanceof InterruptedException || thrown instanceof CancellationException
                ? new Cancelled<>(thrown)
                : new Failure<>(thrown);
    }

    /**
     * The callable returned.
     *
     * @param <T> the type of the value
     * @param value the returned value, which may be null
     */
    record Success<T>(@Nullable T value) implements Outcome<T> {
        @Override
        public TaskStatus status() {
            return TaskStatus.SUCCESS;
        }
    }

    /**
     * The callable threw an exception, or its thread could not be started.
     *
     * @param <T> the type of the value
     * @param error the exception
     */
    record Failure<T>(Throwable error) implements Outcome<T> {
        @Override
        public TaskStatus status() {
            return TaskStatus.FAILED;
        }
    }

    /**
     * The task was cancelled.
     *
     * @param <T> the type of the value
     * @param cause a {@link CancellationException} if the task was cancelled from outside, or the callable's exception
     */
    record Cancelled<T>(Throwable cause) implements Outcome<T> {
        @Override
        public TaskStatus status() {
            return TaskStatus.CANCELLED;
        }
    }

    /**
     * The task was not admitted.
     *
     * @param <T> the type of the value
     * @param rejection the reason
     */
    record Rejected<T>(Rejection rejection) implements Outcome<T> {
        @Override
        public TaskStatus status() {
            return TaskStatus.REJECTED;
        }
    }

    /**
     * The task was not needed.
     *
     * @param <T> the type of the value
     * @param reason the reason, for messages
     */
    record Skipped<T>(String reason) implements Outcome<T> {
        @Override
        public TaskStatus status() {
            return TaskStatus.SKIPPED;
        }
    }
}
