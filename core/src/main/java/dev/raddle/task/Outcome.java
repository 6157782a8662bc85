package dev.raddle.task;

import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * How a task ended: one of five, never changed.
 *
 * {@snippet :
 * String line = switch (outcome) {
 *     case Outcome.Success<?>(Object value) -> "got " + value;
 *     case Outcome.Failure<?>(Throwable error) -> "failed: " + error;
 *     case Outcome.Cancelled<?>(Throwable cause) -> "cancelled: " + cause;
 *     case Outcome.Rejected<?>(String reason) -> "rejected: " + reason;
 *     case Outcome.Skipped<?>(String reason) -> "skipped: " + reason;
 * };
 * }
 *
 * @param <T> the type of the value
 */
public sealed interface Outcome<T> {

    /**
     * Returns the outcome as one word.
     *
     * @return the status
     */
    TaskStatus status();

    /**
     * Returns the outcome of a callable that threw something. An {@link InterruptedException} and a
     * {@link CancellationException} mean that it was cancelled, everything else, an {@link Error} too, that it failed.
     *
     * @param <T> the type of the value
     * @param thrown what was thrown
     * @return cancelled or failed
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
     * @param value what it returned
     */
    record Success<T>(@Nullable T value) implements Outcome<T> {
        @Override
        public TaskStatus status() {
            return TaskStatus.SUCCESS;
        }
    }

    /**
     * The callable threw, or its thread could not be started.
     *
     * @param <T> the type of the value
     * @param error what was thrown
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
     * @param cause a {@link CancellationException} if somebody cancelled it, or what the callable threw
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
     * @param reason why, for people
     */
    record Rejected<T>(String reason) implements Outcome<T> {
        @Override
        public TaskStatus status() {
            return TaskStatus.REJECTED;
        }
    }

    /**
     * The task was not needed.
     *
     * @param <T> the type of the value
     * @param reason why, for people
     */
    record Skipped<T>(String reason) implements Outcome<T> {
        @Override
        public TaskStatus status() {
            return TaskStatus.SKIPPED;
        }
    }
}
