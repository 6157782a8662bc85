package dev.raddle.flow;

import org.jspecify.annotations.Nullable;

/** Thrown when a run has no value. The cause is that of the output node, if it has one. */
public final class FlowFailedException extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final FlowStatus status;

    FlowFailedException(String message, FlowStatus status, @Nullable Throwable cause) {
        super(message, cause);
        this.status = status;
    }

    /**
     * Returns the status of the run, or, if it had not ended, the status that it had so far.
     *
     * @return the status
     */
    public FlowStatus status() {
        return status;
    }
}
