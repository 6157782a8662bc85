package dev.raddle.task;

/** The kind of a task's outcome. */
public enum TaskStatus {
    /** The task returned a value, which may be null. */
    SUCCESS,
    /** The task threw an exception that was not a cancellation, or it could not be started. */
    FAILED,
    /** The task was cancelled before it ended, or it threw an {@link InterruptedException} or a cancellation. */
    CANCELLED,
    /** The task was not admitted and never ran. */
    REJECTED,
    /** The task was not needed and never ran. */
    SKIPPED
}
