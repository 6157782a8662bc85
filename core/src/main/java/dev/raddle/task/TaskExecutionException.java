package dev.raddle.task;

/** Wraps a checked exception thrown by a task. */
public final class TaskExecutionException extends RuntimeException {

    private static final long serialVersionUID = 1;

    /**
     * Creates an exception.
     *
     * @param message the message, which names the task
     * @param cause the exception that the callable threw
     */
    public TaskExecutionException(String message, Throwable cause) {
        super(message, cause);
    }
}
