package dev.raddle.flow;

import dev.raddle.flow.threads.NodePhase;
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
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One run of a stepper: the run itself, or one that is nested in it. */
final class SteppedRun extends Run {

    /*
     * Overview. Everything happens in the thread of a report, one thing after the other. Instead of a runner the slot
     * of a begun node holds a SteppedCall; no thread is inside a node, so the phases Runner, Beginning and INTERRUPTING
     * do not occur. Between two reports each node is pending, called, waiting, a nested run, or ended; nothing is
     * ready.
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
    private @Nullable Compensations undo; // null until all nodes have ended
    private int undoAttempt; // the current or the next one of the compensation
    private @Nullable Alarm undoTimeout; // of the compensation; null if it has none
    private StepperTime.@Nullable Moment undoDelayed; // the begin of its attempt, if that has not begun
    private volatile long undoUntil; // the moment of its timeout; read by the threads of calls

    SteppedRun(
            Stepping stepping,
            Graph graph,
            @Nullable Object parameter,
            RunOptions.Values options,
            @Nullable SteppedRun outer,
            int outerNode) {
        super(
                new RunEnvironment(
                        graph, parameter, options, stepping.time, outer == null ? null : outer.run, outerNode),
                outer);
        this.stepping = stepping;
        ensureUniquePaths(graph);
    }

    @Override
    FlowEvents newEvents() {
        return new FlowEvents(run, this::addEnded);
    }

    private FlowEvents events() {
        return Objects.requireNonNull(transitions.events);
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

    String pathOf(int node) {
        return run.path(node);
    }

    // Beginning.

    @Override
    boolean dispatch(Runner runner) {
        return !startNext(runner);
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
            transitions.end(runner, node, expected, NodeEnd.Verdict.failed(refusal, NodeEnd.Reason.PLACING));
            return;
        }
        run.states.set(node, call);
        if (own.condition != null && !transitions.isWanted(runner, node, call, own.condition)) {
            return;
        }
        runner.began = run.now();
        run.states.recordBegin(node, runner.began);
        if (!run.graph.is(Graph.NESTED, node) && !run.graph.is(Graph.WAITS, node)) {
            stepping.add(stepOf(call));
            return;
        }
        try {
            events().notifyStarted(node, own.begin);
            if (run.graph.is(Graph.NESTED, node)) {
                openNested(runner, node, call);
            } else {
                beginWait(runner, node, call);
            }
        } catch (Throwable failure) {
            transitions.fail(runner, node, call, failure);
        }
    }

    private @Nullable String groupOf(int node, NodeOptions own) throws Exception {
        Function<? super NodeContext<?>, String> key = own.group;
        return key == null
                ? null
                : Objects.requireNonNull(run.callInStarterContext(() -> key.apply(run.contextOf(node))), "group");
    }

    private Step stepOf(SteppedCall call) {
        String path = pathOf(call.node);
        return call.delayed == null
                ? new Step.Start(path, call.attempt, call.group, deadlineNanos(call.node))
                : new Step.SleepUntil(path, call.delayed.nanos);
    }

    private long deadlineNanos(int node) {
        Deadline ofRun = run.deadline();
        Deadline own = run.nodeTimeouts == null ? null : run.nodeTimeouts.deadline(node);
        long nanos = ofRun == null ? Long.MAX_VALUE : ofRun.nanoTime();
        return own == null ? nanos : Math.min(nanos, own.nanoTime());
    }

    private void beginWait(Runner runner, int node, SteppedCall call) throws Exception {
        NodeWaits waits = Objects.requireNonNull(run.waits);
        waits.begin(runner, node, call, waits.lengthOf(node));
        if (run.states.get(node) instanceof NodeWait wait) {
            stepping.add(stepOf(wait));
        }
    }

    private Step stepOf(NodeWait wait) {
        return wait.until == null
                ? new Step.AwaitSignal(pathOf(wait.node), Objects.requireNonNull(run.graph.signalTypeOf(wait.node)))
                : new Step.SleepUntil(pathOf(wait.node), wait.until.nanoTime());
    }

    @Override
    SteppedRun newNested(Graph plan, @Nullable Object parameter, RunOptions.Values options, int node) {
        SteppedRun nested = new SteppedRun(stepping, plan, parameter, options, this, node);
        stepping.begun(nested);
        return nested;
    }

    @Override
    boolean tryDeferFallback(int node, Object expected, Throwable failure) {
        SteppedCall call = new SteppedCall(this, node, 1, null, List.of(), failure);
        run.states.set(node, call);
        stepping.add(stepOf(call));
        return true;
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
                events().notifyStarted(node, own.begin);
            }
            Object value = inScope(node, () -> run.graph.bodies[node].call(run, node));
            return new CallResult.Returned(value);
        } catch (Throwable failure) {
            CallResult next = afterFailure(own.retry, attempt, failure, call.earlier);
            return next instanceof CallResult.Failed(Throwable last) ? recover(call, own, last) : next;
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

    /** Asks the retry policy about a failed attempt. */
    private static CallResult afterFailure(
            @Nullable RetryPolicy retry, int attempt, Throwable failure, List<Throwable> before) {
        List<Throwable> earlier = new ArrayList<>(before);
        try {
            long delay = retry == null ? -1 : Attempts.delayAfter(retry, attempt, failure, earlier);
            return delay < 0
                    ? new CallResult.Failed(Attempts.withEarlier(failure, earlier))
                    : new CallResult.Retry(failure, Duration.ofNanos(delay));
        } catch (RuntimeException | Error thrown) {
            return new CallResult.Failed(thrown);
        }
    }

