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
 */
public record GroupStats(
        String groupKey,
        int activeCount,
        int queuedCount,
        int maxConcurrency,
        int queueCapacity,
        @Nullable Rate rate,
        @Nullable Duration holdLeft) {

    /**
     * Creates the statistics of a group without a rate that is not on hold.
     *
     * @param groupKey the key of the group
     * @param activeCount the number of slots taken by running tasks
     * @param queuedCount the number of waiting tasks
     * @param maxConcurrency the number of slots
     * @param queueCapacity the largest number of waiting tasks
     */
    public GroupStats(String groupKey, int activeCount, int queuedCount, int maxConcurrency, int queueCapacity) {
        this(groupKey, activeCount, queuedCount, maxConcurrency, queueCapacity, null, null);
    }
}
