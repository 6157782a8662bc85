/**
 * The types that all APIs share: tasks, outcomes, schedulers, listeners and contexts. Start at {@link
 * dev.raddle.task.Task}, {@link dev.raddle.task.Outcome}, {@link dev.raddle.task.Scheduler}, {@link
 * dev.raddle.task.TaskListener} and {@link dev.raddle.task.TaskContext}.
 *
 * <p>A task settles whatever the callable or a listener throws. Exceptions that cannot be thrown to a caller go to an
 * {@link dev.raddle.task.ExceptionSink}. Unless stated otherwise nothing is null, every class is thread-safe, and
 * moments are values of the time source's clock in nanoseconds.
 */
package dev.raddle.task;
