package dev.raddle.bench;

import dev.raddle.group.GroupPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How long does group B wait, in lengths of a task, when it submits ten tasks at a random time while thousands of
 * tasks of group A, of the same length, wait for the common cap? The peer uses a fair semaphore as the cap.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@Fork(
        value = 3,
        jvmArgs = {Jvm.QUIET, "-Xms4g", "-Xmx4g"})
@Warmup(iterations = 0)
@Measurement(iterations = 1)
public class WaitBehindFlood {

    private static final int CAP = 16;
    private static final int BURST = 10;
    private static final int TASK_MILLIS = 10;
    private static final double TASK_NANOS = TASK_MILLIS * 1e6;

    /** The constant number of waiting tasks of A. */
    @Param({"100", "10000", "1000000"})
    public int flood;

    /** The duration of the measurement. */
    @Param("10")
    public int seconds;

    private final Random random = new Random(42);

    /** Raddle. */
    @Benchmark
    public void raddle() throws InterruptedException {
        measure(KeyedExecutor.raddle(GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(CAP)
                .globalMaxInFlight(CAP)
                .build()));
    }

    /** A fair semaphore that all groups share. */
    @Benchmark
    @Fork(1)
    public void semaphore() throws InterruptedException {
        Semaphore shared = new Semaphore(CAP, true);
        measure(KeyedExecutor.semaphores(key -> shared));
    }

    private void measure(KeyedExecutor executor) throws InterruptedException {
        Samples waits = new Samples();
        int unfinished = 0;
        Flood flood = new Flood(executor, "A", () -> Flood.sleep(TASK_MILLIS)).begin(CAP + this.flood);
        try {
            Flood.sleep(500);
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
            do {
                Flood.sleep(random.nextInt(20, 120));
                unfinished += burst(executor, waits);
            } while (unfinished == 0 && System.nanoTime() < end);
        } finally {
            flood.end();
            executor.close();
        }
        Measured.note("p99", waits.quantile(0.99) / TASK_NANOS, "lengths");
        Measured.note("waits", waits.count(), "samples");
        Measured.note("unfinished", unfinished, "samples");
    }

    /**
     * Submits a burst of B. Returns the number of tasks that have not started after the duration of the measurement;
     * these count as started then.
     */
    private int burst(KeyedExecutor executor, Samples waits) throws InterruptedException {
        List<Waiter> burst = new ArrayList<>();
        CountDownLatch started = new CountDownLatch(BURST);
        for (int i = 0; i < BURST; i++) {
            Waiter waiter = new Waiter(started, System.nanoTime());
            burst.add(waiter);
            executor.submit("B", waiter);
        }
        boolean all = started.await(seconds, TimeUnit.SECONDS);
        long now = System.nanoTime();
        burst.forEach(waiter -> waits.add((waiter.start == 0 ? now : waiter.start) - waiter.submitted));
        Flood.sleep(2 * TASK_MILLIS); // until B is idle again
        return all ? 0 : (int) started.getCount();
    }

    private static final class Waiter implements Callable<Void> {
        private final CountDownLatch started;
        private final long submitted;
        private volatile long start;

        Waiter(CountDownLatch started, long submitted) {
            this.started = started;
            this.submitted = submitted;
        }

        @Override
        public Void call() {
            start = System.nanoTime();
            started.countDown();
            Flood.sleep(TASK_MILLIS);
            return null;
        }
    }

    static List<Row> rows(Results results) {
        List<Row> rows = new ArrayList<>();
        for (String flood : List.of("100", "10000", "1000000")) {
            boolean gaveUp = results.note("unfinished", "WaitBehindFlood.semaphore", "flood=" + flood)
                            .largest()
                    > 0;
            rows.add(Row.of(
                            "p99 wait of a burst of 10 behind " + Row.count(flood) + ", cap 16, in lengths of a task",
                            results.note("p99", "WaitBehindFlood.raddle", "flood=" + flood),
                            "")
                    .against(
                            gaveUp ? "fair semaphore: not started after" : "fair semaphore",
                            results.note("p99", "WaitBehindFlood.semaphore", "flood=" + flood))
                    .atMost(1.3));
        }
        return rows;
    }
}
