package dev.raddle.cli.run;

import dev.raddle.cli.file.Limits;
import dev.raddle.cli.file.ThreadKind;
import dev.raddle.cli.file.value.Failure;
import dev.raddle.pool.PoolListener;
import dev.raddle.pool.ShutdownReport;
import dev.raddle.pool.ThreadPool;
import dev.raddle.task.Scheduler;
import dev.raddle.time.TimeSource;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

/**
 * Provides the threads of a run: a group with platform threads has a pool of its own, the other groups share a
 * {@link VirtualPool}. All are drained together, when the run is terminated or, at the latest, when it has ended.
 */
final class Threads implements AutoCloseable {
    /** The maximum time for a process tree to end after it has been killed. */
    private static final Duration AFTER_KILL = Duration.ofSeconds(5);

    private static final Duration IDLE = Duration.ofSeconds(5);

    /*
     * Overview.
     *
     * A pool that is created while the others are drained must not be missed. It is added to `pools` before `draining`
     * is read, and `draining` is set before `pools` is read: so either the drain finds the pool, or the thread that
     * created it shuts it down before it has received a task.
     *
     * Each pool is drained by a thread of its own, all from the same moment. A thread that cuts the grace period short
     * sets `graceEnded` and then interrupts the drainers; each drainer is added to `drainers` before it reads
     * `graceEnded`. So the later of the two sees the effect of the other.
     */
    private final Map<String, ThreadPool> pools = new ConcurrentHashMap<>();
    private final VirtualPool virtual;
    private final List<Thread> drainers = new CopyOnWriteArrayList<>();
    private final CompletableFuture<List<ShutdownReport>> reports = new CompletableFuture<>();
    private final AtomicBoolean begun = new AtomicBoolean();
    private volatile boolean draining;
    private volatile boolean graceEnded;

    private final Limits limits;
    private final Duration grace;
    private final Duration lastWait;
    private final TimeSource time;

    /**
     * Creates the threads of a run.
     *
     * @param grace the time before running tasks are interrupted, and again the time for their processes to end after
     *     that
     */
    Threads(Limits limits, Duration grace, TimeSource time) {
        this.limits = limits;
        this.grace = grace;
        this.lastWait = grace.plus(AFTER_KILL);
        this.time = time;
        this.virtual = new VirtualPool(time);
    }

    /**
     * Starts the JDK's timers before any process. They start when first needed; at the limit of processes and threads
     * an alarm would fail, and a virtual thread that waits for some time would never continue.
     */
    static void startTimers() throws IOException, InterruptedException {
        TimeSource.system().after(Duration.ZERO, () -> {});
        if (!Thread.ofVirtual().start(() -> LockSupport.parkNanos(1)).join(Duration.ofMinutes(1))) {
            throw new IOException(Failure.TOO_MANY);
        }
    }

    /** Returns the scheduler of a group. */
    Scheduler scheduler(String group) {
        return limits.threads(group) == ThreadKind.PLATFORM ? Scheduler.from(pool(group)) : virtual;
    }

    private ThreadPool pool(String group) {
        ThreadPool pool = pools.computeIfAbsent(group, this::newPool);
        if (draining) {
            pool.shutdown();
        }
        return pool;
    }

    private ThreadPool newPool(String group) {
        return ThreadPool.builder(group)
                .threads(limits.maxPermits(group))
                .keepAlive(IDLE)
                .allowCoreTimeout(true)
                .timeSource(time)
                .stuckAfter(lastWait)
                .listener(new PoolListener() {}) // long commands are expected, not worth a warning
                .build();
    }

    /**
     * Accepts no further task. Tasks that run have the grace period to end, and are then interrupted. Does not wait.
     */
    @SuppressWarnings("FutureReturnValueIgnored") // `reports` signals the end
    void drain() {
        if (!begun.compareAndSet(false, true)) {
            return;
        }
        draining = true;
        virtual.shutdown();
        pools.values().forEach(ThreadPool::shutdown);
        List<CompletableFuture<ShutdownReport>> drains = new ArrayList<>();
        drains.add(drained(length -> virtual.drain(length, lastWait)));
        pools.values().forEach(pool -> drains.add(drained(pool::drain)));
        CompletableFuture.allOf(drains.toArray(CompletableFuture[]::new)).whenComplete((all, failure) -> {
            if (failure == null) {
                reports.complete(drains.stream().map(CompletableFuture::join).toList());
            } else {
                reports.completeExceptionally(failure);
            }
        });
    }

    private CompletableFuture<ShutdownReport> drained(Function<Duration, ShutdownReport> drain) {
        CompletableFuture<ShutdownReport> report = new CompletableFuture<>();
        Thread drainer = Thread.ofVirtual().name("raddle-drain").unstarted(() -> {
            try {
                report.complete(drain.apply(graceEnded ? Duration.ZERO : grace));
            } catch (Throwable e) {
                report.completeExceptionally(e);
            }
        });
        drainers.add(drainer);
        drainer.start();
        return report;
    }

    /** Ends the grace period of running tasks. Does not wait. */
    void endGrace() {
        graceEnded = true;
        drainers.forEach(Thread::interrupt);
    }

    /** Returns the outcomes of all accepted tasks; completed when they are final. */
    CompletableFuture<List<ShutdownReport>> reports() {
        return reports;
    }

    /** Starts the drain if it has not begun, and waits for its end. */
    @Override
    public void close() {
        drain();
        reports.join();
    }
}
