package dev.raddle.scope;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when a value is sent to a closed channel, or received when every value was received. If the channel was closed
 * with a failure, that is the {@linkplain #getCause() cause}.
 */
public final class ChannelClosedException extends IllegalStateException {

    private static final long serialVersionUID = 1;

    /**
     * Creates an exception.
     *
     * @param message the detail message
     */
    public ChannelClosedException(String message) {
        super(message);
    }

    /**
     * Creates an exception.
     *
     * @param message the detail message
     * @param cause the failure that closed the channel, or null if it was closed normally
     */
    public ChannelClosedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
