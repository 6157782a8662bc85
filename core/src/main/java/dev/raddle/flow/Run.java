package dev.raddle.flow;

import dev.raddle.flow.threads.DeferredSteps;
import dev.raddle.flow.threads.NestedRun;
import dev.raddle.flow.threads.Runner;
import dev.raddle.time.Alarm;
import dev.raddle.time.Deadline;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The life of one run: it begins, opens nested runs, is stopped, and ends once. */
abstract class Run implements NestedRun {

    /*
     * Overview. What happens in a run is decided here and below; a driver above executes its nodes:
     *
     *   FlowRun ──► Engine       threads ──┐
     *                                      ├──► Run ──► NodeTransitions ──► Consequences, NodeStates, Graph
     *   FlowStepper ──► SteppedRun steps ──┘        ▲
     *   RecordedRun ──► ReplayedRun ────────────────┘ replays a journal, and executes no node
     *
     * A thread that enters a run has a Runner, in which the lower classes return what is left to do: it applies
     * transitions, then `proceed` processes the ended nodes and lets the driver dispatch the triggered ones, until
     * there are none of either, and `reportFinished` subtracts the nodes that it has finished. The thread that brings
     * the count to zero (RunProgress) completes the run: it lets the driver execute the compensations, if there are
     * any, and ends the run. The end of a nested run is passed to the outer runs in a loop, and nested runs whose nodes
     * were ended are stopped from a list.
     *
     * Nesting is bounded by memory only, not by the stack. A runner that opens a nested run defers its begin
     * (DeferredSteps) until the thread has returned to where it entered the run, at the bottom of its stack.
     */

    final RunFacts run;
    final NodeTransitions transitions;
    final @Nullable Run outer; // null unless this run is nested
    private @Nullable Alarm alarm; // for the deadline; written by the starting thread before any node runs
    private @Nullable FlowResult<?> result; // written before `ended` is called

    /**
     * Creates a run.
     *
     * @param outer the enclosing run; null unless this run is nested
     * @param outerNode the node of that run, or -1
     */
    @SuppressWarnings("this-escape") // the receivers do not use it before the run begins
    Run(Graph graph, @Nullable Object parameter, RunOptions.Values options, @Nullable Run outer, int outerNode) {
        this.outer = outer;
        run = new RunFacts(
                graph, parameter, options, outer == null ? null : outer.run, outerNode, outer == null ? this : null);
        transitions = new NodeTransitions(run, this, newEvents());
    }

    // What the drivers do.

    /** Returns the receivers of what happens to nodes, or null if there are none. Called by the constructor. */
    @Nullable
    FlowEvents newEvents() {
        return run.graph.hasCallbacks || run.options.listener != null || run.isRecorded
                ? new FlowEvents(run, null)
                : null;
    }

    /** Returns a new run in the place of a node. */
    abstract Run newNested(Graph plan, @Nullable Object parameter, RunOptions.Values options, int node);

    /** Lets triggered nodes begin. Returns false if there may be ended nodes to process as a result. */
    abstract boolean dispatch(Runner runner);

    /**
     * Executes the compensations, in this call or later, and then calls {@link #endUndone}.
     *
     * @param hasUndosLeft whether earlier processes have left compensations of nested runs
     */
    abstract void undo(Runner runner, FlowStatus status, Compensations compensations, boolean hasUndosLeft);

    /** Called when a nested run is counted as part of this one, until {@link #exit}. */
    void enter() {}

    void exit() {}

    /** Defers what a runner has postponed until its thread has left the run. */
    void deferPostponed(Runner runner) {}

    /** Releases what the run holds for its nodes. */
    void release() {}

    /** Called when the run has a result. */
    abstract void ended();

    /**
     * Takes over the call of a fallback, if this driver does not call it at once.
     *
     * @param expected the content of the node's slot
     */
    boolean tryDeferFallback(int node, Object expected, Throwable failure) {
        return false;
    }

    /** Calls the function that computes the default of a node. */
    @Nullable
    Object computeDefault(Supplier<?> function) throws Exception {
        return run.callInStarterContext(function::get);
    }

    // Beginning.

    /**
     * Begins the run.
     *
     * @param starter the runner of the calling thread
     */
    final void begin(Runner starter) {
        starter.finished = 1;
        Replay replay = run.options.only.isEmpty() && run.journal == null ? null : new Replay(run, transitions);
        try {
            if (replay != null) {
                run.inContext(() -> replay.apply(starter)); // before the deadline can pass
            }
            armDeadline();
        } catch (Throwable noTime) {
            release();
            throw noTime;
        }
        if (replay == null && transitions.events == null && !run.graph.hasGroups) {
            trigger(starter, null); // calls no user code, so no context is needed
        } else {
            run.inContext(() -> trigger(starter, replay));
        }
        reportFinished(starter);
        runDeferred(starter);
    }

    private void trigger(Runner starter, @Nullable Replay replay) {
        if (replay != null) {
            replay.submitTriggered(starter);
        } else {
            transitions.consequences.triggerRoots(starter);
        }
        proceed(starter);
    }

