package dev.raddle.flow;

import dev.raddle.flow.threads.DeferredSteps;
import dev.raddle.flow.threads.GroupPlacement;
import dev.raddle.flow.threads.NestedRun;
import dev.raddle.flow.threads.NodePhase;
import dev.raddle.flow.threads.RunEntry;
import dev.raddle.flow.threads.Runner;
import dev.raddle.kernel.Attempts;
import dev.raddle.kernel.EnclosingScope;
import dev.raddle.kernel.TimeLimit;
import dev.raddle.task.CancelledException;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.TaskContext;
import dev.raddle.time.Alarm;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One run of a stepper: the run itself, or one that is nested in it. */
final class SteppedRun implements RunEntry, NestedRun {

    /*
     * Overview. This is the second driver of NodeTransitions, beside Engine:
     *
     *   FlowStepper ──► SteppedRun ──► NodeTransitions ──► NodeStates, Graph
     *   reports         steps          ends and            the state of each node,
     *                                  consequences        the compiled plan
     *
     * Everything happens in the thread of a report, one thing after the other. Instead of a runner the slot of a begun
     * node holds a SteppedCall; no thread is inside a node, so the phases Runner, Beginning and INTERRUPTING do not
     * occur. Between two reports each node is pending, called, waiting, a nested run, or ended; nothing is ready.
     * Alarms are those of StepperTime, which fire when the driver reports the time.
     *
     * Only `call` runs in other threads. It reads slots, which hold the values of upstream nodes since before the step
     * was returned to the driver, and writes nothing.
     */

    /** Encloses the call of an action: its scopes and groups have the time that is left, in real time. */
    private static final class CallScope extends EnclosingScope {
        private final String label;
        private final @Nullable Deadline deadline;
        private final @Nullable EnclosingScope around;

        CallScope(String label, @Nullable Deadline own, @Nullable EnclosingScope around) {
            this.label = label;
            this.around = around;
            Deadline outer = around == null ? null : around.deadline();
            boolean isOuterFirst =
                    outer != null && (own == null || outer.remaining().compareTo(own.remaining()) < 0);
            deadline = isOuterFirst ? outer : own;
        }

        @Override
        public @Nullable Deadline deadline() {
            return deadline;
        }

        @Override
        public String label() {
            return label;
        }

        @Override
        public @Nullable EnclosingScope enclosing() {
            return around;
        }
    }

    private final Stepping stepping;
    final RunEnvironment run;
    final NodeTransitions transitions;
    private final FlowEvents events;
    final @Nullable SteppedRun outer; // null unless this run is nested
    final int outerNode;

    @Nullable
    Alarm alarm; // for the deadline; null if there is none

    final StepperUndo undo;
    private volatile long undoUntil = Long.MAX_VALUE; // the timeout of the compensation; read by the threads of calls
    private @Nullable FlowResult<?> result; // null until the run has ended

    @SuppressWarnings("this-escape") // the receivers do not use it before the run begins
    SteppedRun(
            Stepping stepping,
            Graph graph,
            @Nullable Object parameter,
            RunOptions options,
            @Nullable SteppedRun outer,
            int outerNode) {
        this.stepping = stepping;
        this.outer = outer;
        this.outerNode = outerNode;
        run = new RunEnvironment(graph, parameter, options, stepping.time, outer == null ? null : outer.run, outerNode);
        undo = new StepperUndo(run.graph.ids);
        events = new FlowEvents(run, this::addEnded);
        transitions = new NodeTransitions(run, this, events);
        ensureUniquePaths(graph);
    }

    /** Ensures that no id looks like the path of a node of a nested run. */
    private static void ensureUniquePaths(Graph graph) {
        for (int node = 0; graph.hasNested && node < graph.size; node++) {
            String id = graph.ids[node];
            for (int slash = id.indexOf('/'); slash >= 0; slash = id.indexOf('/', slash + 1)) {
                int nested = graph.find(id.substring(0, slash));
                if (nested >= 0 && graph.is(Graph.NESTED, nested)) {
                    throw new IllegalArgumentException("node \"" + id + "\" of flow \"" + graph.name
                            + "\" cannot be told from a node of its nested flow \"" + graph.ids[nested]
                            + "\"; give it an id without a slash");
                }
            }
        }
    }

    @Override
    public String label() {
        return run.label();
    }

    @Override
    public boolean hasEnded(String signal) {
        return run.hasEnded(signal);
    }

    String pathOf(int node) {
        return run.path(node);
    }

    // Beginning.

