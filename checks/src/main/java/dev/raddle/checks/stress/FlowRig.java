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

/** A run whose nodes run, and whose time passes, when an actor says so. */
final class FlowRig {

    /** How much time the run has. */
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

    /** Runs a ready node, and what its thread goes on with; says whether an interrupt stayed with the thread. */
    String runNext() {
        steps.runNext();
        return Thread.interrupted() ? "interrupted" : "free";
    }

    void ring() {
        time.advance(LIMIT);
    }

    /** Runs what is left, and returns how the run ended, or "never". Its end may come from a thread that an alarm has started. */
    String end() {
        for (long giveUp = System.nanoTime() + LONG.toNanos(); !run.isDone(); Thread.onSpinWait()) {
            if (System.nanoTime() - giveUp > 0) {
                return "never";
            }
            steps.runAll();
        }
        return join();
    }

    /** Waits for the end of the run, or runs it here if it is to run in its caller's thread. */
    String join() {
        try {
            return run.join().status().toString();
        } catch (InterruptedException nobodyInterruptsActors) {
            throw new IllegalStateException(nobodyInterruptsActors);
        }
    }

    NodeState state(Node<?> node) {
        return run.state(node.id());
    }
}
