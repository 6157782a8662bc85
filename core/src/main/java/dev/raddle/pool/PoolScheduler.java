package dev.raddle.pool;

import dev.raddle.kernel.TimerUse;
import dev.raddle.task.Scheduler;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A scheduler on a thread pool of its own, whose threads end when they have nothing to do, so that it need not be
 * closed. They end soon when the last of its leases is closed, and until there is another.
 */
final class PoolScheduler implements Scheduler {

    private static final Duration KEEP_ALIVE = Duration.ofSeconds(60);

    private static final Duration NO_LEASE = Duration.ofMillis(1);

    private final ThreadPool pool;
    private final Object lock = new Object();
    private int leases; // guarded by lock

    PoolScheduler(PoolBuilder builder, int threads) {
        TimerUse.begin(TimeSource.system());
        builder.keepsTimer = false; // it is never closed
        pool = builder.threads(threads)
                .queueCapacity(Math.max(256, Math.multiplyExact(100, threads)))
                .rejection(new ThreadPool.CallerRunsPolicy())
                .keepAlive(KEEP_ALIVE)
                .allowCoreTimeout(true)
                .build();
    }

    @Override
    public void execute(Runnable task) {
        pool.execute(task);
    }

    @Override
    public Placement place(Placeable task) {
        PlacedTask placed = new PlacedTask(task, pool);
        pool.execute(placed);
        return placed;
    }

    @Override
    public Lease lease() {
        count(1);
        AtomicBoolean open = new AtomicBoolean(true);
        return () -> {
            if (open.compareAndSet(true, false)) {
                count(-1);
            }
        };
    }

    private void count(int change) {
        synchronized (lock) {
            int before = leases;
            if (before == 0) {
                TimerUse.retain(TimeSource.system());
            }
            leases = before + change;
            if (leases == 0) {
                TimerUse.release(TimeSource.system());
            }
            if (before == 0 || leases == 0) {
                Duration keepAlive = leases == 0 ? NO_LEASE : KEEP_ALIVE;
                pool.setKeepAliveTime(keepAlive.toNanos(), TimeUnit.NANOSECONDS);
            }
        }
    }

    @Override
    public String toString() {
        return "scheduler on pool \"" + pool.name() + "\"";
    }
}
