package dev.raddle.group;

import dev.raddle.task.Rate;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Statistics of a group, read at one moment.
 *
 * @param groupKey the key of the group
 * @param activeCount the number of slots taken by running tasks
 * @param queuedCount the number of waiting tasks
 * @param maxConcurrency the number of slots
 * @param queueCapacity the largest number of waiting tasks
 * @param rate how many tasks may start per time, or null if there is no such limit
 * @param holdLeft the time for which {@link GroupExecutor#holdGroup} still keeps tasks from starting, or null if the
 *     group is not on hold
 * @param limitChange the latest change of the adaptive limit, or null if the limit is not adaptive or has not changed
 * @param permits the permits of the policy's {@link PermitSource}, or null if it has none
 * @param paused whether {@link GroupExecutor#pauseGroup} keeps tasks from starting
 * @param breaker the circuit breaker, or null if the group has none
 */
public record GroupStats(
        String groupKey,
        int activeCount,
        int queuedCount,
        int maxConcurrency,
        int queueCapacity,
        @Nullable Rate rate,
        @Nullable Duration holdLeft,
        @Nullable LimitChange limitChange,
        @Nullable Permits permits,
        boolean paused,
        @Nullable Breaker breaker) {

    /**
     * The permits of a group that come from a {@link PermitSource}.
     *
     * @param fleetLimit the number that all JVMs share, or 0 if it is unknown
     * @param leased the number that this JVM has, used and unused
     * @param wanted the number of further permits that waiting tasks could use
     */
    public record Permits(int fleetLimit, int leased, int wanted) {}

    /**
     * The circuit breaker of a group.
     *
     * @param state its state
     * @param ends the number of tasks that it considers; unless it is closed, those that it has considered when it was
     *     opened, or 0 if it was opened by a call
     * @param failureRate the part of these that has failed
     * @param slowRate the part of these that was slow
     * @param nextProbe the time until the next probe may start, or null if the breaker is not open
     */
    public record Breaker(
            CircuitBreaker.State state,
            int ends,
            double failureRate,
            double slowRate,
            @Nullable Duration nextProbe) {

        /** Returns a text such as {@code open, 52 % of 100 tasks failed}. */
        @Override
        public String toString() {
            String rates = EndWindow.percent(failureRate) + " of " + ends + " tasks failed";
            String slow = slowRate == 0 ? "" : ", " + EndWindow.percent(slowRate) + " were slow";
            return state + (ends == 0 ? "" : ", " + rates + slow);
        }
    }

    /** Creates the statistics of a group without a rate that is neither on hold nor paused. */
    GroupStats(String groupKey, int activeCount, int queuedCount, int maxConcurrency, int queueCapacity) {
        this(groupKey, activeCount, queuedCount, maxConcurrency, queueCapacity, null, null, null, null, false, null);
    }

    /** Returns these statistics with the fleet's limit, if only the source knows it. */
    GroupStats with(PermitStatus status) {
        return permits == null || permits.fleetLimit != 0
                ? this
                : new GroupStats(
                        groupKey,
                        activeCount,
                        queuedCount,
                        maxConcurrency,
                        queueCapacity,
                        rate,
                        holdLeft,
                        limitChange,
                        new Permits(status.limit(), permits.leased, permits.wanted),
                        paused,
                        breaker);
    }
}
