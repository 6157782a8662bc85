package dev.raddle.group;

import dev.raddle.task.Rate;
import dev.raddle.task.WaitReason;
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
 *     global one; during a hold the rest of it, although the rate may allow the next start only later; if the breaker
 *     is open the time until the next probe; null otherwise
 * @param limitChange the latest change of the adaptive limit for which it waits; null if it does not wait for one
 * @param permits the number of permits of the fleet that it needs; 0 unless it waits for these
 * @param fleet what the {@link PermitSource} knows about them; null unless the task waits for these
 * @param breaker the circuit breaker for which it waits; null if it does not wait for one
 */
public record Explanation(
        WaitReason waitingFor,
        int place,
        int rank,
        @Nullable Rate rate,
        @Nullable Duration nextStart,
        @Nullable LimitChange limitChange,
        int permits,
        @Nullable PermitStatus fleet,
        GroupStats.@Nullable Breaker breaker) {

    static final Explanation NOTHING = new Explanation(WaitReason.NOTHING, 0, 0);

    /** Creates an explanation without a rate. */
    Explanation(WaitReason waitingFor, int place, int rank) {
        this(waitingFor, place, rank, null, null, null, 0, null, null);
    }

    Explanation withNextStart(@Nullable Rate limit, Duration next) {
        return new Explanation(waitingFor, place, rank, limit, next, limitChange, permits, fleet, breaker);
    }

    Explanation withLimitChange(@Nullable LimitChange latest) {
        return new Explanation(waitingFor, place, rank, rate, nextStart, latest, permits, fleet, breaker);
    }

    Explanation withPermits(int needed, PermitStatus status) {
        return new Explanation(waitingFor, place, rank, rate, nextStart, limitChange, needed, status, breaker);
    }

    Explanation withBreaker(GroupStats.@Nullable Breaker stats) {
        Duration probe = stats == null ? null : stats.nextProbe();
        return new Explanation(waitingFor, place, rank, rate, probe, limitChange, permits, fleet, stats);
    }

    /** Returns the first part of the sentence: for what it waits, and when that ends. */
    String waitText() {
        return switch (waitingFor) {
                    case GROUP_LIMIT -> "waits for a slot of its group";
                    case BULKHEAD -> "waits for a slot of its group's bulkhead";
                    case GLOBAL_CAP -> "waits for a slot of the global cap, " + rank + " groups before its own";
                    case GROUP_RATE -> "waits for the rate of " + rate;
                    case GLOBAL_RATE -> "waits for the global rate of " + rate;
                    case FLEET_LIMIT -> "waits for " + (fleet == null ? PermitStatus.UNKNOWN : fleet).describe(permits);
                    case HOLD -> "waits for the end of a hold of its group";
                    case BREAKER -> "waits for the breaker of its group, which is " + breaker;
                    case PAUSED -> "waits for the resumption of its group";
                    case NOTHING -> "waits for nothing";
                }
                + nextStartText();
    }

    String nextStartText() {
        return nextStart == null || nextStart.isZero()
                ? ""
                : ", next start in " + (nextStart.toNanos() + 999_999) / 1_000_000 + " ms";
    }

    /** Returns a sentence such as {@code waits for the rate of 100 per second, next start in 12 ms, 40 before it}. */
    @Override
    public String toString() {
        boolean countsPlace = waitingFor != WaitReason.NOTHING && (waitingFor != WaitReason.FLEET_LIMIT || place > 0);
        String before = countsPlace ? ", " + place + " before it" : "";
        return waitText() + before + (limitChange == null ? "" : ", " + limitChange);
    }
}
