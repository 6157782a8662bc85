package dev.raddle.bench;

import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.RunOptions;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.scope.StructuredTaskScope;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Does one unit cost as much among many as among few? The numbers of an invocation are divided by its units: tasks that
 * wait in a tenth as many groups, nodes of a flow, subtasks of a scope. A unit of a fleet is a task in one of many
 * groups, of which each invocation runs one.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(
        value = 3,
        jvmArgs = {Jvm.QUIET, "--enable-native-access=ALL-UNNAMED", Jvm.HEAP_START, Jvm.HEAP_MAX, Jvm.TOUCHED})
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 3, time = 1)
public class Scale {

    private static final Callable<Void> EMPTY = () -> null;

    /** Tasks that wait in groups with one permit each. */
    @State(Scope.Benchmark)
    public static class Tasks {
        /** The number of tasks. */
        @Param({"1000", "10000", "100000", "1000000"})
        public int tasks;

        private final Queue<Runnable> started = new ArrayDeque<>();
        private final GroupPolicy policy = GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(1)
                .scheduler(key -> started::add)
                .build();
        private String[] keys;

        /** Makes the keys. */
        @Setup
        public void setUp() {
            keys = Batch.keys(tasks / 10);
        }
    }

    /** A flow. */
    @State(Scope.Benchmark)
    public static class Nodes {
        /** The graph. */
        @Param({"layers 100", "layers 1000", "layers 10000", "layers 100000"})
        public String shape;

        private final RunOptions here = RunOptions.defaults().inCallersThread();
        private FlowPlan<Void, Object> plan;

        /** Builds the plan. */
        @Setup
        public void setUp() {
            plan = FlowShape.of(shape).declare().plan();
        }
    }

    /** A scope. */
    @State(Scope.Benchmark)
    public static class Subtasks {
        /** The number of subtasks. */
        @Param({"10", "100", "1000", "10000"})
        public int subtasks;
    }

    /** Groups of a fleet. */
    @State(Scope.Benchmark)
    public static class Groups {
        /** The number of groups. */
        @Param({"1", "10", "100", "1000"})
        public int groups;

        private RedisProcess server;
        private FleetLimiter fleet;
        private int next;

        /** Starts a server, and lets each group have a task. */
        @Setup(Level.Trial)
        public void start() throws Exception {
            server = RedisProcess.start();
            fleet = FleetLimiter.raddle(server.uri(), groups, 1, 0, Duration.ZERO);
            for (int group = 0; group < groups; group++) {
                fleet.run(group, EMPTY);
            }
        }

        /** Ends the server. */
        @TearDown(Level.Trial)
        public void end() throws Exception {
            fleet.close();
            server.close();
        }
    }

    /** Submits all tasks, and then runs each that has been granted its permit, in this thread. */
    @Benchmark
    public void tasks(Tasks load) {
        GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(load.policy);
        for (int task = 0; task < load.tasks; task++) {
            executor.submit(load.keys[task % load.keys.length], "task", EMPTY);
        }
        for (Runnable run = load.started.poll(); run != null; run = load.started.poll()) {
            run.run();
        }
        executor.close();
    }

    /** Runs the flow in this thread. */
    @Benchmark
    public Object nodes(Nodes load) throws InterruptedException {
        return load.plan.run(null, load.here).value();
    }

    /** Forks and joins the subtasks. */
    @Benchmark
    public void subtasks(Subtasks load) throws InterruptedException {
        try (var scope = new StructuredTaskScope<Object>()) {
            for (int subtask = 0; subtask < load.subtasks; subtask++) {
                scope.fork(EMPTY);
            }
            scope.join();
        }
    }

    /** Runs a task in the next group. */
    @Benchmark
    public void groups(Groups load) throws Exception {
        load.fleet.run(load.next, EMPTY);
        load.next = (load.next + 1) % load.groups;
    }

    /** Returns the curves: of each kind of unit, over the number of units. */
    static List<Curve> curves(Results results) {
        return List.of(
                curve(results, "tasks", "a task that waits in a tenth as many groups", "tasks=", 1_000),
                curve(results, "nodes", "a node of a flow, caller's thread", "shape=layers ", 100),
                curve(results, "subtasks", "a subtask", "subtasks=", 10),
                curve(results, "groups", "a task of a fleet, in one of many groups", "groups=", 1));
    }

    private static Curve curve(Results results, String method, String what, String param, int smallest) {
        List<Curve.Point> points = new ArrayList<>();
        int size = smallest;
        for (int i = 0; i < 4; i++, size *= 10) {
            double share = method.equals("groups") ? 1 : 1.0 / size;
            String value = param + size;
            points.add(new Curve.Point(
                    size,
                    results.note(Measured.CPU, "Scale." + method, value).times(share),
                    results.note(Measured.ALLOCATED, "Scale." + method, value).times(share)));
        }
        return new Curve(method, what, points);
    }

    static List<Row> rows(Results results) {
        List<Row> rows = new ArrayList<>();
        for (Curve curve : curves(results)) {
            Curve.Point smallest = curve.points().getFirst();
            Curve.Point largest = curve.points().getLast();
            String of = String.format(Locale.ROOT, ", one of %,d", largest.size());
            String peer = String.format(Locale.ROOT, "one of %,d:", smallest.size());
            rows.add(Row.of("CPU of " + curve.what() + of, largest.cpu(), "ns")
                    .against(peer, smallest.cpu())
                    .ratioAtMost(1.5));
            rows.add(Row.of("allocated for it", largest.bytes(), "B")
                    .against(peer, smallest.bytes())
                    .ratioAtMost(1.5));
        }
        return rows;
    }
}
