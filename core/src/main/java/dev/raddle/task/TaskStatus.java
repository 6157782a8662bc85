package dev.raddle.task;

/** How a task ended. */
public enum TaskStatus {
    /** It returned a value, which may be null. */
    SUCCESS,
    /** It threw something that was not a cancellation, or could not be started. */
    FAILED,
    /** It was cancelled before it ended by itself, or ended by an {@link InterruptedException} or a cancellation. */
    CANCELLED,
    /** It was not admitted, and never ran. */
    REJECTED,
    /** It was not needed, and never ran. */
    SKIPPED
}
