package dev.raddle.task;

import java.time.Duration;

/**
 * Says that a task ran out of time: its own timeout, which spans waiting, every attempt and the delays between them. The task
 * has failed, and if it was running its thread was interrupted. It has no stack trace where an alarm made it, because that
 * place says nothing about the task.
 */
public final class TaskTimeoutException extends RuntimeException {

    private static final long serialVersionUID = 1;

    /** What the task is called. */
    private final String task;

    /** How much time it had. */
    private final Duration budget;

    /** Which attempt it was at, 0 if it had not begun. */
    private final int attempt;

    /**
     * Creates one without a stack trace: it is made by an alarm, whose stack tells nothing.
     *
     * @param message what ran out of time, for people
     * @param task what it is called
     * @param budget how much time it had
     * @param attempt at which attempt it was, 0 if none had begun
     */
    public TaskTimeoutException(String message, String task, Duration budget, int attempt) {
        super(message, null, true, false);
        this.task = task;
        this.budget = budget;
        this.attempt = attempt;
    }

    /**
     * Creates an exception for a task whose next attempt does not fit into its time.
     *
     * @param message the text
     * @param task the name of the task
     * @param budget the time that the task had
     * @param attempt the number of the attempt that failed last
     * @param lastFailure what that attempt threw, as the cause
     */
    public TaskTimeoutException(String message, String task, Duration budget, int attempt, Throwable lastFailure) {
        super(message, lastFailure);
        this.task = task;
        this.budget = budget;
        this.attempt = attempt;
    }

    /**
     * Returns what the task is called.
     *
     * @return its name
     */
    public String task() {
        return task;
    }

    /**
     * Returns how much time the task had.
     *
     * @return the length from its submission to its deadline
     */
    public Duration budget() {
        return budget;
    }

    /**
     * Returns which attempt the task was at.
     *
     * @return 1 for the first; 0 if it had not begun
     */
    public int attempt() {
        return attempt;
    }
}
