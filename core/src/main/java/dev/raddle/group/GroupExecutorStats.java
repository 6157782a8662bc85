package dev.raddle.group;

/**
 * An executor as a whole. Each group is read in one moment, the groups one after the other.
 *
 * @param activeGroupCount groups that are known, those included that are idle and not forgotten yet
 * @param totalActiveCount slots taken by tasks that run, in all groups
 * @param totalQueuedCount tasks that wait, in all groups
 * @param globalInFlightUsed slots of the global cap that are taken; 0 if there is no cap
 * @param globalInFlightMax the global cap; {@link Integer#MAX_VALUE} if there is none
 */
public record GroupExecutorStats(
        int activeGroupCount,
        int totalActiveCount,
        int totalQueuedCount,
        int globalInFlightUsed,
        int globalInFlightMax) {}
