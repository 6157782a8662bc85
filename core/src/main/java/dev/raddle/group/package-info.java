/**
 * Concurrency limits per key: tasks are submitted under a key, each key has its limit, and no key starves another.
 * Start at {@link dev.raddle.group.GroupExecutor}.
 *
 * <p>A group consists of all tasks of one key. A {@link dev.raddle.group.GroupPolicy} determines how many of them run
 * and wait, the limits that all groups share, and the treatment of rejected tasks. A
 * {@link dev.raddle.group.TaskHandle} represents one submitted task, a {@link dev.raddle.group.GroupResult} its result.
 *
 * <p>Unless stated otherwise, nothing is null, and every class is thread-safe. Running tasks are counted in slots, of
 * which a task of cost n takes n; waiting tasks are counted in tasks. Moments are values of {@link System#nanoTime()}
 * or of the policy's time source.
 */
package dev.raddle.group;
