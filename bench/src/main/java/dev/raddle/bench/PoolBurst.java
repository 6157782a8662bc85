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

/** What does an empty task of a burst cost with two workers and an unbounded queue, compared with the JDK's pool? */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(PoolBurst.TASKS)
@Fork(
        value = 3,
        jvmArgs = {Jvm.QUIET, Jvm.HEAP_START, Jvm.HEAP_MAX, Jvm.TOUCHED, Jvm.TWO_PROCESSORS})
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class PoolBurst {

    static final int TASKS = 1_000_000;

    /** The pool. */
    @Param({"RADDLE", "LINKED"})
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

    /** Submits a burst to the idle pool, and waits until it has run. */
    @Benchmark
    public void burst() throws InterruptedException, ExecutionException {
        batch.run(TASKS, producers);
    }

    static List<Row> rows(Results results) {
        List<Row> rows = new ArrayList<>();
        for (String producers : List.of("1", "4")) {
            rows.addAll(PoolRows.timeAndCpu(
                    results,
                    "PoolBurst.burst",
                    "an empty task of a burst, " + PoolRows.producers(producers),
                    0.5,
                    PoolPeer.RADDLE,
                    List.of(PoolPeer.LINKED),
                    "producers=" + producers));
        }
        return rows;
    }
}
