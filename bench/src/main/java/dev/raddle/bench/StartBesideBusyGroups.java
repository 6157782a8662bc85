package dev.raddle.bench;

import dev.raddle.group.GroupPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/**
 * How soon does a task start that a platform thread submits to an idle group every few milliseconds, while four other
 * groups keep the two carriers of virtual threads busy?
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@Fork(
        value = 3,
        jvmArgs = {Jvm.QUIET, Jvm.HEAP_START, Jvm.HEAP_MAX, Jvm.TWO_PROCESSORS})
@Warmup(iterations = 0)
@Measurement(iterations = 1)
public class StartBesideBusyGroups {

    private static final int BUSY_GROUPS = 4;
    private static final int LIMIT = 8;
    private static final int WAITING = 100; // in each busy group
    private static final long WORK_NANOS = 100_000;

    /** The duration of the measurement. */
    @Param("5")
    public int seconds;

    private final Random random = new Random(42);
    private long work;

    /** Calibrates the work of a tenth of a millisecond. */
    @Setup
    public void calibrate() {
        work = Work.tokens(WORK_NANOS);
    }

    /** Raddle with the automatic cap. */
    @Benchmark
    public void capped() throws InterruptedException {
        measure(KeyedExecutor.raddle(GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(LIMIT)
                .globalMaxInFlight(GroupPolicy.AUTO)
                .build()));
    }

    /** Raddle without a cap. */
    @Benchmark
    public void uncapped() throws InterruptedException {
        measure(KeyedExecutor.raddle(
                GroupPolicy.builder().defaultMaxConcurrencyPerGroup(LIMIT).build()));
    }

    /** A semaphore for each group. */
    @Benchmark
    public void semaphore() throws InterruptedException {
        measure(KeyedExecutor.semaphores(key -> new Semaphore(LIMIT)));
    }

    private void measure(KeyedExecutor executor) throws InterruptedException {
        List<Flood> busy = new ArrayList<>();
        for (int i = 0; i < BUSY_GROUPS; i++) {
            busy.add(new Flood(executor, "busy-" + i, () -> Blackhole.consumeCPU(work)).begin(WAITING));
        }
        Samples starts = new Samples();
        Flood.sleep(1000);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (System.nanoTime() < end) {
            Flood.sleep(random.nextInt(1, 6));
            starts.add(start(executor));
        }
        busy.forEach(Flood::end);
        executor.close();
        Measured.note("p99", starts.quantile(0.99) / 1e6, "ms");
        Measured.note("p50", starts.quantile(0.5) / 1e6, "ms");
        Measured.note("starts", starts.count(), "samples");
    }

    private static long start(KeyedExecutor executor) throws InterruptedException {
        AtomicLong started = new AtomicLong();
        CountDownLatch hasStarted = new CountDownLatch(1);
        long submitted = System.nanoTime();
        executor.submit("outside", () -> {
            started.set(System.nanoTime());
            hasStarted.countDown();
            return null;
        });
        boolean inTime = hasStarted.await(2, TimeUnit.SECONDS); // otherwise it counts as started now
        return (inTime ? started.get() : System.nanoTime()) - submitted;
    }

    static List<Row> rows(Results results) {
        String what = "p99 start of an outside submit beside CPU-bound groups, 2 carriers, ";
        Stat semaphore = results.note("p99", "StartBesideBusyGroups.semaphore");
        return List.of(
                Row.of(what + "cap AUTO", results.note("p99", "StartBesideBusyGroups.capped"), "ms")
                        .against("semaphore", semaphore)
                        .atMost(1),
                Row.of(what + "no cap, cut at 2 s", results.note("p99", "StartBesideBusyGroups.uncapped"), "ms")
                        .against("semaphore", semaphore));
    }
}
