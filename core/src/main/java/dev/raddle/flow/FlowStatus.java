package dev.raddle.flow;

/** The status of a run: the first that applies. */
public enum FlowStatus {
    /**
     * The run belongs to another process, as its {@linkplain FlowJournal journal} has found out, or it was
     * {@linkplain FlowRun#abandon abandoned}. Its nodes were cancelled, and nothing was compensated; how the run ends
     * is decided elsewhere.
     */
    LOST,
    /** The deadline of the run passed first. */
    TIMED_OUT,
    /** The run was cancelled. */
    CANCELLED,
    /**
     * A sink failed or timed out; with {@link RunOptions#only} one of the targets did; under
     * {@link OnFailure#FAIL_FAST} any node did.
     */
    FAILED,
    /** Some node failed or timed out, and no sink did. */
    DEGRADED,
    /** No node failed or timed out. */
    SUCCESS
}
