package dev.raddle.task;

import java.util.concurrent.Executor;

/**
 * Creates the schedulers that run tasks on executors. This package must not depend on the thread pool, so {@link
 * Scheduler} loads the only provider, that of the thread pool, as a {@linkplain java.util.ServiceLoader service} of
 * this module.
 *
 * <p>Applications need not call or implement this interface.
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
     * Creates a scheduler on an executor of the caller.
     *
     * @param executor the executor
     * @param name the name of the scheduler in messages
     * @return a new scheduler
     */
    Scheduler from(Executor executor, String name);
}
