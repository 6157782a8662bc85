package dev.raddle.flow;

/** The effect of the failure of a node on the rest of the run. */
public enum OnFailure {
    /**
     * Nodes that do not depend on the failed node continue, except for those that only its dependents need, which are
     * skipped.
     */
    CONTINUE,
    /**
     * All nodes that can run do run, as with {@code make -k}: a node stays needed although the node that needs it has
     * failed. It is released only by a node that no longer needs it because its clause is met or its condition is
     * false.
     */
    KEEP_GOING,
    /** The rest of the run is cancelled. */
    FAIL_FAST
}
