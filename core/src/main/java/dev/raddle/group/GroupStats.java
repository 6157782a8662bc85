package dev.raddle.group;

/**
 * One group, read in one moment.
 *
 * @param groupKey its key
 * @param activeCount slots taken by tasks that run
 * @param queuedCount tasks that wait
 * @param maxConcurrency how many slots there are
 * @param queueCapacity how many tasks may wait
 */
public record GroupStats(String groupKey, int activeCount, int queuedCount, int maxConcurrency, int queueCapacity) {}
