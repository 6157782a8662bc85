package dev.raddle.task;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when a task exceeded its own timeout, which includes waiting, all attempts and the delays between them. The
 * task has failed, and if it was running, its thread was interrupted. Also the failure of an attempt that exceeded the
 * {@linkplain RetryPolicy.Builder#attemptTimeout timeout of an attempt}. The exception has no stack trace if an alarm
 * created it, because that stack trace says nothing about the task.
 */
public final class TaskTimeoutException extends RuntimeException {

    private static final long serialVersionUID = 1;

    /** The name of the task. */
    private final String task;

    /** The time from the submission to the deadline. */
    private final Duration budget;

    /** The number of the last attempt that began; 0 if none. */
    private final int attempt;

    /**
     * Creates an exception, without a stack trace if an alarm creates it.
     *
     * @param message the message
     * @param task the name of the task
     * @param budget the time that the task had
     * @param attempt the number of the last attempt that began; 0 if none
     * @param lastFailure the exception of that attempt, which becomes the cause, if the next one does not fit into the
     *     time; null for an alarm
     */
    public TaskTimeoutException(
            String message, String task, Duration budget, int attempt, @Nullable Throwable lastFailure) {
        super(message, lastFailure, true, lastFailure != null);
        this.task = task;
        this.budget = budget;
        this.attempt = attempt;
    }

    /**
     * Returns the name of the task.
     *
     * @return the name
     */
    public String task() {
        return task;
    }

    /**
     * Returns the time that the task had.
     *
     * @return the time from the submission to the deadline
     */
    public Duration budget() {
        return budget;
    }

    /**
     * Returns the number of the last attempt that began.
     *
     * @return the number, 1 for the first attempt; 0 if none began
     */
    public int attempt() {
        return attempt;
    }
}