    private void armDeadline() {
        Deadline deadline = run.deadline();
        if (outer != null) {
            return; // the outer run ends this one
        }
        if (run.isLost()) {
            stopLost();
        } else if (deadline != null && !run.isCompensatingAgain()) {
            if (deadline.hasPassed()) {
                outOfTime();
            } else {
                alarm = deadline.alarm(() -> run.decide(this::outOfTime));
            }
        }
    }

    // Transitions.

    /** Returns a runner for a thread that runs no nodes. */
    static Runner newRunner(@Nullable DeferredSteps deferred) {
        Runner runner = new Runner();
        runner.place = Runner.NO_PLACE;
        runner.deferred = deferred;
        return runner;
    }

    /**
     * Applies transitions in a thread that runs no node, processes their consequences, and dispatches the triggered
     * nodes.
     */
    public final void runTransitions(Consumer<Runner> action) {
        runTransitions(null, action);
    }

    private void runTransitions(@Nullable DeferredSteps deferred, Consumer<Runner> action) {
        Runner runner = newRunner(deferred);
        run.inContext(() -> {
            action.accept(runner);
            proceed(runner);
        });
        reportFinished(runner);
        runDeferred(runner);
    }

    /** Processes the ended nodes and dispatches the triggered ones, until there are none of either. */
    final void proceed(Runner runner) {
        do {
            while (!transitions.consequences.settle(runner)) {
                NestedRun.stopAll(runner);
            }
        } while ((runner.ready.count > 0 || runner.grouped.count > 0) && !dispatch(runner));
    }

    /**
     * Subtracts the nodes that this runner has finished. If they were the last, completes this run and passes its end
     * outwards.
     */
    final void reportFinished(Runner runner) {
        if (completes(runner) && outer != null) {
            completeOuterRuns(runner.deferred());
        }
    }

    /** Subtracts the nodes that a runner has finished. Returns whether this run has ended as a result. */
    private boolean completes(Runner runner) {
        if (runner.postponed != 0) {
            deferPostponed(runner);
        }
        return run.progress.subtractFinished(runner) && complete(runner);
    }

