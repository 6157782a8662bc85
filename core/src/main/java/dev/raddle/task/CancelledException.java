package dev.raddle.task;

import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when a task was cancelled; the message is the reason. It has no stack trace, because it is created by the
 * canceller, often for many tasks at once, and that stack trace says little about the task.
 */
public final class CancelledException extends CancellationException {

    private static final long serialVersionUID = 1;

    /**
     * Creates an exception.
     *
     * @param reason the reason of the cancellation
     */
    public CancelledException(String reason) {
        this(reason, null);
    }

    /**
     * Creates an exception for a task that was cancelled because of another failure.
     *
     * @param reason the reason of the cancellation
     * @param cause the other failure, such as that of another task, or null
     */
    @SuppressWarnings("this-escape") // initCause only writes a field of the superclass
    public CancelledException(String reason, @Nullable Throwable cause) {
        super(reason);
        if (cause != null) {
            initCause(cause);
        }
    }

    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }
}
