package dev.raddle.bench;

import dev.raddle.group.GroupPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToIntFunction;
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
 * How far is a group's share of the cap's time from its share of the weights, when every group has a backlog? The peer
 * uses a fair semaphore as the cap, which has neither weights nor times.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@Fork(
        value = 3,
        jvmArgs = {Jvm.QUIET, Jvm.HEAP_START, Jvm.HEAP_MAX})
@Warmup(iterations = 0)
@Measurement(iterations = 1)
public class ShareOfCap {

    private static final int CAP = 16;
    private static final int WAITING = 200; // in each group

    /** The competing groups. */
    public enum Rivals {
        /** The same tasks, weights 1, 2 and 4. */
        WEIGHTS(new int[] {1, 2, 4}, new int[] {10, 10, 10}),
        /** The same weight, tasks of 20 ms and of 2 ms. */
        LENGTHS(new int[] {1, 1}, new int[] {20, 2});

        private final int[] weights;
        private final int[] millis;

        Rivals(int[] weights, int[] millis) {
            this.weights = weights;
            this.millis = millis;
        }
    }

    /** The competing groups. */
    @Param
    public Rivals rivals;

    /** The duration of the measurement. */
    @Param("6")
    public int seconds;

    /** Raddle. */
    @Benchmark
    public void raddle() throws InterruptedException {
        ToIntFunction<String> weight = key -> rivals.weights[Integer.parseInt(key)];
        measure(KeyedExecutor.raddle(GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(CAP)
                .globalMaxInFlight(CAP)
                .weightResolver(weight)
                .build()));
    }

    /** A fair semaphore that all groups share. */
    @Benchmark
    @Fork(1)
    public void semaphore() throws InterruptedException {
        Semaphore shared = new Semaphore(CAP, true);
        measure(KeyedExecutor.semaphores(key -> shared));
    }

    private void measure(KeyedExecutor executor) {
        long begin = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
        long end = begin + TimeUnit.SECONDS.toNanos(seconds);
        List<LongAdder> held = new ArrayList<>();
        List<Flood> floods = new ArrayList<>();
        for (int i = 0; i < rivals.weights.length; i++) {
            int millis = rivals.millis[i];
            LongAdder sum = new LongAdder();
            held.add(sum);
            floods.add(new Flood(executor, String.valueOf(i), () -> {
                long start = System.nanoTime();
                Flood.sleep(millis);
                sum.add(Math.max(0, Math.min(System.nanoTime(), end) - Math.max(start, begin)));
            }));
        }
        floods.forEach(flood -> flood.begin(WAITING));
        while (System.nanoTime() < end + TimeUnit.MILLISECONDS.toNanos(50)) {
            Flood.sleep(10);
        }
        floods.forEach(Flood::end);
        executor.close();
        Measured.note("deviation", deviation(held), "points");
        Measured.note("use", 100 * total(held) / (CAP * seconds * 1e9), "%");
    }

    private static double total(List<LongAdder> held) {
        return held.stream().mapToLong(LongAdder::sum).sum();
    }

    private double deviation(List<LongAdder> held) {
        double weights = 0;
        for (int weight : rivals.weights) {
            weights += weight;
        }
        double largest = 0;
        for (int i = 0; i < held.size(); i++) {
            double share = held.get(i).sum() / total(held);
            largest = Math.max(largest, 100 * Math.abs(share - rivals.weights[i] / weights));
        }
        return largest;
    }

    static List<Row> rows(Results results) {
        return List.of(
                row(results, "shares of the cap's time, weights 1 : 2 : 4, largest deviation", Rivals.WEIGHTS),
                row(results, "shares of the cap's time, tasks of 20 ms : 2 ms, largest deviation", Rivals.LENGTHS));
    }

    private static Row row(Results results, String what, Rivals rivals) {
        return Row.of(what, results.note("deviation", "ShareOfCap.raddle", "rivals=" + rivals), "points")
                .against("fair semaphore", results.note("deviation", "ShareOfCap.semaphore", "rivals=" + rivals))
                .atMost(1);
    }
}