    void begin() {
        armDeadline();
        Runner starter = newRunner();
        starter.finished = 1;
        if (run.options.only.isEmpty()) {
            transitions.consequences.triggerRoots(starter);
        } else {
            Replay selection = new Replay(run, transitions);
            selection.apply(starter);
            selection.submitTriggered(starter);
        }
        proceed(starter);
        reportFinished(starter);
    }

    private void armDeadline() {
        Deadline deadline = run.deadline();
        if (deadline == null || outer != null) {
            return;
        }
        if (deadline.hasPassed()) {
            outOfTime();
        } else {
            alarm = deadline.alarm(this::outOfTime);
        }
    }

    void outOfTime() {
        stop(run.progress.outOfTime());
    }

    private static Runner newRunner() {
        Runner runner = new Runner();
        runner.place = Runner.NO_PLACE;
        return runner;
    }

    // Transitions.

    @Override
    public void runTransitions(Consumer<Runner> action) {
        Runner runner = newRunner();
        action.accept(runner);
        proceed(runner);
        reportFinished(runner);
    }

    private void proceed(Runner runner) {
        do {
            while (!transitions.consequences.settle(runner)) {
                NestedRun.stopAll(runner);
            }
        } while (startNext(runner));
    }

    private boolean startNext(Runner runner) {
        int node = runner.ready.takeFirst(run.states);
        if (node < 0) {
            node = runner.grouped.takeFirst(run.states);
        }
        if (node < 0) {
            return false;
        }
        start(runner, node);
        return true;
    }

    private void addEnded(int node) {
        stepping.add(new Step.Ended(pathOf(node), run.states.state(node), run.states.via(node)));
    }

    // Starting a node.

    private void start(Runner runner, int node) {
        Object expected = run.graph.is(Graph.CHOOSES, node) ? NodePhase.Plain.READY : null;
        if (run.progress.isStopping() || run.states.get(node) != expected) {
            return; // it has ended meanwhile, or the thread that stops the run ends it
        }
        NodeOptions own = run.graph.optionsOf(node);
        SteppedCall call;
        try {
            call = new SteppedCall(this, node, 1, groupOf(node, own), List.of(), null);
        } catch (Throwable refusal) {
            transitions.end(
                    runner, node, expected, NodeState.FAILED, refusal, NodeEnd.Reason.PLACING, NodeEnd.NO_NODE, false);
            return;
        }
        run.states.set(node, call);
        if (own.condition() != null && !isWanted(runner, node, call, own)) {
            return;
        }
        runner.began = run.now();
        run.states.recordBegin(node, runner.began);
        if (run.graph.is(Graph.NESTED, node)) {
            openNested(runner, node, call, own);
        } else if (run.graph.is(Graph.WAITS, node)) {
            beginWait(runner, node, call, own);
        } else {
            addStart(call);
        }
    }

    private @Nullable String groupOf(int node, NodeOptions own) throws Exception {
        Function<? super NodeContext<?>, String> key = own.group();
        return key == null
                ? null
                : Objects.requireNonNull(run.callInStarterContext(() -> key.apply(run.contextOf(node))), "group");
    }

    private boolean isWanted(Runner runner, int node, SteppedCall call, NodeOptions own) {
        NodeState otherwise = NodeState.SKIPPED;
        Throwable cause = null;
        try {
            if (run.callInStarterContext(
                    () -> Objects.requireNonNull(own.condition()).test(run.contextOf(node)))) {
                return true;
            }
        } catch (Throwable failure) {
            otherwise = NodeState.FAILED;
            cause = failure;
        }
        transitions.end(runner, node, call, otherwise, cause, NodeEnd.Reason.CONDITION, NodeEnd.NO_NODE, true);
        return false;
    }

    private void addStart(SteppedCall call) {
        stepping.add(startOf(call));
    }

    private Step.Start startOf(SteppedCall call) {
        return new Step.Start(pathOf(call.node), call.attempt, call.group, deadlineNanos(call.node));
    }

    private long deadlineNanos(int node) {
        Deadline ofRun = run.deadline();
        Deadline own = run.nodeTimeouts == null ? null : run.nodeTimeouts.deadline(node);
        long nanos = ofRun == null ? Long.MAX_VALUE : ofRun.nanoTime();
        return own == null ? nanos : Math.min(nanos, own.nanoTime());
    }

    private void beginWait(Runner runner, int node, SteppedCall call, NodeOptions own) {
        NodeWaits waits = Objects.requireNonNull(run.waits);
        Duration length;
        try {
            events.notifyStarted(node, own.begin());
            length = waits.lengthOf(node);
        } catch (Throwable failure) {
            transitions.fail(runner, node, call, failure);
            return;
        }
        waits.begin(runner, node, call, length);
        if (run.states.get(node) instanceof NodeWait wait) {
            stepping.add(stepOf(wait));
        }
    }

