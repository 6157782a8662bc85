/**
 * What is one callable's life? Start at {@link dev.raddle.task.TaskRun}; a user of the doors meets
 * {@link dev.raddle.task.Scheduler}, {@link dev.raddle.task.TaskListener} and {@link dev.raddle.task.TaskContext}.
 *
 * <p>A callable is asked, admitted, placed on a thread, run and settled, by the same code for every door. How it ended is an
 * {@link dev.raddle.task.Outcome}. Whatever is thrown, by the callable or by anyone who is told about it, the task settles;
 * what would be lost otherwise goes to an {@link dev.raddle.task.ExceptionSink}. Unless stated otherwise nothing is null,
 * every class is safe for many threads, and moments are values of the time source's clock in nanoseconds.
 */
package dev.raddle.task;
