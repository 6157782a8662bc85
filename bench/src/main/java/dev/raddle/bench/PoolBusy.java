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
import org.openjdk.jmh.infra.Blackhole;

/** What does a task of one microsecond cost with two workers, compared with the JDK's pool? */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(PoolBusy.TASKS)
@Fork(
        value = 3,
        jvmArgs = {Jvm.QUIET, Jvm.HEAP_START, Jvm.HEAP_MAX, Jvm.TOUCHED, Jvm.TWO_PROCESSORS})
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 4, time = 1)
public class PoolBusy {

    static final int TASKS = 200_000;

    private static final long WORK_NANOS = 1000;

    /** The pool. Producers wait for space in a bounded queue. */
    @Param({"RADDLE", "LINKED", "RADDLE_BOUNDED", "LINKED_BOUNDED", "ARRAY_BOUNDED"})
    public PoolPeer peer;

    /** The number of threads that submit. */
    @Param("1")
    public int producers;

    private PoolBatch batch;

    /** Calibrates the work, and starts the workers. */
    @Setup
    public void open() {
        long tokens = Work.tokens(WORK_NANOS);
        batch = new PoolBatch(peer, () -> Blackhole.consumeCPU(tokens));
    }

    /** Closes the pool. */
    @TearDown
    public void close() {
        batch.close();
    }

    /** Submits to the idle pool, and waits until all tasks have run. */
    @Benchmark
    public void busy() throws InterruptedException, ExecutionException {
        batch.run(TASKS, producers);
    }

    static List<Row> rows(Results results) {
        List<Row> rows = new ArrayList<>();
        rows.addAll(PoolRows.timeAndCpu(
                results,
                "PoolBusy.busy",
                "a task of 1 µs, capacity 1,024",
                0.8,
                PoolPeer.RADDLE_BOUNDED,
                List.of(PoolPeer.LINKED_BOUNDED, PoolPeer.ARRAY_BOUNDED)));
        rows.addAll(PoolRows.timeAndCpu(
                results,
                "PoolBusy.busy",
                "a task of 1 µs, unbounded queue",
                1,
                PoolPeer.RADDLE,
                List.of(PoolPeer.LINKED)));
        return rows;
    }
}
