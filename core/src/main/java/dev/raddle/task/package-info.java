/**
 * What all APIs share: the words for a task. Start at {@link dev.raddle.task.Task}, {@link dev.raddle.task.Outcome},
 * {@link dev.raddle.task.Scheduler}, {@link dev.raddle.task.TaskListener} and {@link dev.raddle.task.TaskContext}.
 *
 * <p>How a task ended is an {@link dev.raddle.task.Outcome}. Whatever the callable or a listener throws, the task settles;
 * exceptions that have no caller go to an {@link dev.raddle.task.ExceptionSink}. Unless stated otherwise nothing is null,
 * every class is safe for many threads, and moments are values of the time source's clock in nanoseconds.
 */
package dev.raddle.task;
