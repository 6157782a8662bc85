package dev.raddle.jdbc;

/** The state of a stored run. */
public enum RunState {
    /** The run waits for a worker, or, if it has {@link StoredRun#waitsUntil}, for a moment or a signal. */
    WAITING,
    /**
     * The run has not ended, and no live worker has registered the version of its flow, or the one that has claimed the
     * run last has registered another plan under it. It continues as soon as a worker has its plan.
     */
    WITHOUT_VERSION,
    /** A worker has claimed the run. */
    RUNNING,
    /** No node failed or timed out. */
    SUCCESS,
    /** Some node failed or timed out, and no sink did. */
    DEGRADED,
    /** A sink failed or timed out, or any node under a policy that stops the run. */
    FAILED,
    /** The deadline of the run passed first. */
    TIMED_OUT,
    /** The run was cancelled. */
    CANCELLED,
    /**
     * The run has lost its workers too often, one after the other, or a node could not be compensated, as
     * {@link StoredRun#problem} says. It neither runs
     * nor ends by itself, and is never removed: look at it, and then let it {@linkplain FlowService#rerun continue}.
     */
    STUCK;

    /**
     * Returns whether a run in this state has ended, unless it is run again.
     *
     * @return false if it waits or runs
     */
    public boolean isEnd() {
        return compareTo(RUNNING) > 0;
    }
}
