package dev.raddle.flow;

/** What a failure of one node means for the rest of the run. */
public enum OnFailure {
    /** Nothing for those that do not depend on it. */
    CONTINUE,
    /** The rest of the run is cancelled. */
    FAIL_FAST
}
