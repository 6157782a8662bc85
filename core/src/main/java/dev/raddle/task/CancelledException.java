package dev.raddle.task;

import java.util.concurrent.CancellationException;

/**
 * Says that a task was cancelled, and why. It has no stack trace: it is made where the task is cancelled, often for many
 * tasks at once, and that place says little about the task.
 */
public final class CancelledException extends CancellationException {

    private static final long serialVersionUID = 1;

    /**
     * Creates an exception.
     *
     * @param reason why the task was cancelled
     */
    public CancelledException(String reason) {
        super(reason);
    }

    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }
}
