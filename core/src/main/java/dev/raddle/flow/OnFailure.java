package dev.raddle.flow;

/** What a failure of one node means for the rest of the run. */
public enum OnFailure {
    /** Nothing for those that do not depend on it. What only the nodes that depend on it would have used is skipped. */
    CONTINUE,
    /**
     * Nothing for those that do not depend on it, and everything that can run runs, as with {@code make -k}: a node stays needed
     * although the node that needs it has failed. Only a node that does not need it any more, because its choice is met or its
     * condition does not hold, releases it.
     */
    KEEP_GOING,
    /** The rest of the run is cancelled. */
    FAIL_FAST
}