    private Step stepOf(NodeWait wait) {
        return wait.until == null
                ? new Step.AwaitSignal(pathOf(wait.node), Objects.requireNonNull(run.graph.signalTypeOf(wait.node)))
                : new Step.SleepUntil(pathOf(wait.node), wait.until.nanoTime());
    }

    // Nested runs.

    private void openNested(Runner runner, int node, SteppedCall call, NodeOptions own) {
        SteppedRun nested;
        try {
            events.notifyStarted(node, own.begin());
            nested = newNested(node);
        } catch (Throwable failure) {
            transitions.fail(runner, node, call, failure);
            return;
        }
        run.progress.tryAddRemaining(); // until the nested run has ended; it succeeds, since this node has not ended
        run.states.set(node, nested);
        stepping.begun(nested);
        stepping.defer(nested::begin);
    }

    SteppedRun newNested(int node) throws Exception {
        NestedPlan plan = (NestedPlan) run.callInStarterContext(() -> run.graph.bodies[node].call(run, node));
        RunOptions options = run.optionsForNested(plan.onFailure(), plan.rootsAtOnce());
        return new SteppedRun(stepping, plan.graph(), plan.parameter(), options, this, node);
    }

    private void completeNested(SteppedRun nested) {
        runTransitions(runner -> {
            runner.finished++;
            transitions.endNested(runner, nested.outerNode, nested, nested.result());
        });
    }

    @Override
    public boolean tryDeferFallback(int node, Object expected, Throwable failure) {
        SteppedCall call = new SteppedCall(this, node, 1, null, List.of(), failure);
        run.states.set(node, call);
        addStart(call);
        return true;
    }

    @Override
    public @Nullable Runner tryStop(DeferredSteps unused) {
        RunProgress.Stop why = run.progress.cancelled(
                "its node in flow \"" + Objects.requireNonNull(outer).run.graph.name + "\" was ended");
        if (!run.progress.trySetStop(why)) {
            return null;
        }
        Runner runner = newRunner();
        transitions.endAll(runner, why);
        return runner;
    }

    @Override
    public void finishStop(Runner runner) {
        proceed(runner);
        reportFinished(runner);
    }

    // Calls.

    /** Calls the action or the fallback of a node. Safe for any thread. */
    CallResult call(int node, int attempt) {
        if (!(run.states.get(node) instanceof SteppedCall call) || call.attempt != attempt) {
            return new CallResult.Failed(new CancelledException("node \"" + pathOf(node) + "\" of " + label()
                    + " is not to be called for attempt " + attempt + "; it is " + run.states.state(node)));
        }
        NodeOptions own = run.graph.optionsOf(node);
        if (call.failure != null) {
            return recover(call, own, call.failure);
        }
        try {
            if (attempt == 1) {
                events.notifyStarted(node, own.begin());
            }
            Object value = inScope(node, () -> run.graph.bodies[node].call(run, node));
            return new CallResult.Returned(value);
        } catch (Throwable failure) {
            return afterFailure(call, own, failure);
        }
    }

    private @Nullable Object inScope(int node, Callable<@Nullable Object> action) throws Exception {
        CallScope scope = new CallScope(
                "node \"" + run.graph.ids[node] + "\" of " + label(), realDeadline(node), EnclosingScope.innermost());
        return run.callInStarterContext(
                () -> TaskContext.current().within(scope).call(action));
    }

    private @Nullable Deadline realDeadline(int node) {
        long nanos = deadlineNanos(node);
        TimeSource real = stepping.realTime;
        return nanos == Long.MAX_VALUE
                ? null
                : Deadline.after(real, Duration.ofNanos(nanos - stepping.time.nanoTime()));
    }

    private CallResult afterFailure(SteppedCall call, NodeOptions own, Throwable failure) {
        RetryPolicy retry = own.retry();
        try {
            if (retry != null && retry.allowsRetry(call.attempt, failure)) {
                return new CallResult.Retry(failure, Duration.ofNanos(retry.delayNanos(call.attempt, failure)));
            }
        } catch (RuntimeException | Error thrown) {
            List<Throwable> all = new ArrayList<>(call.earlier);
            if (thrown != failure) {
                Attempts.keep(failure, all);
            }
            return recover(call, own, Attempts.withEarlier(thrown, all));
        }
        return recover(call, own, Attempts.withEarlier(failure, call.earlier));
    }

