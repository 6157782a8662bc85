package dev.raddle.task;

import java.util.concurrent.Executor;

/**
 * Creates the schedulers that stand on executors. This package is below the thread pool, so {@link Scheduler} finds the one
 * provider, which is the thread pool's, as a {@linkplain java.util.ServiceLoader service} of this module.
 *
 * <p>An application has no need to call or to implement this.
 */
public interface SchedulerProvider {

    /**
     * Creates a scheduler on a pool of its own, first in, first out.
     *
     * @param threads the number of threads, at least 1
     * @return a new scheduler
     */
    Scheduler fixed(int threads);

    /**
     * Creates a scheduler on a pool of its own that runs the waiting task of the highest priority first.
     *
     * @param threads the number of threads, at least 1
     * @return a new scheduler
     */
    Scheduler priority(int threads);

    /**
     * Creates a scheduler on an executor that belongs to the caller.
     *
     * @param executor the executor
     * @param name the name of the scheduler in messages
     * @return a new scheduler
     */
    Scheduler from(Executor executor, String name);
}
