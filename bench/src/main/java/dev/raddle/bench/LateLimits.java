package dev.raddle.bench;

import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.RunOptions;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.RejectionPolicy;
import dev.raddle.pool.ThreadPool;
import dev.raddle.scope.ScopeOptions;
import dev.raddle.scope.StructuredTaskScope;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.Rate;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Scheduler;
import dev.raddle.task.Task;
import dev.raddle.task.TaskSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/**
 * How late does a limit of 50 ms reach a platform thread, for each kind of limit, beside virtual threads of others that
 * keep all carriers busy, and beside a fallback of a foreign future that holds the JDK's delay scheduler for four
 * seconds? The limits and their peers are measured at the same time, by a thread each. All tasks have platform
 * threads: a task that is given a virtual thread begins only when a carrier is free.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@Fork(
        value = 3,
        jvmArgs = {Jvm.QUIET, Jvm.HEAP_START, Jvm.HEAP_MAX, Jvm.TWO_PROCESSORS})
@Warmup(iterations = 0)
@Measurement(iterations = 1)
public class LateLimits {

    private static final String CARRIERS = "carriers";
    private static final String FALLBACK = "fallback";
    private static final String SEMAPHORE = "Semaphore.tryAcquire";
    private static final String SCHEDULED = "ScheduledThreadPoolExecutor";

    private static final int LIMIT_MILLIS = 50;
    private static final Duration LIMIT = Duration.ofMillis(LIMIT_MILLIS);
    private static final int WARM_UP_SECONDS = 2;
    private static final int BUSY_FACTOR = 2; // virtual threads for each carrier
    private static final int FALLBACK_MILLIS = 4_000;

    /** The peer of each kind of limit: a wait of the caller's own, or a moment at which another thread acts. */
    private static final Map<String, String> KINDS = kinds();

    private static Map<String, String> kinds() {
        Map<String, String> peers = new LinkedHashMap<>();
        peers.put("tryCall", SEMAPHORE);
        peers.put("call, queue timeout", SEMAPHORE);
        peers.put("await(time) of a handle", SEMAPHORE);
        peers.put("joinUntil", SEMAPHORE);
        peers.put("drain", SEMAPHORE);
        peers.put("queue timeout", SCHEDULED);
        peers.put("timeout of a waiting task", SCHEDULED);
        peers.put("timeout of a running task", SCHEDULED);
        peers.put("deadline of a scope", SCHEDULED);
        peers.put("timeout of a node", SCHEDULED);
        peers.put("schedule", SCHEDULED);
        peers.put("rate", SCHEDULED);
        peers.put("retry delay", SEMAPHORE);
        return peers;
    }

    /** What holds the threads of others. */
    @Param({CARRIERS, FALLBACK})
    public String beside;

    /** The duration of the measurement. */
    @Param("10")
    public int seconds;

    private final Semaphore none = new Semaphore(0);
    private final CountDownLatch hold = new CountDownLatch(1);
    private final ExecutorService platform = Executors.newCachedThreadPool(daemons());
    private final ScheduledExecutorService scheduled = Executors.newScheduledThreadPool(1, daemons());
    private final Scheduler threads = Scheduler.from(platform);
    private final GroupExecutor groups = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
            .defaultMaxConcurrencyPerGroup(1)
            .rejectionPolicy(RejectionPolicy.DISCARD)
            .scheduler(key -> threads)
            .closeTimeout(Duration.ofMillis(1))
            .build());
    private final List<Thread> disturbers = new ArrayList<>();
    private volatile boolean disturbed = true;

    private static ThreadFactory daemons() {
        return Thread.ofPlatform().daemon().factory();
    }

    /** Occupies a group, and limits the rate of another. */
    @Setup(Level.Trial)
    public void open() {
        var _ = groups.submit("held", this::untilTheEnd);
        groups.setRate("rate", Rate.of(1, LIMIT).burst(1));
    }

    /** Ends all threads. */
    @TearDown(Level.Trial)
    public void close() {
        hold.countDown();
        groups.close();
        scheduled.shutdownNow();
        platform.shutdownNow();
    }

    private Void untilTheEnd() throws InterruptedException {
        hold.await();
        return null;
    }

    /** All limits at once. */
    @Benchmark
    public void limits() throws Exception {
        Map<String, Callable<Long>> samplers = samplers();
        Map<String, Samples> found = new LinkedHashMap<>();
        List<Thread> measuring = new ArrayList<>();
        long begin = System.nanoTime() + TimeUnit.SECONDS.toNanos(Math.min(WARM_UP_SECONDS, seconds));
        long end = begin + TimeUnit.SECONDS.toNanos(seconds);
        samplers.forEach((kind, sampler) -> {
            Samples samples = new Samples();
            found.put(kind, samples);
            measuring.add(Thread.ofPlatform().daemon().start(() -> measure(sampler, samples, begin, end)));
        });
        disturb();
        for (Thread thread : measuring) {
            thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime())));
        }
        disturbed = false; // what still waits ends now, and was late until now
        for (Thread thread : measuring) {
            thread.join();
        }
        for (Thread thread : disturbers) {
            thread.join();
        }
        found.forEach((kind, samples) -> Measured.note(kind, samples.quantile(0.99) / 1e6, "ms"));
    }

    private static void measure(Callable<Long> sampler, Samples samples, long begin, long end) {
        try {
            while (System.nanoTime() - end < 0) {
                Thread.sleep(ThreadLocalRandom.current().nextInt(1, 20));
                long late = sampler.call() - TimeUnit.MILLISECONDS.toNanos(LIMIT_MILLIS);
                if (System.nanoTime() - begin >= 0) {
                    samples.add(late);
                }
            }
        } catch (Exception failure) {
            throw new IllegalStateException(failure);
        }
    }

    private void disturb() {
        if (beside.equals(CARRIERS)) {
            int busy = BUSY_FACTOR * Runtime.getRuntime().availableProcessors();
            for (int i = 0; i < busy; i++) {
                disturbers.add(Thread.startVirtualThread(() -> {
                    while (disturbed) {
                        Blackhole.consumeCPU(1000);
                    }
                }));
            }
        } else {
            disturbers.add(Thread.ofPlatform().daemon().start(() -> {
                while (disturbed) {
                    CompletableFuture<Void> late = new CompletableFuture<>();
                    CompletableFuture<Void> fallback = late.exceptionally(timeout -> {
                        for (int slept = 0; disturbed && slept < FALLBACK_MILLIS; slept += 10) {
                            Flood.sleep(10);
                        }
                        return null;
                    });
                    late.orTimeout(1, TimeUnit.MILLISECONDS); // with the fallback, which else may run in this thread
                    fallback.join();
                }
            }));
        }
    }

    /** Returns for each kind and peer what takes as long as the limit, and returns how long it took. */
    private Map<String, Callable<Long>> samplers() {
        Map<String, Callable<Long>> all = new LinkedHashMap<>();
        all.put(SEMAPHORE, timed(() -> none.tryAcquire(LIMIT_MILLIS, TimeUnit.MILLISECONDS)));
        all.put(
                SCHEDULED,
                timed(() -> scheduled
                        .schedule(() -> null, LIMIT_MILLIS, TimeUnit.MILLISECONDS)
                        .get()));
        TaskSpec<Void> held = TaskSpec.named("held", this::untilTheEnd);
        all.put("tryCall", timed(() -> groups.tryCall("held", LIMIT, () -> 1)));
        all.put("call, queue timeout", timed(() -> groups.call("held", held.queueTimeout(LIMIT))));
        all.put("await(time) of a handle", timed(() -> {
            var handle = groups.submit("held", held);
            handle.await(LIMIT_MILLIS, TimeUnit.MILLISECONDS);
            return handle.cancel(true);
        }));
        all.put("joinUntil", timed(this::joinUntil));
        all.put("drain", this::drain);
        all.put(
                "queue timeout",
                timed(() -> groups.submit("held", held.queueTimeout(LIMIT)).join()));
        all.put(
                "timeout of a waiting task",
                timed(() -> groups.submit("held", held.timeout(LIMIT)).join()));
        all.put(
                "timeout of a running task",
                timed(() -> groups.submit("own", held.timeout(LIMIT)).join()));
        all.put("deadline of a scope", timed(() -> {
            try (ThreadScope scope = ThreadScope.open("s", inThreads().withDeadline(LIMIT))) {
                return scope.submit(this::untilTheEnd).await();
            }
        }));
        all.put("timeout of a node", timed(this::runWithTimeout));
        all.put("schedule", timed(() -> {
            try (ThreadScope scope = ThreadScope.open("s", inThreads())) {
                Task<Integer> later = scope.schedule(LIMIT, () -> 1);
                return later.await();
            }
        }));
        all.put("rate", this::startsApart);
        all.put("retry delay", this::attemptsApart);
        return all;
    }

    /** Returns the time that a call takes, also if it ends with an exception, as most limits do. */
    private static Callable<Long> timed(Callable<?> call) {
        return () -> {
            long begin = System.nanoTime();
            try {
                call.call();
            } catch (Exception limit) {
                // as expected
            }
            return System.nanoTime() - begin;
        };
    }

    private ScopeOptions inThreads() {
        return ScopeOptions.defaults().withScheduler(threads);
    }

    private @Nullable Void joinUntil() throws InterruptedException {
        try (var scope = new StructuredTaskScope<Void>(
                "late", Thread.ofPlatform().daemon().factory())) {
            scope.fork(this::untilTheEnd);
            try {
                scope.joinUntil(Instant.now().plus(LIMIT));
            } catch (TimeoutException late) {
                scope.shutdown();
            }
            return null;
        }
    }

    private long drain() {
        ThreadPool pool = ThreadPool.builder("drained").threads(1).build();
        var _ = pool.submit(this::untilTheEnd);
        long begin = System.nanoTime();
        pool.drain(LIMIT);
        return System.nanoTime() - begin;
    }

    private @Nullable Void runWithTimeout() throws InterruptedException {
        var flow = FlowPlan.define("f");
        var node = flow.node("n", this::untilTheEnd).timeout(LIMIT);
        flow.returning(node).run(null, RunOptions.defaults().withScheduler(threads));
        return null;
    }

    /** Returns the time between two starts of a group with a rate. */
    private long startsApart() throws InterruptedException {
        long first =
                requireValue(groups.submit("rate", System::nanoTime).await().value());
        long second =
                requireValue(groups.submit("rate", System::nanoTime).await().value());
        return second - first;
    }

    /** Returns the time between the failure of an attempt and the next attempt. */
    private long attemptsApart() throws InterruptedException {
        long[] failed = {0};
        return requireValue(groups.submit(
                        "retried",
                        TaskSpec.named("r", () -> {
                                    long now = System.nanoTime();
                                    if (failed[0] == 0) {
                                        failed[0] = now;
                                        throw new IllegalStateException("first");
                                    }
                                    return now - failed[0];
                                })
                                .retry(RetryPolicy.fixedDelay(2, LIMIT)))
                .await()
                .value());
    }

    private static long requireValue(@Nullable Long value) {
        if (value == null) {
            throw new IllegalStateException("the task has failed");
        }
        return value;
    }

    static List<Row> rows(Results results) {
        List<Row> rows = new ArrayList<>();
        for (String beside : List.of(CARRIERS, FALLBACK)) {
            String param = "beside=" + beside;
            String where = beside.equals(CARRIERS) ? ", busy carriers" : ", a fallback of 4 s";
            KINDS.forEach((kind, peer) -> rows.add(
                    Row.of("p99 lateness: " + kind + where, results.note(kind, "LateLimits.limits", param), "ms")
                            .against(peer, results.note(peer, "LateLimits.limits", param))
                            .ratioAtMost(2)));
        }
        return rows;
    }
}
