package dev.raddle.group;

/**
 * Statistics of a group, read at one moment.
 *
 * @param groupKey the key of the group
 * @param activeCount the number of slots taken by running tasks
 * @param queuedCount the number of waiting tasks
 * @param maxConcurrency the number of slots
 * @param queueCapacity the largest number of waiting tasks
 */
public record GroupStats(String groupKey, int activeCount, int queuedCount, int maxConcurrency, int queueCapacity) {}
