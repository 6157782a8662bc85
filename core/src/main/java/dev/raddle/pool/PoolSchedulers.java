package dev.raddle.pool;

import dev.raddle.task.Scheduler;
import dev.raddle.task.SchedulerProvider;
import java.util.concurrent.Executor;

/**
 * Provides the schedulers of {@link Scheduler#fixed}, {@link Scheduler#priority} and {@link Scheduler#from}. Stateless.
 */
public final class PoolSchedulers implements SchedulerProvider {

    /** Called by the service loader. */
    public PoolSchedulers() {}

    @Override
    public Scheduler fixed(int threads) {
        return new PoolScheduler(ThreadPool.builder("raddle-fixed"), threads);
    }

    @Override
    public Scheduler priority(int threads) {
        return new PoolScheduler(ThreadPool.builder("raddle-priority").priority(PoolSchedulers::rank), threads);
    }

    private static int rank(Object task) {
        return task instanceof Scheduler.Placeable placed ? placed.priority() : 0;
    }

    @Override
    public Scheduler from(Executor executor, String name) {
        return new ExecutorScheduler(executor, name);
    }
}
