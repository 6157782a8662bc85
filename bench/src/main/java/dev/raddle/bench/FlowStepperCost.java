package dev.raddle.bench;

import dev.raddle.flow.CallResult;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowStepper;
import dev.raddle.flow.RunOptions;
import dev.raddle.flow.Step;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
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
import org.openjdk.jmh.annotations.Warmup;

/**
 * What does a transition of a flow's stepper cost: the report of one result, with all steps that follow? With the call
 * of an empty action, and compared with an empty node of a run in its caller's thread? Divide by the
 * number of nodes.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(
        value = 3,
        jvmArgs = {Jvm.QUIET, Jvm.HEAP_START, Jvm.HEAP_MAX, Jvm.TOUCHED, Jvm.TWO_PROCESSORS})
@Warmup(iterations = 3, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 200, timeUnit = TimeUnit.MILLISECONDS)
public class FlowStepperCost {

    private static final CallResult RESULT = new CallResult.Returned("x");
    private static final List<String> SHAPES = List.of("chain 100", "layers 1000");

    /** The graph. */
    @Param({"chain 100", "layers 1000"})
    public String shape;

    private final RunOptions options = RunOptions.defaults();
    private final RunOptions here = options.inCallersThread();
    private FlowPlan<Void, Object> plan;
    private int nodes;

    /** Builds the plan. */
    @Setup
    public void setUp() {
        FlowShape graph = FlowShape.of(shape);
        plan = graph.declare().plan();
        nodes = graph.nodes();
    }

    private static Object drive(FlowStepper<Object> stepper, boolean calls, int reports) {
        ArrayDeque<Step.Work> open = new ArrayDeque<>();
        List<Step> steps = stepper.start(Instant.EPOCH);
        for (int each = 0; each < reports; each++) {
            for (Step step : steps) {
                if (step instanceof Step.Work work) {
                    open.add(work);
                }
            }
            Step.Work work = open.remove();
            steps = stepper.settled(work, calls ? stepper.call(work) : RESULT, each);
        }
        return steps;
    }

    /** A run whose results are constants. */
    @Benchmark
    public Object reports() {
        return drive(plan.stepper(null, options), false, nodes);
    }

    /** A run whose actions are called. */
    @Benchmark
    public Object callsAndReports() {
        return drive(plan.stepper(null, options), true, nodes);
    }

    /** A run in the caller's thread. */
    @Benchmark
    public Object inCallersThread() throws InterruptedException {
        return plan.run(null, here).value();
    }

    static List<Row> rows(Results results) {
        List<Row> rows = new ArrayList<>();
        for (String shape : SHAPES) {
            int nodes = FlowShape.of(shape).nodes();
            rows.add(Row.of("a transition of a stepper, " + shape, time(results, "reports", shape, nodes), "ns")
                    .against("a node in the caller's thread", time(results, "inCallersThread", shape, nodes)));
            rows.add(Row.of(
                    "the same with the call of an empty action", time(results, "callsAndReports", shape, nodes), "ns"));
        }
        return rows;
    }

    private static Stat time(Results results, String method, String shape, int nodes) {
        return results.score("FlowStepperCost." + method, "shape=" + shape).times(1.0 / nodes);
    }
}
