package dev.raddle.flow;

/**
 * Thrown by a {@link FlowJournal} whose run belongs to another process now. The run in this process ends at once as
 * {@link FlowStatus#LOST}: its actions are interrupted, nothing is compensated, no result callback is called, and
 * nothing more is written to the journal.
 */
public final class FencedException extends IllegalStateException {

    private static final long serialVersionUID = 1;

    /**
     * Creates an exception.
     *
     * @param message the fence that was found and the one that was expected
     */
    public FencedException(String message) {
        super(message);
    }
}
