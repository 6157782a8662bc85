package dev.raddle.checks.stress;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowRun;
import dev.raddle.flow.Node;
import dev.raddle.flow.NodeState;
import dev.raddle.flow.RunOptions;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/** A run whose nodes are executed, and whose time is advanced, by the actors. */
final class FlowRig {

    /** The timeout of the run. */
    static final Duration LIMIT = Duration.ofMillis(1);

    private static final Duration LONG = Duration.ofSeconds(10);

    final VirtualTime time = new VirtualTime();
    final StepScheduler steps = new StepScheduler();
    final FlowRun<Void> run;

    FlowRig(Consumer<FlowBuilder<Void>> nodes) {
        this(nodes, UnaryOperator.identity());
    }

    FlowRig(Consumer<FlowBuilder<Void>> nodes, UnaryOperator<RunOptions> options) {
        FlowBuilder<Void> builder = FlowPlan.define("flow");
        nodes.accept(builder);
        run = builder.build()
                .start(
                        null,
                        options.apply(
                                RunOptions.timeout(LIMIT).withTimeSource(time).withScheduler(steps)));
    }

    /**
     * Runs a ready node and what its thread runs after it; returns "interrupted" if the thread is then interrupted, or
     * "free".
     */
    String runNext() {
        steps.runNext();
        return Thread.interrupted() ? "interrupted" : "free";
    }

    /** Lets the timeout of the run pass. */
    void expire() {
        time.advance(LIMIT);
    }

    /**
     * Runs all remaining nodes and returns the status of the run, or "never". A thread that an alarm started may end
     * the run.
     */
    String end() {
        for (long giveUp = System.nanoTime() + LONG.toNanos(); !run.isDone(); Thread.onSpinWait()) {
            if (System.nanoTime() - giveUp > 0) {
                return "never";
            }
            steps.runAll();
        }
        return join();
    }

    /** Waits for the end of the run, or runs it in this thread if its options say so. */
    String join() {
        try {
            return run.join().status().toString();
        } catch (InterruptedException unexpected) {
            throw new IllegalStateException(unexpected);
        }
    }

    NodeState state(Node<?> node) {
        return run.state(node.id());
    }
}
