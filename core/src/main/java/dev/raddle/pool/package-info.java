/**
 * Pools of platform threads that stop without losing work. Start at {@link dev.raddle.pool.ThreadPool}.
 *
 * <p>A pool keeps the contract of {@link java.util.concurrent.ThreadPoolExecutor} and accounts for its tasks: after it
 * has been {@linkplain dev.raddle.pool.ThreadPool#drain drained}, a {@link dev.raddle.pool.ShutdownReport} has the
 * outcome of every task. Nothing here retries, limits by key or knows the scope of a task. Unless stated otherwise
 * nothing is null, every class is safe for use by multiple threads, and actions before a task is submitted
 * <i>happen-before</i> the task.
 */
package dev.raddle.pool;
