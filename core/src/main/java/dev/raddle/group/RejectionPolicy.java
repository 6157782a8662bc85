package dev.raddle.group;

/** The treatment of rejected tasks, unless a {@link RejectionHandler} is set. */
public enum RejectionPolicy {
    /** A wait for the task throws {@link RejectedTaskException}. */
    ABORT,
    /** A wait for the task returns a result with status REJECTED. */
    DISCARD,
    /**
     * The submitting thread calls the task at once, without permits; its timeout does not interrupt it. A task that is
     * rejected later, because it has waited too long or its group is shut down, is treated as under {@link #ABORT},
     * because its submitter has returned.
     */
    CALLER_RUNS
}
