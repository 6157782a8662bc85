/**
 * How do many keys share this JVM, each within its limit, none starving another? Start at
 * {@link dev.raddle.group.GroupExecutor}.
 *
 * <p>A group is all tasks of one key. A {@link dev.raddle.group.GroupPolicy} says how many of them run and wait, what the
 * groups share, and what becomes of those for which there is no room; a {@link dev.raddle.group.TaskHandle} is one submitted
 * task, a {@link dev.raddle.group.GroupResult} how it ended. Unless stated otherwise nothing is null, every class is safe for
 * many threads, what runs is counted in slots, of which a task of cost n takes n, what waits is counted in tasks, and moments are values of {@link System#nanoTime()} or
 * of the policy's time source.
 */
package dev.raddle.group;
