/**
 * Platform threads with an end: how to stop without losing work. Start at {@link dev.raddle.pool.ThreadPool}.
 *
 * <p>A pool keeps the contract of {@link java.util.concurrent.ThreadPoolExecutor} and adds an account: when it has been
 * {@linkplain dev.raddle.pool.ThreadPool#drain drained}, a {@link dev.raddle.pool.ShutdownReport} says what became of every
 * task. Nothing here retries, limits by key or knows what a task belongs to. Unless stated otherwise nothing is null, every
 * class is safe for many threads, and actions before a task is submitted <i>happen-before</i> the task.
 */
package dev.raddle.pool;
