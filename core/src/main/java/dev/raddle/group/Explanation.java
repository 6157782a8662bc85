package dev.raddle.group;

/**
 * Why a task has not begun, at the moment of the call of {@link GroupExecutor#explain}.
 *
 * @param waitingFor the reason for which it waits
 * @param place the number of tasks before it in its group; 0 if it waits for nothing
 * @param rank the number of groups before its own at the global cap; 0 unless it waits for the cap
 */
public record Explanation(WaitReason waitingFor, int place, int rank) {

    /** The reasons for which a task can wait. */
    public enum WaitReason {
        /** A slot of its group: all slots are taken, or the group's limits are being looked up. */
        GROUP_LIMIT,
        /** A slot of the global cap: its group has a free slot. */
        GLOBAL_CAP,
        /** The resumption of its group. */
        PAUSED,
        /** Nothing: the task runs, is about to run, or has ended. */
        NOTHING
    }

    static final Explanation NOTHING = new Explanation(WaitReason.NOTHING, 0, 0);
}
