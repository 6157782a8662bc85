package dev.raddle.flow;

/** How a run ended. The first that applies. */
public enum FlowStatus {
    /** The deadline of the run came first. */
    TIMED_OUT,
    /** The run was cancelled. */
    CANCELLED,
    /** A sink, or the first failure under {@link OnFailure#FAIL_FAST}, failed or timed out. */
    FAILED,
    /** Some node failed or timed out, and no sink did. */
    DEGRADED,
    /** No node failed or timed out. */
    SUCCESS
}
