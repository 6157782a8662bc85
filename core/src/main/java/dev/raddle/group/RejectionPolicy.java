package dev.raddle.group;

/** What becomes of a task for which there is no room, unless a {@link RejectionHandler} decides. */
public enum RejectionPolicy {
    /** Waiting for its handle throws {@link RejectedTaskException}. */
    ABORT,
    /** Its handle has a result with status REJECTED. */
    DISCARD,
    /**
     * The submitter runs it, at once and without permits. A task that is rejected later, when it has waited too long or its
     * group is shut down, is treated as under {@link #ABORT}: its submitter has gone.
     */
    CALLER_RUNS
}
