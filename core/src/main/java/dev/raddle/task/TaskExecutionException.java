package dev.raddle.task;

/** Carries a checked exception of a task to who waits for its value. */
public final class TaskExecutionException extends RuntimeException {

    private static final long serialVersionUID = 1;

    /**
     * Creates an exception.
     *
     * @param message which task failed, for people
     * @param cause what its callable threw
     */
    public TaskExecutionException(String message, Throwable cause) {
        super(message, cause);
    }
}