    /** Calls the fallback of a node that has failed, unless it has timed out or was cancelled meanwhile. */
    private CallResult recover(SteppedCall call, NodeOptions own, Throwable failure) {
        CheckedFunction.F1<Throwable, ?> fallback = own.fallback();
        if (fallback == null || run.states.get(call.node) != call) {
            return new CallResult.Failed(failure);
        }
        try {
            return new CallResult.Recovered(inScope(call.node, () -> fallback.apply(failure)), failure);
        } catch (Throwable again) {
            return new CallResult.Failed(NodeTransitions.withSuppressed(again, failure));
        }
    }

    /** Calls a compensation, and asks its retry policy if it throws. Safe for any thread. */
    CallResult callCompensation(int node, int attempt) {
        Compensation how = Objects.requireNonNull(run.graph.optionsOf(node).compensation());
        try {
            how.call(run, Compensation.contextOf(run, node, this::undoTime), run.states.value(node));
            return new CallResult.Returned(null);
        } catch (Throwable failure) {
            try {
                return how.retry().allowsRetry(attempt, failure)
                        ? new CallResult.Retry(
                                failure, Duration.ofNanos(how.retry().delayNanos(attempt, failure)))
                        : new CallResult.Failed(failure);
            } catch (RuntimeException | Error thrown) {
                return new CallResult.Failed(NodeTransitions.withSuppressed(thrown, failure));
            }
        }
    }

    private Duration undoTime() {
        long until = undoUntil;
        return Duration.ofNanos(until == Long.MAX_VALUE ? until : until - stepping.time.nanoTime());
    }

    // Reports.

    /** Applies the result of a compensation, unless it was reported before. */
    void compensated(int node, int attempt, CallResult reported) {
        if (undo.current() != node || undo.attempt != attempt || undo.delayed != null) {
            return;
        }
        switch (reported) {
            case CallResult.Returned _, CallResult.Recovered _ -> endUndo(null);
            case CallResult.Failed(Throwable failure) -> endUndo(failure);
            case CallResult.Retry(Throwable failure, Duration delay) -> {
                if (delay.compareTo(undoTime()) >= 0) {
                    endUndo(failure); // the next attempt would begin too late
                } else {
                    undo.attempt++;
                    undoAgain(node, delay);
                }
            }
        }
    }

    private void undoAgain(int node, Duration delay) {
        if (delay.isPositive()) {
            undo.delayed = stepping.time.after(delay, () -> {
                undo.delayed = null;
                stepping.add(undoStep());
            });
            stepping.add(new Step.SleepUntil(pathOf(node), undo.delayed.nanos));
        } else {
            stepping.add(undoStep());
        }
    }

    private void endUndo(@Nullable Throwable failure) {
        undo.end(failure);
        undoNext();
    }

    private Step undoStep() {
        return new Step.Compensate(pathOf(undo.current()), undo.attempt);
    }

    private void undoTimedOut(Duration timeout) {
        String id = run.graph.ids[undo.current()];
        if (undo.delayed == null) {
            stepping.add(new Step.Cancel(pathOf(undo.current())));
        }
        endUndo(UndoCall.late(run, id, timeout, undo.attempt, null));
    }

    /** Applies the result of a call, unless it was reported before. */
    void settled(int node, int attempt, CallResult reported) {
        Object slot = run.states.get(node);
        if (NodeStates.isEnd(slot) || (slot instanceof SteppedCall next && attempt < next.attempt)) {
            return; // too late
        }
        if (!(slot instanceof SteppedCall call) || call.delayed != null) {
            throw new IllegalStateException("no call of node \"" + pathOf(node) + "\" of " + label()
                    + " is under way; it is " + run.states.state(node));
        }
        runTransitions(runner -> settle(runner, call, reported));
    }

    private void settle(Runner runner, SteppedCall call, CallResult reported) {
        switch (reported) {
            case CallResult.Returned(Object value) ->
                transitions.succeed(runner, call.node, call, value == null ? NodeStates.NULL : value);
            case CallResult.Recovered(Object value, Throwable failure) ->
                transitions.recover(runner, call.node, call, value, failure);
            case CallResult.Failed(Throwable failure) ->
                transitions.endByItself(runner, call.node, call, NodeState.FAILED, failure, NodeEnd.Reason.ACTION);
            case CallResult.Retry(Throwable failure, Duration delay) -> retry(runner, call, failure, delay);
        }
    }

