package dev.raddle.bench;

import dev.raddle.group.GroupPolicy;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.ThreadParams;

/**
 * How many empty tasks per second pass the groups and the saturated cap, each on a new virtual thread, when four
 * threads submit to random groups? The peer uses a fair semaphore as the cap.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@Fork(
        value = 3,
        jvmArgs = {Jvm.QUIET, Jvm.HEAP_START, Jvm.HEAP_MAX, Jvm.TOUCHED})
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Threads(Dispatch.SUBMITTERS)
public class DispatchOnThreads {

    private static final int MOST_UNFINISHED = Dispatch.FEWEST_WAITING / Dispatch.SUBMITTERS;

    /** The implementation of the cap. */
    @Param({"raddle", "semaphore"})
    public String cap;

    private final String[] keys = Batch.keys(1000);
    private KeyedExecutor executor;

    /** Creates the executor. */
    @Setup
    public void open() {
        Semaphore shared = new Semaphore(Dispatch.CAP, true);
        executor = cap.equals("semaphore")
                ? KeyedExecutor.semaphores(key -> shared)
                : KeyedExecutor.raddle(GroupPolicy.builder()
                        .defaultMaxConcurrencyPerGroup(Dispatch.CAP)
                        .globalMaxInFlight(Dispatch.CAP)
                        .build());
    }

    /** Shuts the executor down. */
    @TearDown
    public void close() {
        executor.close();
    }

    /** Each submitter's choice of groups, and its tasks that have not ended. */
    @State(Scope.Thread)
    public static class Submitter {
        private final AtomicInteger unfinished = new AtomicInteger();
        private final Callable<Void> task = () -> {
            unfinished.getAndDecrement();
            return null;
        };
        private SplittableRandom random;

        /** Seeds the sequence of each submitter. */
        @Setup
        public void seed(ThreadParams thread) {
            random = new SplittableRandom(thread.getThreadIndex());
        }
    }

    /** Submits a task, once fewer than the maximum of this thread's tasks are unfinished. */
    @Benchmark
    @SuppressWarnings("ThreadPriorityCheck") // there are more submitters than processors
    public void turn(Submitter submitter) {
        while (submitter.unfinished.get() >= MOST_UNFINISHED) {
            Thread.yield();
        }
        submitter.unfinished.getAndIncrement();
        executor.submit(keys[submitter.random.nextInt(keys.length)], submitter.task);
    }

    static List<Row> rows(Results results) {
        return List.of(Row.of(
                        "the same on fresh virtual threads, 1000 groups",
                        results.score("DispatchOnThreads.turn", "cap=raddle").times(1e-6),
                        "M/s")
                .against(
                        "fair semaphore",
                        results.score("DispatchOnThreads.turn", "cap=semaphore").times(1e-6)));
    }
}
