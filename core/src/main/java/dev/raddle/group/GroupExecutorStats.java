package dev.raddle.group;

/**
 * Statistics of an executor. The numbers of one group are read at one moment, the groups one after the other.
 *
 * @param activeGroupCount the number of known groups, including idle ones that have not been removed yet
 * @param totalActiveCount the number of slots taken by running tasks, in all groups
 * @param totalQueuedCount the number of waiting tasks, in all groups
 * @param globalInFlightUsed the number of slots taken of the global cap; 0 if there is no cap, even if there is a
 * global rate
 * @param globalInFlightMax the global cap; {@link Integer#MAX_VALUE} if there is none
 */
public record GroupExecutorStats(
        int activeGroupCount,
        int totalActiveCount,
        int totalQueuedCount,
        int globalInFlightUsed,
        int globalInFlightMax) {}
