package dev.raddle.group;

import dev.raddle.task.Rate;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Why a task has not begun, at the moment of the call of {@link GroupExecutor#explain}.
 *
 * @param waitingFor the reason for which it waits
 * @param place the number of tasks before it in its group; 0 if it waits for nothing
 * @param rank the number of groups before its own at the global cap; 0 unless it waits for the cap
 * @param rate the rate for which it waits, or null if it does not wait for a rate
 * @param nextStart the time after which the next task of the group may start, or of all groups if the rate is the
 *     global one; during a hold the rest of it, although the rate may allow the next start only later; null unless it
 *     waits for a rate or the end of a hold
 * @param limitChange the latest change of the adaptive limit for which it waits; null if it does not wait for one
 * @param permits the number of permits of the fleet that it needs; 0 unless it waits for these
 * @param fleet what the {@link PermitSource} knows about them; null unless the task waits for these
 */
public record Explanation(
        WaitReason waitingFor,
        int place,
        int rank,
        @Nullable Rate rate,
        @Nullable Duration nextStart,
        @Nullable LimitChange limitChange,
        int permits,
        @Nullable PermitStatus fleet) {

    /** The reasons for which a task can wait. */
    public enum WaitReason {
        /** A slot of its group: all slots are taken, or the group's limits are being looked up. */
        GROUP_LIMIT,
        /** A slot of the global cap: its group has a free slot. */
        GLOBAL_CAP,
        /** The rate of its group: its group has a free slot. */
        GROUP_RATE,
        /** The global rate: nothing else keeps it. */
        GLOBAL_RATE,
        /** A permit of the policy's {@link PermitSource}: its group has a free slot. */
        FLEET_LIMIT,
        /** The end of a hold of its group. */
        HOLD,
        /** The resumption of its group. */
        PAUSED,
        /** Nothing: the task runs, is about to run, or has ended. */
        NOTHING
    }

    static final Explanation NOTHING = new Explanation(WaitReason.NOTHING, 0, 0);

    /** Creates an explanation without a rate. */
    Explanation(WaitReason waitingFor, int place, int rank) {
        this(waitingFor, place, rank, null, null, null, 0, null);
    }

    Explanation withNextStart(@Nullable Rate limit, Duration next) {
        return new Explanation(waitingFor, place, rank, limit, next, limitChange, permits, fleet);
    }

    Explanation withLimitChange(@Nullable LimitChange latest) {
        return new Explanation(waitingFor, place, rank, rate, nextStart, latest, permits, fleet);
    }

    Explanation withPermits(int needed, PermitStatus status) {
        return new Explanation(waitingFor, place, rank, rate, nextStart, limitChange, needed, status);
    }

    /** Returns a sentence such as {@code waits for the rate of 100 per second, next start in 12 ms, 40 before it}. */
    @Override
    public String toString() {
        String next = nextStart == null ? "" : ", next start in " + (nextStart.toNanos() + 999_999) / 1_000_000 + " ms";
        boolean countsPlace = waitingFor != WaitReason.NOTHING && (waitingFor != WaitReason.FLEET_LIMIT || place > 0);
        String before = countsPlace ? ", " + place + " before it" : "";
        String limit = limitChange == null ? "" : ", " + limitChange;
        return switch (waitingFor) {
                    case GROUP_LIMIT -> "waits for a slot of its group";
                    case GLOBAL_CAP -> "waits for a slot of the global cap, " + rank + " groups before its own";
                    case GROUP_RATE -> "waits for the rate of " + rate;
                    case GLOBAL_RATE -> "waits for the global rate of " + rate;
                    case FLEET_LIMIT -> "waits for " + (fleet == null ? PermitStatus.UNKNOWN : fleet).describe(permits);
                    case HOLD -> "waits for the end of a hold of its group";
                    case PAUSED -> "waits for the resumption of its group";
                    case NOTHING -> "waits for nothing";
                }
                + next
                + before
                + limit;
    }
}
