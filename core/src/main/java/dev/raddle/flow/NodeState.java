package dev.raddle.flow;

/** The state of a node of a run. */
public enum NodeState {
    /** The node has not begun. */
    PENDING,
    /** The node waits without a thread: for a permit of its group, for the end of its sleep, or for its signal. */
    WAITING,
    /** The action is running, or about to run. */
    RUNNING,
    /** The action or the fallback has returned a value, which may be null. */
    SUCCESS,
    /** The action has thrown, or an upstream has failed. */
    FAILED,
    /** The node, the run or an upstream has timed out. */
    TIMED_OUT,
    /** The run was cancelled, or stopped by a failure, or the node had become obsolete. */
    CANCELLED,
    /** The node was unneeded, or its condition was false, or an upstream was skipped. */
    SKIPPED;

    /**
     * Returns whether this state is final.
     *
     * @return false for the first three states, else true
     */
    public boolean isTerminal() {
        return compareTo(RUNNING) > 0;
    }

    /** Returns whether this state excludes success of the run. */
    boolean isFailure() {
        return this == FAILED || this == TIMED_OUT;
    }
}
