package dev.raddle.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
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

/**
 * How many tasks per second pass a limit that a real server keeps for a fleet, and how long do they wait? Virtual
 * threads run one task after the other. The benchmark fails if a limit is exceeded.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@Fork(
        value = 3,
        jvmArgs = {Jvm.QUIET, "--enable-native-access=ALL-UNNAMED", Jvm.HEAP_START, Jvm.HEAP_MAX})
@Warmup(iterations = 0)
@Measurement(iterations = 1)
public class FleetPermits {

    private static final Duration SLICE = Duration.ofMillis(20);

    /** The threads and the limits. */
    public enum Load {
        /** Each thread has a group of its own. */
        GROUPS(32, 32, 1, 0, 0),
        /** All threads compete for one group. */
        HOT(32, 1, 4, 0, 0),
        /** The same with longer tasks. */
        HOT_1MS(32, 1, 4, 0, 1),
        /** Groups compete for a cap. */
        CAPPED(64, 8, 4, 16, 1);

        private final int threads;
        private final int groups;
        private final int limit;
        private final int cap; // 0 if there is none
        private final int millis;

        Load(int threads, int groups, int limit, int cap, int millis) {
            this.threads = threads;
            this.groups = groups;
            this.limit = limit;
            this.cap = cap;
            this.millis = millis;
        }
    }

    /** The threads and the limits. */
    @Param
    public Load load;

    /** The duration of the measurement. */
    @Param("5")
    public int seconds;

    private RedisProcess server;

    /** Starts a server without data. */
    @Setup(Level.Trial)
    public void start() throws Exception {
        server = RedisProcess.start();
    }

    /** Ends the server. */
    @TearDown(Level.Trial)
    public void end() throws Exception {
        server.close();
    }

    /** Raddle, where each task asks the server. */
    @Benchmark
    public void raddle() throws Exception {
        measure(FleetLimiter.raddle(server.uri(), load.groups, load.limit, load.cap, Duration.ZERO));
    }

    /** Raddle with slices. */
    @Benchmark
    public void raddleWithSlices() throws Exception {
        measure(FleetLimiter.raddle(server.uri(), load.groups, load.limit, load.cap, SLICE));
    }

    /** Redisson's semaphores whose permits expire. */
    @Benchmark
    public void redisson() throws Exception {
        measure(FleetLimiter.redisson(server.uri(), load.groups, load.limit, load.cap));
    }

    private void measure(FleetLimiter limiter) throws Exception {
        try (limiter) {
            limiter.run(0, () -> null); // waits until the server grants permits
            new Run(load, limiter, seconds).measure();
        }
    }

    /** One measurement: what the threads share. */
    private static final class Run {
        private final Load load;
        private final FleetLimiter limiter;
        private final int seconds;
        private final long begin = System.nanoTime() + TimeUnit.SECONDS.toNanos(2); // after a warm-up
        private final long end;
        private final AtomicInteger running = new AtomicInteger();
        private final List<AtomicInteger> runningInGroups = new ArrayList<>();
        private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();

        Run(Load load, FleetLimiter limiter, int seconds) {
            this.load = load;
            this.limiter = limiter;
            this.seconds = seconds;
            end = begin + TimeUnit.SECONDS.toNanos(seconds);
            for (int i = 0; i < load.groups; i++) {
                runningInGroups.add(new AtomicInteger());
            }
        }

        void measure() throws Exception {
            List<Samples> waits = new ArrayList<>();
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < load.threads; i++) {
                int group = i % load.groups;
                Samples own = new Samples();
                waits.add(own);
                threads.add(Thread.ofVirtual().start(() -> loop(group, own)));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            Exception failed = failure.get();
            if (failed != null) {
                throw failed;
            }
            Samples all = new Samples();
            waits.forEach(all::addAll);
            Measured.note("throughput", all.count() / (double) seconds, "tasks/s");
            Measured.note("p99", all.quantile(0.99) / 1e6, "ms");
            Measured.note(
                    "fairness",
                    waits.stream().mapToInt(Samples::count).min().orElseThrow()
                            / (double) waits.stream()
                                    .mapToInt(Samples::count)
                                    .max()
                                    .orElseThrow(),
                    "");
        }

        private void loop(int group, Samples waits) {
            try {
                for (long asked; (asked = System.nanoTime()) < end && failure.get() == null; ) {
                    limiter.run(group, task(group, waits, asked));
                }
            } catch (Exception e) {
                failure.compareAndSet(null, e);
            }
        }

        private Callable<Void> task(int group, Samples waits, long asked) {
            return () -> {
                long started = System.nanoTime();
                enter(runningInGroups.get(group), load.limit);
                enter(running, load.cap == 0 ? Integer.MAX_VALUE : load.cap);
                if (started >= begin && started < end) {
                    waits.add(started - asked);
                }
                if (load.millis > 0) {
                    Thread.sleep(load.millis);
                }
                running.decrementAndGet();
                runningInGroups.get(group).decrementAndGet();
                return null;
            };
        }

        private static void enter(AtomicInteger count, int limit) {
            int now = count.incrementAndGet();
            if (now > limit) {
                throw new IllegalStateException(now + " tasks run, the limit is " + limit);
            }
        }
    }

    static List<Row> rows(Results results) {
        return List.of(
                throughput(results, "32 threads, each with a group of its own", Load.GROUPS, "raddle")
                        .ratioAtLeast(3),
                throughput(results, "the same, with slices", Load.GROUPS, "raddleWithSlices"),
                throughput(results, "32 threads in a group of 4", Load.HOT, "raddle")
                        .ratioAtLeast(3),
                throughput(results, "the same, with slices", Load.HOT, "raddleWithSlices")
                        .ratioAtLeast(20),
                throughput(results, "32 threads in a group of 4, tasks of 1 ms", Load.HOT_1MS, "raddle"),
                throughput(results, "the same, with slices", Load.HOT_1MS, "raddleWithSlices"),
                throughput(
                                results,
                                "64 threads in 8 groups of 4 under a cap of 16, tasks of 1 ms",
                                Load.CAPPED,
                                "raddle")
                        .ratioAtLeast(2.5),
                throughput(results, "the same, with slices", Load.CAPPED, "raddleWithSlices"),
                note(results, "p99", "ms", "p99 wait, 8 groups under a cap of 16", Load.CAPPED, "raddle")
                        .ratioAtMost(0.33),
                note(results, "p99", "ms", "the same, with slices", Load.CAPPED, "raddleWithSlices"),
                note(results, "fairness", "", "slowest to fastest thread, 8 groups under a cap", Load.CAPPED, "raddle")
                        .atLeast(0.8),
                note(results, "fairness", "", "the same, with slices", Load.CAPPED, "raddleWithSlices"));
    }

    private static Row throughput(Results results, String what, Load load, String method) {
        return note(results, "throughput", "tasks/s", what, load, method);
    }

    private static Row note(Results results, String label, String unit, String what, Load load, String method) {
        String param = "load=" + load;
        return Row.of(what, results.note(label, "FleetPermits." + method, param), unit)
                .against("Redisson", results.note(label, "FleetPermits.redisson", param));
    }
}