    /** Calls the fallback of a node that has failed, unless it has timed out or was cancelled meanwhile. */
    private CallResult recover(SteppedCall call, NodeOptions own, Throwable failure) {
        CheckedFunction.F1<Throwable, ?> fallback = own.fallback;
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
        Compensation how = Objects.requireNonNull(run.graph.optionsOf(node).compensation);
        try {
            how.call(run, Compensation.contextOf(run, node, this::undoTime), run.states.value(node));
            return new CallResult.Returned(null);
        } catch (Throwable failure) {
            return afterFailure(how.retry(), attempt, failure, List.of());
        }
    }

    private Duration undoTime() {
        long until = undoUntil;
        return Duration.ofNanos(until == Long.MAX_VALUE ? until : until - stepping.time.nanoTime());
    }

    // Reports.

    /** Applies the result of a compensation, unless it was reported before. */
    void compensated(int node, int attempt, CallResult reported) {
        if (undoing() != node || undoAttempt != attempt || undoDelayed != null) {
            return;
        }
        switch (reported) {
            case CallResult.Returned _, CallResult.Recovered _ -> endUndo(null);
            case CallResult.Failed(Throwable failure) -> endUndo(failure);
            case CallResult.Retry(Throwable failure, Duration delay) -> {
                if (delay.compareTo(undoTime()) >= 0) {
                    endUndo(failure); // the next attempt would begin too late
                } else {
                    undoAttempt++;
                    undoAgain(node, delay);
                }
            }
        }
    }

    private void undoAgain(int node, Duration delay) {
        if (delay.isPositive()) {
            undoDelayed = stepping.time.after(delay, () -> {
                undoDelayed = null;
                stepping.add(undoStep(node));
            });
        }
        stepping.add(undoStep(node));
    }

    private void endUndo(@Nullable Throwable failure) {
        if (undoTimeout != null) {
            undoTimeout.cancel();
            undoTimeout = null;
        }
        if (undoDelayed != null) {
            undoDelayed.cancel();
            undoDelayed = null;
        }
        Compensations compensations = Objects.requireNonNull(undo);
        compensations.end(run, failure);
        undoNext(compensations);
    }

    private Step undoStep(int node) {
        return undoDelayed == null
                ? new Step.Compensate(pathOf(node), undoAttempt)
                : new Step.SleepUntil(pathOf(node), undoDelayed.nanos);
    }

    private void undoTimedOut(int node, Duration timeout) {
        if (undoDelayed == null) {
            stepping.add(new Step.Cancel(pathOf(node)));
        }
        endUndo(UndoCall.late(run, run.graph.ids[node], timeout, undoAttempt, null));
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
                transitions.endByItself(
                        runner, call.node, call, NodeEnd.Verdict.failed(failure, NodeEnd.Reason.ACTION));
            case CallResult.Retry(Throwable failure, Duration delay) -> retry(runner, call, failure, delay);
        }
    }

    private void retry(Runner runner, SteppedCall call, Throwable failure, Duration delay) {
        int node = call.node;
        NodeOptions own = run.graph.optionsOf(node);
        TimeLimit limit = run.limitOf(node, own.timeout);
        if (limit != null && delay.compareTo(limit.deadline().remaining()) >= 0) {
            int most = own.retry == null ? call.attempt : own.retry.maxAttempts();
            Throwable late =
                    Attempts.noTimeFor(delay, run.graph.ids[node], call.attempt, most, limit, failure, call.earlier);
            transitions.end(runner, node, call, NodeEnd.Verdict.outOfTime(late));
            return;
        }
        List<Throwable> failures = new ArrayList<>(call.earlier);
        Attempts.keep(failure, failures);
        SteppedCall next = new SteppedCall(this, node, call.attempt + 1, call.group, failures, null);
        run.states.set(node, next);
        if (delay.isPositive()) {
            next.delayed = stepping.time.after(delay, () -> {
                next.delayed = null;
                stepping.add(stepOf(next));
            });
        }
        stepping.add(stepOf(next));
    }

    /** Called after a node was ended from outside. */
    void withdraw(SteppedCall call) {
        if (call.delayed != null) {
            call.delayed.cancel();
        } else if (!run.graph.optionsOf(call.node).has(NodeOptions.NO_INTERRUPT)) {
            stepping.add(new Step.Cancel(pathOf(call.node)));
        }
    }

    // Ending.

    @Override
    void undo(Runner runner, FlowStatus status, Compensations compensations, boolean hasUndosLeft) {
        undo = compensations;
        compensations.begin();
        undoNext(compensations);
    }

    private void undoNext(Compensations compensations) {
        int node = compensations.current();
        if (node < 0) {
            endUndone(run.progress.status(), compensations);
            return;
        }
        undoAttempt = 1;
        undoUntil = Long.MAX_VALUE;
        Duration timeout =
                Objects.requireNonNull(run.graph.optionsOf(node).compensation).timeout();
        if (timeout != null) {
            StepperTime.Moment moment = stepping.time.after(timeout, () -> undoTimedOut(node, timeout));
            undoTimeout = moment;
            undoUntil = moment.nanos;
        }
        stepping.add(undoStep(node));
    }

    /** Returns the node whose compensation is called or waits for its next attempt, or -1. */
    private int undoing() {
        return undo == null ? NodeEnd.NO_NODE : undo.current();
    }

    @Override
    void ended() {
        if (outer == null) {
            stepping.add(new Step.Complete(result().status()));
        } else {
            stepping.ended(this);
        }
    }
}