    /** Runs the deferred steps, if this is the bottom of the stack. */
    final void runDeferred(Runner runner) {
        if (!runner.isBottom || !runner.hasDeferred()) {
            return;
        }
        boolean isCallers = runner.place == Runner.NO_PLACE;
        boolean interrupted = isCallers && Thread.interrupted(); // meant for the caller, not for these nodes
        try {
            runner.deferred().runAll(run.sink);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    // Nested runs.

    /**
     * Opens the nested run of a node that the runner has begun.
     *
     * @param entered the content of the node's slot
     */
    final void openNested(Runner runner, int node, Object entered) throws Exception {
        Run nested = run.callInStarterContext(() -> {
            NestedPlan plan = (NestedPlan) run.graph.bodies[node].call(run, node);
            RunOptions.Values options = run.optionsForNested(plan.onFailure(), plan.rootsAtOnce());
            return newNested(plan.graph(), plan.parameter(), options, node);
        });
        // Counted until the nested run has ended: no callback of it follows this run's end.
        if (!run.progress.tryAddRemaining()) {
            transitions.handleEndedByOther(runner, node);
            return;
        }
        enter();
        run.states.recordBegin(node, runner.began);
        if (run.states.compareAndSet(node, entered, nested)) {
            runner.now = -1;
            DeferredSteps deferred = runner.deferred();
            deferred.add(() -> beginNested(nested, deferred));
        } else {
            transitions.handleEndedByOther(runner, node);
            runner.finished++; // the nested run never begins
            exit();
        }
    }

    private void beginNested(Run nested, DeferredSteps deferred) {
        try {
            nested.beginNested(deferred);
        } catch (Throwable failure) {
            nested.exit();
            runTransitions(deferred, runner -> {
                runner.finished++;
                transitions.fail(runner, nested.run.outerNode, nested, failure);
            });
        }
    }

    /** Begins this run, which is nested, in a thread that is inside the outer run. */
    void beginNested(DeferredSteps deferred) {
        begin(newRunner(deferred));
    }

    /** Passes the end of this run to its outer run, and so on outwards while those end, too. */
    final void completeOuterRuns(DeferredSteps deferred) {
        Run ended = this;
        for (Run around = outer; around != null && around.completeNested(ended, deferred); around = ended.outer) {
            ended = around;
        }
    }

    /** Ends the node of a nested run that has ended. Returns whether this run has ended as a result. */
    private boolean completeNested(Run nested, DeferredSteps deferred) {
        Runner runner = newRunner(deferred);
        run.inContext(() -> {
            runner.finished++;
            endNested(runner, nested.run.outerNode, nested);
            proceed(runner);
        });
        return completes(runner);
    }

    /** Ends a node with the result of its nested run, unless it was ended from outside. */
    private void endNested(Runner runner, int node, Run nested) {
        FlowResult<?> inner = nested.result();
        if (!inner.compensationFailures().isEmpty()) {
            run.progress.keepFailures(node, inner.compensationFailures());
        }
        if (run.states.get(node) != nested) {
            return;
        }
        Throwable failure = inner.failureOfStatus();
        Object value = null;
        try {
            value = failure == null ? inner.value() : null;
        } catch (FlowFailedException noValue) {
            failure = noValue.getCause() == null ? noValue : noValue.getCause();
        }
        if (failure == null) {
            transitions.succeed(runner, node, nested, value == null ? NodeStates.NULL : value);
        } else {
            transitions.fail(runner, node, nested, failure);
        }
    }

    // Stopping.

    /** Cancels all nodes that have not ended. */
    final void stop(String reason) {
        stop(run.progress.cancelled(reason));
    }

    private void outOfTime() {
        if (run.journal != null && run.signals != null) {
            run.journal.timePassed("");
        }
        stop(run.progress.outOfTime(run.limit));
    }

    /** Stops the run unless it is stopping. Returns whether it was not. */
    private boolean stop(RunProgress.Stop why) {
        boolean isFirst = run.progress.trySetStop(why);
        if (isFirst) {
            runTransitions(runner -> transitions.endAll(runner, why));
        }
        return isFirst;
    }

    /** Ends all nodes because the run is lost. */
    final void stopLost() {
        if (transitions.compensations != null) {
            transitions.compensations.endDelay();
        }
        RunProgress.Stop why = new RunProgress.Stop(FlowStatus.LOST, run.lostBy(), NodeEnd.NO_NODE);
        if (!stop(why) && run.progress.isStopping()) {
            runTransitions(runner -> transitions.endAll(runner, why)); // those whose ends are being recorded
        }
    }

    @Override
    public final @Nullable Runner tryStop(DeferredSteps deferred) {
        if (run.isLost() && transitions.compensations != null) {
            transitions.compensations.endDelay();
        }
        RunProgress.Stop why = run.progress.cancelled(
                "its node in flow \"" + Objects.requireNonNull(outer).run.graph.name + "\" was ended");
        if (!run.progress.trySetStop(why) && !(run.isLost() && run.progress.isStopping())) {
            return null;
        }
        Runner runner = newRunner(deferred);
        run.inContext(() -> transitions.endAll(runner, why));
        return runner;
    }

    @Override
    public final void finishStop(Runner runner) {
        run.inContext(() -> proceed(runner));
        reportFinished(runner);
    }

    // Ending.

    /** Ends the run, later if there are compensations. Returns whether it has ended. */
    private boolean complete(Runner runner) {
        run.progress.trySetStop(RunProgress.Stop.COMPLETE);
        FlowStatus status = run.progress.status();
        boolean undoes = status != FlowStatus.SUCCESS && status != FlowStatus.DEGRADED;
        boolean hasUndosLeft = run.journal != null && new NestedUndos(run, run.journal).areLeft(undoes); // of subflows
        Compensations own = transitions.compensations;
        boolean undoesOwn = undoes && own != null && !own.isEmpty();
        if (status == FlowStatus.LOST || !(undoesOwn || hasUndosLeft)) {
            end(status, List.of());
            return true;
        }
        undo(runner, status, own == null ? new Compensations() : own, hasUndosLeft);
        return false;
    }

    /** Ends the run after its compensations, and passes its end outwards. */
    final void endUndone(FlowStatus status, Compensations compensations) {
        end(status, compensations.failures);
        if (outer != null) {
            DeferredSteps deferred = new DeferredSteps(false);
            completeOuterRuns(deferred);
            deferred.runAll(run.sink);
        }
    }

    private void end(FlowStatus status, List<CompensationFailure> ownFailures) {
        Alarm set = alarm;
        if (set != null) {
            run.guard("alarm for the deadline", NodeEnd.NO_NODE, set::cancel);
        }
        release();
        if (run.journal != null) {
            run.journal.ended(status);
        }
        FlowStatus known = run.isLost() ? FlowStatus.LOST : status;
        List<CompensationFailure> failures = run.progress.withNestedFailures(ownFailures);
        result = new FlowResult<>(run.states, known, run.now(), failures, stopCause());
        ended();
    }

    /** Returns why the run was stopped, or null if it was not. */
    final @Nullable Throwable stopCause() {
        Throwable lost = run.lostBy();
        return lost == null ? Objects.requireNonNull(run.progress.stopped()).cause() : lost;
    }

    /** Returns the result of the run, which must have ended. */
    final FlowResult<?> result() {
        return Objects.requireNonNull(result);
    }

    final boolean hasEnded() {
        return result != null;
    }

    @Override
    public final boolean hasEnded(String signal) {
        return run.states.hasEnded(signal);
    }

    /** Returns the name of the flow. */
    public final String name() {
        return run.graph.name;
    }

    /** Returns the name of the run for messages. */
    public final String label() {
        return run.label();
    }
}
