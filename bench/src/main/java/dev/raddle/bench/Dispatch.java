package dev.raddle.bench;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.TaskHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.ThreadParams;

/**
 * How many tasks per second pass the groups and the saturated cap when four threads submit to random groups? The cost
 * of threads is excluded: each submitter runs one granted task, which is empty, for every task that it submits, so
 * that the number of waiting tasks is constant.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@Fork(
        value = 3,
        jvmArgs = {Jvm.QUIET, Jvm.HEAP_START, Jvm.HEAP_MAX, Jvm.TOUCHED})
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 10, time = 1)
@Threads(Dispatch.SUBMITTERS)
public class Dispatch {

    static final int SUBMITTERS = 4;
    static final int CAP = 64;
    static final int FEWEST_WAITING = 20_000;

    private static final Callable<Void> EMPTY = () -> null;

    /** The number of groups. */
    @Param({"1", "10", "1000", "100000"})
    public int groups;

    private final Lanes lanes = new Lanes(SUBMITTERS + 1, CAP);
    private GroupExecutor executor;
    private String[] keys;

    /** Each submitter's choice of groups. */
    @State(Scope.Thread)
    public static class Submitter {
        private SplittableRandom random;

        /** Seeds the sequence of each submitter. */
        @Setup
        public void seed(ThreadParams thread) {
            random = new SplittableRandom(thread.getThreadIndex());
        }
    }

    /** Fills the groups: four waiting tasks in each, but not fewer than {@value #FEWEST_WAITING} in all. */
    @Setup
    public void fill() {
        keys = Batch.keys(groups);
        executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(CAP)
                .globalMaxInFlight(CAP)
                .scheduler(key -> lanes)
                .build());
        SplittableRandom random = new SplittableRandom(SUBMITTERS);
        for (int i = 0; i < CAP + Math.max(FEWEST_WAITING, 4 * groups); i++) {
            executor.submit(keys[random.nextInt(groups)], "task", EMPTY);
        }
    }

    /** Runs a task, whose end grants another, and submits one. */
    @Benchmark
    @SuppressWarnings("ThreadPriorityCheck") // there are more submitters than processors
    public TaskHandle<Void> turn(Submitter submitter) {
        Runnable granted = lanes.take();
        while (granted == null) {
            Thread.yield();
            granted = lanes.take();
        }
        granted.run();
        return executor.submit(keys[submitter.random.nextInt(groups)], "task", EMPTY);
    }

    static List<Row> rows(Results results) {
        List<Row> rows = new ArrayList<>();
        for (String groups : List.of("1", "10", "1000", "100000")) {
            Stat rate = results.score("Dispatch.turn", "groups=" + groups).times(1e-6);
            rows.add(Row.of("dispatches, cap saturated, 4 submitters, " + Row.groups(groups), rate, "M/s")
                    .atLeast(groups.equals("100000") ? 1.2 : 2));
        }
        for (String groups : List.of("1", "10", "1000", "100000")) {
            Stat steadiness = results.lowestOfMedian("Dispatch.turn", "groups=" + groups);
            rows.add(Row.of("slowest of 10 runs against the median, " + Row.groups(groups), steadiness, "×")
                    .atLeast(groups.equals("100000") ? 0.8 : 0.7));
        }
        return rows;
    }
}
