package dev.raddle.task;

import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

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
        this(reason, null);
    }

    /**
     * Creates an exception for a task that was cancelled because something else went wrong.
     *
     * @param reason why the task was cancelled
     * @param cause what went wrong, such as the failure of another task, or null
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
