package dev.raddle.scope;

import org.jspecify.annotations.Nullable;

/**
 * Says that a channel is closed: nothing can be sent through it, and everything that was sent has been received. If the
 * channel was closed because a producer failed, the {@linkplain #getCause() cause} is that failure.
 */
public final class ChannelClosedException extends IllegalStateException {

    private static final long serialVersionUID = 1;

    /**
     * Creates an exception.
     *
     * @param message what was attempted, for people
     */
    public ChannelClosedException(String message) {
        super(message);
    }

    /**
     * Creates an exception.
     *
     * @param message what was attempted, for people
     * @param cause the failure that closed the channel, or null if it came to its end
     */
    public ChannelClosedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
