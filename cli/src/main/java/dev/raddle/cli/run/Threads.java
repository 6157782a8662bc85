package dev.raddle.cli.run;

import dev.raddle.cli.file.Limits;
import dev.raddle.cli.file.ThreadKind;
import dev.raddle.pool.PoolListener;
import dev.raddle.pool.ShutdownReport;
import dev.raddle.pool.ThreadPool;
import dev.raddle.task.Scheduler;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

/**
 * Where the tasks of a run get their threads: a group that asks for platform threads has a pool of its own, the others share
 * a {@link VirtualPool}. They are drained together, when the run is told to end or, at the latest, when it has ended.
 */
final class Threads implements AutoCloseable {
    /** How long a process tree may take to go once it has been killed. */
    private static final Duration AFTER_KILL = Duration.ofSeconds(5);

    private static final Duration IDLE = Duration.ofSeconds(5);

    /*
     * Overview.
     *
     * A pool that is created while the others are drained must not be forgotten. It is in `pools` before `draining` is
     * read, and `draining` is set before `pools` is read: so either the drain finds the pool, or whoever created it shuts it
     * down, before it has had a task.
     *
     * Each pool is drained by a thread of its own, all from the same moment. Who wants to cut the grace short sets `cut`
     * and then interrupts these threads; each of them is in `drainers` before it reads `cut`. So whichever comes second
     * sees the other.
     */
    private final Map<String, ThreadPool> pools = new ConcurrentHashMap<>();
    private final VirtualPool virtual;
    private final List<Thread> drainers = new CopyOnWriteArrayList<>();
    private final CompletableFuture<List<ShutdownReport>> reports = new CompletableFuture<>();
    private final AtomicBoolean begun = new AtomicBoolean();
    private volatile boolean draining;
    private volatile boolean cut;

    private final Limits limits;
    private final Duration grace;
    private final Duration lastWait;
    private final TimeSource time;

    /**
     * Threads for a run.
     *
     * @param grace how long tasks may take to end before they are interrupted, and again how long their processes may take
     *     after that
     */
    Threads(Limits limits, Duration grace, TimeSource time) {
        this.limits = limits;
        this.grace = grace;
        this.lastWait = grace.plus(AFTER_KILL);
        this.time = time;
        this.virtual = new VirtualPool(time);
    }

    /** Where the tasks of a group run. */
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
                .threads(limits.most(group))
                .keepAlive(IDLE)
                .allowCoreTimeout(true)
                .timeSource(time)
                .stuckAfter(lastWait)
                .listener(new PoolListener() {}) // hears of commands that take long, which are nobody's concern
                .build();
    }

    /** Places no task from now on. Those that run have the grace to end, and are then interrupted. Does not wait. */
    @SuppressWarnings("FutureReturnValueIgnored") // `reports` is the end of it
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
                report.complete(drain.apply(cut ? Duration.ZERO : grace));
            } catch (Throwable e) {
                report.completeExceptionally(e);
            }
        });
        drainers.add(drainer);
        drainer.start();
        return report;
    }

    /** Takes the rest of the grace from those that run. Does not wait. */
    void cut() {
        cut = true;
        drainers.forEach(Thread::interrupt);
    }

    /** What became of every task that was placed; complete when nothing more will. */
    CompletableFuture<List<ShutdownReport>> reports() {
        return reports;
    }

    /** Drains what has not been, and waits for that. */
    @Override
    public void close() {
        drain();
        reports.join();
    }
}
