package dev.raddle.flow;

/** How a node of a run stands. */
public enum NodeState {
    /** It has not begun. */
    PENDING,
    /** It is ready, and waits for a permit of its group; it holds no thread. */
    WAITING,
    /** Its action runs, or is about to. */
    RUNNING,
    /** Its action, or its fallback, has returned a value, which may be null. */
    SUCCESS,
    /** Its action has thrown, or what it depends on has failed. */
    FAILED,
    /** Its time, that of the run, or that of what it depends on was over. */
    TIMED_OUT,
    /** The run was cancelled, or stopped by a failure, or the node had become obsolete. */
    CANCELLED,
    /** It was not needed, or its condition was false, or what it depends on was skipped. */
    SKIPPED;

    /**
     * Tells whether a node in this state changes no more.
     *
     * @return false for the first three states
     */
    public boolean isTerminal() {
        return compareTo(RUNNING) > 0;
    }

    /** Tells whether this makes a run worse than a success. */
    boolean isFailure() {
        return this == FAILED || this == TIMED_OUT;
    }
}
