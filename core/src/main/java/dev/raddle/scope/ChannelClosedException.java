package dev.raddle.scope;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when a value is sent to a closed channel, or received when every value was received. If the channel was closed
 * with a failure, that is the {@linkplain #getCause() cause}.
 */
public final class ChannelClosedException extends IllegalStateException {

    private static final long serialVersionUID = 1;

    ChannelClosedException(String message) {
        super(message);
    }

    ChannelClosedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
