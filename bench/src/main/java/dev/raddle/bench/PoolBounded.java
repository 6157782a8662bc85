package dev.raddle.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What does an empty task cost with two workers and producers that wait for space in the queue, compared with the JDK?
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(PoolBounded.TASKS)
@Fork(
        value = 3,
        jvmArgs = {Jvm.QUIET, Jvm.HEAP_START, Jvm.HEAP_MAX, Jvm.TOUCHED, Jvm.TWO_PROCESSORS})
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 4, time = 1)
public class PoolBounded {

    static final int TASKS = 1_000_000;

    /** The pool. */
    @Param({"RADDLE_BOUNDED", "LINKED_BOUNDED", "ARRAY_BOUNDED"})
    public PoolPeer peer;

    /** The number of threads that submit. */
    @Param({"1", "4"})
    public int producers;

    private PoolBatch batch;

    /** Starts the workers. */
    @Setup
    public void open() {
        batch = new PoolBatch(peer, () -> {});
    }

    /** Closes the pool. */
    @TearDown
    public void close() {
        batch.close();
    }

    /** Submits to the idle pool as fast as its queue allows, and waits until all tasks have run. */
    @Benchmark
    public void bounded() throws InterruptedException, ExecutionException {
        batch.run(TASKS, producers);
    }

    static List<Row> rows(Results results) {
        List<Row> rows = new ArrayList<>();
        for (String producers : List.of("1", "4")) {
            rows.addAll(PoolRows.timeAndCpu(
                    results,
                    "PoolBounded.bounded",
                    "an empty task, capacity 1,024, " + PoolRows.producers(producers),
                    0.75,
                    PoolPeer.RADDLE_BOUNDED,
                    List.of(PoolPeer.LINKED_BOUNDED, PoolPeer.ARRAY_BOUNDED),
                    "producers=" + producers));
        }
        return rows;
    }
}
