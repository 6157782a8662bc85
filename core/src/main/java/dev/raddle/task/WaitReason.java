package dev.raddle.task;

/** What a task waits for, or what kept a rejected task from starting. */
public enum WaitReason {
    /** A slot of its group: all slots are taken, or the group's limits are being looked up. */
    GROUP_LIMIT,
    /** A slot of its group: the bulkhead is full, which is lower than the group's limit. */
    BULKHEAD,
    /** A slot of the global cap: its group has a free slot. */
    GLOBAL_CAP,
    /** The rate of its group: its group has a free slot. */
    GROUP_RATE,
    /** The global rate: nothing else keeps it. */
    GLOBAL_RATE,
    /** A permit of the policy's {@link dev.raddle.group.PermitSource}: its group has a free slot. */
    FLEET_LIMIT,
    /** The end of a hold of its group. */
    HOLD,
    /** The circuit breaker of its group, which is open, or has admitted all probes. */
    BREAKER,
    /** The resumption of its group. */
    PAUSED,
    /** Nothing: the task runs, is about to run, or has ended. */
    NOTHING
}
