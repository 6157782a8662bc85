package dev.raddle.bench;

import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.RunOptions;
import dev.raddle.task.Scheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
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
 * What does a run of a flow of empty nodes cost, in its caller's thread and on a pool of two threads, compared with
 * hand-written futures on the same pool? What does its compilation cost? Divide by the number of nodes for one node.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(
        value = 3,
        jvmArgs = {Jvm.QUIET, Jvm.HEAP_START, Jvm.HEAP_MAX, Jvm.TOUCHED, Jvm.TWO_PROCESSORS})
@Warmup(iterations = 3, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 3, time = 500, timeUnit = TimeUnit.MILLISECONDS)
public class FlowNodes {

    /** The graph. */
    @Param({"chain 100", "fan 100", "layers 1000", "layers 10000", "diamonds 33"})
    public String shape;

    private final RunOptions here = RunOptions.defaults().inCallersThread();
    private FlowShape graph;
    private FlowShape.Declared declared;
    private FlowPlan<Void, Object> plan;
    private ForkJoinPool pool;
    private RunOptions onPool;

    /** Builds the plan. */
    @Setup
    public void setUp() {
        graph = FlowShape.of(shape);
        declared = graph.declare();
        plan = declared.plan();
        pool = new ForkJoinPool(2);
        onPool = RunOptions.defaults().withScheduler(Scheduler.from(pool));
    }

    /** Closes the pool. */
    @TearDown
    public void tearDown() {
        pool.close();
    }

    /** A run in the caller's thread. */
    @Benchmark
    public Object inCallersThread() throws InterruptedException {
        return plan.run(null, here).value();
    }

    /** A run on the pool. */
    @Benchmark
    public Object onPool() throws InterruptedException {
        return plan.run(null, onPool).value();
    }

    /** Hand-written futures. */
    @Benchmark
    public Object futures() {
        return graph.futures(pool);
    }

    /** The compilation of declared nodes. */
    @Benchmark
    public Object compile() {
        return declared.plan();
    }

    /** The declaration, including its lambdas, the compilation, and the first run in the caller's thread. */
    @Benchmark
    public Object untilFirstResult() throws InterruptedException {
        return graph.declare().plan().run(null, here).value();
    }

    static List<Row> rows(Results results) {
        List<Row> rows = new ArrayList<>();
        for (String shape : List.of("chain 100", "fan 100", "layers 1000", "layers 10000", "diamonds 33")) {
            int nodes = FlowShape.of(shape).nodes();
            rows.add(Row.of(
                            "an empty node, " + shape + ", caller's thread",
                            time(results, "inCallersThread", shape, nodes),
                            "ns")
                    .atMost(40));
            rows.add(Row.of("allocated for it", bytes(results, "inCallersThread", shape, nodes), "B")
                    .atMost(32));
            rows.add(Row.of("the same on ForkJoinPool(2)", time(results, "onPool", shape, nodes), "ns")
                    .against("CompletableFuture", time(results, "futures", shape, nodes))
                    .ratioAtMost(1.0));
            rows.add(Row.of("allocated for it", bytes(results, "onPool", shape, nodes), "B")
                    .against("CompletableFuture", bytes(results, "futures", shape, nodes))
                    .ratioAtMost(1.0 / 3));
            rows.add(Row.of("compiling it", time(results, "compile", shape, nodes), "ns")
                    .atMost(150));
            rows.add(Row.of(
                    "declaring, compiling and running it", time(results, "untilFirstResult", shape, nodes), "ns"));
        }
        return rows;
    }

    private static Stat time(Results results, String method, String shape, int nodes) {
        return results.score("FlowNodes." + method, "shape=" + shape).times(1.0 / nodes);
    }

    private static Stat bytes(Results results, String method, String shape, int nodes) {
        return results.note(Measured.ALLOCATED, "FlowNodes." + method, "shape=" + shape)
                .times(1.0 / nodes);
    }
}
