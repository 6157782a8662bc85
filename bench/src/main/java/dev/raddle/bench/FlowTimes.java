package dev.raddle.bench;

import dev.raddle.flow.Dependency;
import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import dev.raddle.flow.RunOptions;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How long does a flow of blocking nodes take: a thousand nodes in ten layers, and chains of a thousand diamonds whose
 * root never ends, with a deadline of 100 ms?
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(
        value = 3,
        jvmArgs = {Jvm.QUIET, Jvm.HEAP_START, Jvm.HEAP_MAX, Jvm.TOUCHED, Jvm.TWO_PROCESSORS})
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class FlowTimes {

    static final String THREADS = "threads";

    private static final RunOptions DEADLINE = RunOptions.timeout(Duration.ofMillis(100));

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private FlowPlan<Void, Void> layers;
    private FlowPlan<Void, Void> anyDiamonds;
    private FlowPlan<Void, Void> mustDiamonds;

    /** Builds the plans. */
    @Setup
    public void setUp() {
        layers = layers();
        anyDiamonds = diamonds(true);
        mustDiamonds = diamonds(false);
    }

    private static FlowPlan<Void, Void> layers() {
        FlowBuilder<Void> f = FlowPlan.define("layers");
        List<Node<Object>> before = List.of();
        for (int layer = 0; layer < 10; layer++) {
            List<Node<Object>> nodes = new ArrayList<>();
            for (int each = 0; each < 100; each++) {
                Node<Object> node = f.node(layer + "-" + each, () -> {
                    Thread.sleep(1);
                    return "slept";
                });
                for (Node<Object> upstream : before) {
                    node.needs(Dependency.order(upstream));
                }
                nodes.add(node);
            }
            before = nodes;
        }
        return f.build();
    }

    private static FlowPlan<Void, Void> diamonds(boolean any) {
        FlowBuilder<Void> f = FlowPlan.define("diamonds");
        Node<Object> last = f.node("root", () -> {
            new CountDownLatch(1).await();
            return "never";
        });
        for (int each = 0; each < 1000; each++) {
            Node<Object> left = f.node("l" + each, last, x -> x);
            Node<Object> right = f.node("r" + each, last, x -> x);
            last = any
                    ? f.node("j" + each, Dependency.<Object>anyOf(left, right), x -> x)
                    : f.node("j" + each, left, right, (x, y) -> x);
        }
        return f.build();
    }

    /** A thousand nodes that block for one millisecond. */
    @Benchmark
    public Object layersOfBlockingNodes() throws InterruptedException {
        return layers.run(null).status();
    }

    /** Joins of any upstream, behind a root that never ends. */
    @Benchmark
    public Object anyDiamondsBehindBlockedRoot() throws InterruptedException {
        return run(anyDiamonds);
    }

    /** Joins of all upstreams, behind a root that never ends. */
    @Benchmark
    public Object mustDiamondsBehindBlockedRoot() throws InterruptedException {
        return run(mustDiamonds);
    }

    private Object run(FlowPlan<Void, Void> plan) throws InterruptedException {
        threads.resetPeakThreadCount();
        Object status = plan.run(null, DEADLINE).status();
        Measured.note(THREADS, threads.getPeakThreadCount(), "threads");
        return status;
    }

    static List<Row> rows(Results results) {
        return List.of(
                Row.of(
                                "1,000 nodes that block 1 ms, in 10 layers",
                                results.score("FlowTimes.layersOfBlockingNodes"),
                                "ms")
                        .atMost(13),
                Row.of(
                                "any-diamonds × 1,000, blocked root, deadline 100 ms",
                                results.score("FlowTimes.anyDiamondsBehindBlockedRoot"),
                                "ms")
                        .atMost(150),
                Row.of(
                                "platform threads meanwhile, at most",
                                results.note(THREADS, "FlowTimes.anyDiamondsBehindBlockedRoot"),
                                "threads")
                        .atMost(64),
                Row.of(
                                "must-diamonds × 1,000, blocked root, deadline 100 ms",
                                results.score("FlowTimes.mustDiamondsBehindBlockedRoot"),
                                "ms")
                        .atMost(150),
                Row.of(
                                "platform threads meanwhile, at most",
                                results.note(THREADS, "FlowTimes.mustDiamondsBehindBlockedRoot"),
                                "threads")
                        .atMost(64));
    }
}
