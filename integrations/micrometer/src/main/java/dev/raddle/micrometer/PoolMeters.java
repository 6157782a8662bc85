package dev.raddle.micrometer;

import dev.raddle.pool.ThreadPool;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.BaseUnits;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.ToDoubleFunction;

/**
 * The meters of a pool, each with the tag {@code pool}, the pool's name. They read {@link ThreadPool#stats()} when a
 * registry polls them, and add no cost to the pool's tasks.
 *
 * {@snippet :
 * ThreadPool renderers = ThreadPool.builder("renderers").threads(4).build();
 * new PoolMeters(renderers).bindTo(registry);
 * }
 *
 * <p>Gauges: {@code raddle.pool.threads} and {@code raddle.pool.threads.core}, {@code .max}, {@code .largest};
 * {@code raddle.pool.active}, {@code raddle.pool.queued}, {@code raddle.pool.queue.capacity}, which is infinite if the
 * queue is unbounded. Counters: {@code raddle.pool.completed}, {@code .rejected}, {@code .handed.back},
 * {@code .removed}.
 *
 * <p>The meters refer to the pool weakly; when it has been collected, they show no value. {@link #close} removes them.
 * Two pools with the same name need different tags.
 */
public final class PoolMeters implements MeterBinder, AutoCloseable {

    private final ThreadPool pool;
    private final Tags tags;
    private final Queue<Runnable> removals = new ConcurrentLinkedQueue<>();

    /**
     * Creates the meters of a pool.
     *
     * @param pool the pool to measure
     */
    public PoolMeters(ThreadPool pool) {
        this(pool, Tags.empty());
    }

    /**
     * Creates the meters of a pool.
     *
     * @param pool the pool to measure
     * @param tags the tags of each meter, besides {@code pool}
     */
    public PoolMeters(ThreadPool pool, Tags tags) {
        this.pool = Objects.requireNonNull(pool, "pool");
        this.tags = tags.and("pool", pool.name());
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        gauge(registry, "threads", BaseUnits.THREADS, "Current threads", ThreadPool.Stats::threads);
        gauge(
                registry,
                "threads.core",
                BaseUnits.THREADS,
                "Threads that are kept even if idle",
                ThreadPool.Stats::coreThreads);
        gauge(registry, "threads.max", BaseUnits.THREADS, "Maximum number of threads", ThreadPool.Stats::maxThreads);
        gauge(
                registry,
                "threads.largest",
                BaseUnits.THREADS,
                "Largest number of threads so far",
                ThreadPool.Stats::largestThreads);
        gauge(registry, "active", BaseUnits.TASKS, "Tasks that run or are about to", ThreadPool.Stats::active);
        gauge(registry, "queued", BaseUnits.TASKS, "Tasks that wait", ThreadPool.Stats::queued);
        note(
                registry,
                Gauge.builder("raddle.pool.queue.capacity", pool, PoolMeters::queueCapacity)
                        .tags(tags)
                        .baseUnit(BaseUnits.TASKS)
                        .description("Tasks that may wait")
                        .register(registry));
        counter(registry, "completed", "Tasks that have ended, normally or not", ThreadPool.Stats::completed);
        counter(registry, "rejected", "Submissions that were not accepted", ThreadPool.Stats::rejected);
        counter(
                registry,
                "handed.back",
                "Tasks that were accepted and handed back by a shutdown",
                ThreadPool.Stats::handedBack);
        counter(registry, "removed", "Tasks that were removed from the queue", ThreadPool.Stats::removed);
    }

    private static double queueCapacity(ThreadPool pool) {
        BlockingQueue<Runnable> queue = pool.getQueue();
        int remaining = queue.remainingCapacity();
        return remaining == Integer.MAX_VALUE ? Double.POSITIVE_INFINITY : (double) remaining + queue.size();
    }

    private void gauge(
            MeterRegistry registry,
            String name,
            String unit,
            String description,
            ToDoubleFunction<ThreadPool.Stats> value) {
        note(
                registry,
                Gauge.builder("raddle.pool." + name, pool, read -> value.applyAsDouble(read.stats()))
                        .tags(tags)
                        .baseUnit(unit)
                        .description(description)
                        .register(registry));
    }

    private void counter(
            MeterRegistry registry, String name, String description, ToDoubleFunction<ThreadPool.Stats> value) {
        note(
                registry,
                FunctionCounter.builder("raddle.pool." + name, pool, read -> value.applyAsDouble(read.stats()))
                        .tags(tags)
                        .baseUnit(BaseUnits.TASKS)
                        .description(description)
                        .register(registry));
    }

    private void note(MeterRegistry registry, Meter meter) {
        removals.add(() -> registry.remove(meter));
    }

    /** Removes the meters from each registry to which they were bound. Further calls have no effect. */
    @Override
    public void close() {
        for (Runnable removal; (removal = removals.poll()) != null; ) {
            removal.run();
        }
    }
}
