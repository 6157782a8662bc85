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
        boolean paused) {

    /**
     * The permits of a group that come from a {@link PermitSource}.
     *
     * @param fleetLimit the number that all JVMs share, or 0 if it is unknown
     * @param leased the number that this JVM has, used and unused
     * @param wanted the number of further permits that waiting tasks could use
     */
    public record Permits(int fleetLimit, int leased, int wanted) {}

    /** Creates the statistics of a group without a rate that is neither on hold nor paused. */
    GroupStats(String groupKey, int activeCount, int queuedCount, int maxConcurrency, int queueCapacity) {
        this(groupKey, activeCount, queuedCount, maxConcurrency, queueCapacity, null, null, null, null, false);
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
                        paused);
    }
}