    private void retry(Runner runner, SteppedCall call, Throwable failure, Duration delay) {
        int node = call.node;
        NodeOptions own = run.graph.optionsOf(node);
        TimeLimit limit = run.limitOf(node, own.timeout());
        if (limit != null && delay.compareTo(limit.deadline().remaining()) >= 0) {
            int most = own.retry() == null ? call.attempt : own.retry().maxAttempts();
            Throwable late =
                    Attempts.noTimeFor(delay, run.graph.ids[node], call.attempt, most, limit, failure, call.earlier);
            transitions.end(
                    runner, node, call, NodeState.TIMED_OUT, late, NodeEnd.Reason.OUT_OF_TIME, NodeEnd.NO_NODE, true);
            return;
        }
        List<Throwable> failures = new ArrayList<>(call.earlier);
        Attempts.keep(failure, failures);
        SteppedCall next = new SteppedCall(this, node, call.attempt + 1, call.group, failures, null);
        run.states.set(node, next);
        if (delay.isPositive()) {
            next.delayed = stepping.time.after(delay, () -> beginAttempt(next));
            stepping.add(new Step.SleepUntil(pathOf(node), next.delayed.nanos));
        } else {
            addStart(next);
        }
    }

    void beginAttempt(SteppedCall call) {
        call.delayed = null;
        addStart(call);
    }

    /** Called after a node was ended from outside. */
    void withdraw(SteppedCall call) {
        if (call.delayed != null) {
            call.delayed.cancel();
        } else if (!run.graph.optionsOf(call.node).has(NodeOptions.NO_INTERRUPT)) {
            stepping.add(new Step.Cancel(pathOf(call.node)));
        }
    }

    void stop(RunProgress.Stop why) {
        if (run.progress.trySetStop(why)) {
            runTransitions(runner -> transitions.endAll(runner, why));
        }
    }

    // Ending.

    private void reportFinished(Runner runner) {
        if (!run.progress.subtractFinished(runner)) {
            return;
        }
        run.progress.trySetStop(RunProgress.Stop.COMPLETE);
        FlowStatus status = run.progress.status();
        boolean undoes = status != FlowStatus.SUCCESS && status != FlowStatus.DEGRADED;
        undo.begin(
                status, undoes && transitions.compensations != null ? transitions.compensations.order() : new int[0]);
        undoNext();
    }

    private void undoNext() {
        int node = undo.current();
        if (node < 0) {
            end();
            return;
        }
        Duration timeout =
                Objects.requireNonNull(run.graph.optionsOf(node).compensation()).timeout();
        undoUntil = Long.MAX_VALUE;
        if (timeout != null) {
            StepperTime.Moment moment = stepping.time.after(timeout, () -> undoTimedOut(timeout));
            undo.timeout = moment;
            undoUntil = moment.nanos;
        }
        stepping.add(undoStep());
    }

    private void end() {
        if (alarm != null) {
            alarm.cancel();
        }
        result = newResult();
        if (outer == null) {
            stepping.add(new Step.Complete(result.status()));
        } else {
            stepping.ended(this);
            stepping.defer(() -> outer.completeNested(this));
        }
    }

    private FlowResult<?> newResult() {
        Throwable stopCause = Objects.requireNonNull(run.progress.stopped()).cause();
        List<CompensationFailure> failures = run.progress.withNestedFailures(undo.failures());
        return new FlowResult<>(run.states, undo.status(), run.now(), failures, stopCause);
    }

    /** Returns the result, which is that of a run that has ended. */
    FlowResult<?> result() {
        return Objects.requireNonNull(result);
    }

    boolean hasEnded() {
        return result != null;
    }

    // What is under way.

    void addPending(List<Step> pending) {
        for (int node = 0; node < run.graph.size; node++) {
            Object slot = run.states.get(node);
            if (slot instanceof SteppedCall call) {
                pending.add(
                        call.delayed == null ? startOf(call) : new Step.SleepUntil(pathOf(node), call.delayed.nanos));
            } else if (slot instanceof NodeWait wait) {
                pending.add(stepOf(wait));
            } else if (undo.current() == node) {
                pending.add(undo.delayed == null ? undoStep() : new Step.SleepUntil(pathOf(node), undo.delayed.nanos));
            }
        }
    }

    // A stepper has no threads that could enter it.

    @Override
    public void runReady(byte place) {
        throw noThreads();
    }

    @Override
    public void runGrouped(GroupPlacement placement) {
        throw noThreads();
    }

    @Override
    public void runInPlace(GroupPlacement placement, Runner placer) {
        throw noThreads();
    }

    @Override
    public void handleRefusal(byte place, RejectedExecutionException refusal) {
        throw noThreads();
    }

    @Override
    public void handleRefusal(GroupPlacement placement, RejectedExecutionException refusal) {
        throw noThreads();
    }

    private static IllegalStateException noThreads() {
        return new IllegalStateException("a stepper requests no threads");
    }
}
