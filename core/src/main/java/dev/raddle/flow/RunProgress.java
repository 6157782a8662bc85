package dev.raddle.flow;

import dev.raddle.flow.threads.Runner;
import dev.raddle.kernel.TimeLimit;
import dev.raddle.lock.Fields;
import dev.raddle.task.CancelledException;
import dev.raddle.task.TaskTimeoutException;
import dev.raddle.time.Signal;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** How far a run is: why it was stopped, how many nodes and outputs have not ended, and which status it has. */
final class RunProgress {

    /*
     * Overview. `stop` is set once, by the deadline, a cancel, the first failure under FAIL_FAST, or the completion,
     * which excludes the others.
     *
     * `remaining` counts the nodes whose end has not been reported, plus one for the start of the run. A runner
     * subtracts the nodes that it has finished in batches. The thread that brings `remaining` to zero completes the run
     * (Engine). It never leaves zero: a node that opens a nested run adds one to it, until the nested run has ended,
     * unless it is zero. So the run ends once.
     *
     * `pendingOutputs` counts the outputs that have not ended or whose callbacks have not returned. The thread that
     * brings it to zero decrements first and then reads whether a thread waits for the value; a waiting thread
     * announces itself first and then reads the count.
     */

    private static final VarHandle STOP = Fields.handle(MethodHandles.lookup(), "stop", Stop.class);
    private static final VarHandle REMAINING = Fields.handle(MethodHandles.lookup(), "remaining", int.class);
    private static final VarHandle PENDING_OUTPUTS = Fields.handle(MethodHandles.lookup(), "pendingOutputs", int.class);

    /** The reason why the run was stopped. */
    record Stop(FlowStatus status, @Nullable Throwable cause, int causedBy) {
        static final Stop COMPLETE = new Stop(FlowStatus.SUCCESS, null, NodeEnd.NO_NODE);
    }

    private final RunEnvironment run;
    private final NodeStates states;
    private volatile @Nullable Stop stop;
    private List<CompensationFailure> nestedFailures = List.of(); // of the runs nested in this one; guarded by this
    private volatile int remaining;
    private volatile int pendingOutputs;
    private volatile @Nullable Signal valueKnown; // set when no output is pending; null until a thread waits for it

    RunProgress(RunEnvironment run, NodeStates states) {
        this.run = run;
        this.states = states;
        remaining = run.graph.size + 1;
        pendingOutputs = run.graph.outputs.length;
    }

    boolean trySetStop(Stop why) {
        return STOP.compareAndSet(this, (Stop) null, why);
    }

    /** Returns whether the nodes that have not ended are being ended. */
    boolean isStopping() {
        Stop why = stop;
        return why != null && why != Stop.COMPLETE;
    }

    @Nullable
    Stop stopped() {
        return stop;
    }

    /** Returns the number of nodes whose end was not reported; one more before the start of the run was. */
    int remaining() {
        return remaining;
    }

    /** Increments the count that must be zero before the run ends. Returns false if it is zero: the run is ending. */
    boolean tryAddRemaining() {
        for (int count = remaining; count > 0; count = remaining) {
            if (REMAINING.compareAndSet(this, count, count + 1)) {
                return true;
            }
        }
        return false;
    }

    /** Subtracts the nodes that a runner has finished. Returns whether they were the last. */
    boolean subtractFinished(Runner runner) {
        int finished = runner.finished;
        runner.finished = 0;
        return finished > 0 && (int) REMAINING.getAndAdd(this, -finished) == finished;
    }

    /** Keeps the compensations that have failed in the nested run of a node. */
    synchronized void keepFailures(int node, List<CompensationFailure> failures) {
        List<CompensationFailure> all = new ArrayList<>(nestedFailures);
        failures.forEach(
                each -> all.add(new CompensationFailure(run.graph.ids[node] + "/" + each.node(), each.cause())));
        nestedFailures = all;
    }

    /** Returns the compensations that have failed, in nested runs and in this run. */
    synchronized List<CompensationFailure> withNestedFailures(List<CompensationFailure> own) {
        if (nestedFailures.isEmpty()) {
            return own;
        }
        List<CompensationFailure> all = new ArrayList<>(nestedFailures);
        all.addAll(own);
        return all;
    }

    /** Returns whether all outputs have ended and their result callbacks have returned. */
    boolean isValueKnown() {
        return pendingOutputs == 0;
    }

    /** Returns a signal that is set when {@link #isValueKnown}, unless this was so before the call. */
    synchronized Signal valueKnownSignal() {
        Signal known = valueKnown;
        if (known == null) {
            known = new Signal();
            valueKnown = known;
        }
        return known;
    }

    void countDownOutputs() {
        if ((int) PENDING_OUTPUTS.getAndAdd(this, -1) == 1) {
            Signal awaited = valueKnown;
            if (awaited != null) {
                awaited.set();
            }
            run.wakeJoiner();
        }
    }

    /** Returns the stop of a run that is cancelled. */
    Stop cancelled(String reason) {
        String text = "flow \"" + run.graph.name + "\" was cancelled: " + reason;
        return new Stop(FlowStatus.CANCELLED, new CancelledException(text), NodeEnd.NO_NODE);
    }

    /** Returns the stop of a run whose deadline has passed. */
    Stop outOfTime(@Nullable TimeLimit limit) {
        Duration length = limit == null ? Duration.ZERO : limit.budget();
        String text = "flow \"" + run.graph.name + "\" ran out of time after " + TimeLimit.text(length);
        return new Stop(
                FlowStatus.TIMED_OUT, new TaskTimeoutException(text, run.graph.name, length, 0, null), NodeEnd.NO_NODE);
    }

    /** Returns the status that the run has if no other node fails. */
    FlowStatus status() {
        if (run.isLost()) {
            return FlowStatus.LOST;
        }
        if (isStopping()) {
            return Objects.requireNonNull(stopped()).status();
        }
        FlowStatus status = FlowStatus.SUCCESS;
        for (int node = 0; node < run.graph.size; node++) {
            if (states.hasFailed(node)) {
                if (isSink(node)) {
                    return FlowStatus.FAILED;
                }
                status = FlowStatus.DEGRADED;
            }
        }
        return status;
    }

    private boolean isSink(int node) {
        List<String> targets = run.options.only;
        return targets.isEmpty() ? run.graph.sinks[node] : targets.contains(run.graph.ids[node]);
    }
}
