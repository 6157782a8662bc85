package dev.raddle.task;

import dev.raddle.pool.ThreadPool;
import java.time.Duration;

/** A scheduler on a thread pool of its own, whose threads end when they have nothing to do: nobody has to close it. */
final class PoolScheduler implements Scheduler {

    private static final Duration KEEP_ALIVE = Duration.ofSeconds(60);

    private final ThreadPool pool;

    private PoolScheduler(ThreadPool.Builder builder, int threads) {
        pool = builder.threads(threads)
                .queueCapacity(Math.max(256, Math.multiplyExact(100, threads)))
                .rejection(new ThreadPool.CallerRunsPolicy())
                .keepAlive(KEEP_ALIVE)
                .allowCoreTimeout(true)
                .build();
    }

    static Scheduler fixed(int threads) {
        return new PoolScheduler(ThreadPool.builder("raddle-fixed"), threads);
    }

    static Scheduler priority(int threads) {
        return new PoolScheduler(ThreadPool.builder("raddle-priority").priority(PoolScheduler::rank), threads);
    }

    private static int rank(Object task) {
        return task instanceof Placeable placed ? placed.priority() : 0;
    }

    @Override
    public void execute(Runnable task) {
        pool.execute(task);
    }

    @Override
    public Placement place(Placeable task) {
        pool.execute(task);
        return () -> pool.remove(task);
    }

    @Override
    public String toString() {
        return "scheduler on " + pool;
    }
}
