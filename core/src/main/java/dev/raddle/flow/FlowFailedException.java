package dev.raddle.flow;

import org.jspecify.annotations.Nullable;

/** A run has no value to return. The cause is that of the node that should have given it, if it had one. */
public final class FlowFailedException extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final FlowStatus status;

    FlowFailedException(String message, FlowStatus status, @Nullable Throwable cause) {
        super(message, cause);
        this.status = status;
    }

    /**
     * Returns how the run ended, or, if it had not ended, how it would have ended then.
     *
     * @return the status
     */
    public FlowStatus status() {
        return status;
    }
}
