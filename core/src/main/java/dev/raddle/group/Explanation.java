package dev.raddle.group;

/**
 * Why a task has not begun, as it was when the question was asked.
 *
 * @param waitingFor the one thing that it waits for
 * @param place how many tasks of its group go before it; 0 if it waits for nothing
 * @param rank how many groups go before its own at the global cap; 0 unless it waits for the cap
 */
public record Explanation(WaitReason waitingFor, int place, int rank) {

    /** What a task can wait for. */
    public enum WaitReason {
        /** A slot of its group: as many tasks of the group run as may, or its limits are being looked up. */
        GROUP_LIMIT,
        /** A slot of the global cap: its group would let it run. */
        GLOBAL_CAP,
        /** Its group to be resumed. */
        PAUSED,
        /** Nothing: it runs, is about to, or is done. */
        NOTHING
    }

    static final Explanation NOTHING = new Explanation(WaitReason.NOTHING, 0, 0);
}
