package dev.raddle.bench;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Semaphore;
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
 * What does a task cost that sleeps for a millisecond on one of 64 threads? A hundred tasks per thread are submitted at
 * once; on virtual threads, a semaphore admits 64 tasks at a time.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(PoolBlocking.TASKS)
@Fork(
        value = 3,
        jvmArgs = {Jvm.QUIET, Jvm.HEAP_START, Jvm.HEAP_MAX, Jvm.TOUCHED, Jvm.TWO_PROCESSORS})
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 4, time = 1)
public class PoolBlocking {

    static final int TASKS = 6400;

    private static final int THREADS = 64;
    private static final int MILLIS = 1;

    /** The pool. */
    @Param({"RADDLE", "LINKED", "FORK_JOIN", "VIRTUAL"})
    public PoolPeer peer;

    private final Semaphore permits = new Semaphore(THREADS);
    private ExecutorService pool;

    /** Starts the threads. */
    @Setup
    public void open() {
        pool = peer.open(THREADS);
    }

    /** Closes the pool. */
    @TearDown
    public void close() {
        pool.close();
    }

    /** Submits to the idle pool, and waits until all tasks have run. */
    @Benchmark
    public void blocking() throws InterruptedException {
        CountDownLatch left = new CountDownLatch(TASKS);
        Runnable task = () -> {
            Flood.sleep(MILLIS);
            left.countDown();
        };
        Runnable guarded = peer == PoolPeer.VIRTUAL ? () -> withPermit(task) : task;
        for (int i = 0; i < TASKS; i++) {
            pool.execute(guarded);
        }
        left.await();
    }

    private void withPermit(Runnable task) {
        permits.acquireUninterruptibly();
        try {
            task.run();
        } finally {
            permits.release();
        }
    }

    static List<Row> rows(Results results) {
        List<Row> rows = new ArrayList<>();
        for (PoolPeer peer : List.of(PoolPeer.LINKED, PoolPeer.FORK_JOIN, PoolPeer.VIRTUAL)) {
            PoolRows.timeAndCpu(
                            results,
                            "PoolBlocking.blocking",
                            "a task that sleeps 1 ms, 64 threads",
                            1,
                            PoolPeer.RADDLE,
                            List.of(peer))
                    .forEach(row -> rows.add(row.ratioAtMost(1)));
        }
        rows.sort(Comparator.comparing(Row::what).reversed()); // time of all peers, then CPU
        return rows;
    }
}
