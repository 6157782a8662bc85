package dev.raddle.scope;

/** Says that a channel is closed: nothing can be sent through it, and everything that was sent has been received. */
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
}
