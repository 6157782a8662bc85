package dev.raddle.task;

import org.jspecify.annotations.Nullable;

/**
 * The failure of an attempt that has returned a value which {@link RetryPolicy.Builder#retryWhen} does not accept. The
 * delay of a policy may depend on the value; a task fails with this exception only if there is no time for the next
 * attempt, as the cause.
 */
public final class UnacceptedValueException extends RuntimeException {

    private static final long serialVersionUID = 1;

    /** The value; not serialized. */
    private final transient @Nullable Object value;

    /**
     * Creates an exception without a stack trace.
     *
     * @param message the message
     * @param value the value that was returned
     */
    public UnacceptedValueException(String message, @Nullable Object value) {
        super(message, null, true, false);
        this.value = value;
    }

    /**
     * Returns the value.
     *
     * @return what the attempt returned, perhaps null; null if this exception was serialized
     */
    public @Nullable Object value() {
        return value;
    }
}
