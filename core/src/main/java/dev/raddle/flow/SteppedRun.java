package dev.raddle.flow;

import dev.raddle.flow.NodeWaits.NodeWait;
import dev.raddle.flow.threads.Runner;
import dev.raddle.flow.threads.Withdrawable;
import dev.raddle.kernel.Attempts;
import dev.raddle.kernel.EnclosingScope;
import dev.raddle.kernel.TimeLimit;
import dev.raddle.task.CancelledException;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.TaskContext;
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

    /**
     * One call by the driver, or the wait for it: of an action or a fallback, in the slot of its node, or of a
     * compensation.
     */
    private final class SteppedCall implements Withdrawable {
        final int node;
        final int attempt; // the current or the next one
        final @Nullable String group;
        final List<Throwable> earlier; // the failures of earlier attempts
        final @Nullable Throwable failure; // for the fallback, if only that is to be called
        final boolean isUndo; // of a compensation

        StepperTime.@Nullable Moment delayed; // the begin of the attempt, if that is later; by the driver's thread only

        SteppedCall(
                int node,
                int attempt,
                @Nullable String group,
                List<Throwable> earlier,
                @Nullable Throwable failure,
                boolean isUndo) {
            this.node = node;
            this.attempt = attempt;
            this.group = group;
            this.earlier = List.copyOf(earlier);
            this.failure = failure;
            this.isUndo = isUndo;
        }

        /** Returns the call that follows after a failure of this one. */
        SteppedCall next(Throwable latest) {
            List<Throwable> failures = new ArrayList<>(earlier);
            Attempts.keep(latest, failures);
            return new SteppedCall(node, attempt + 1, group, failures, null, isUndo);
        }

        @Override
        public boolean isWaiting() {
            return false;
        }

        @Override
        public void withdraw() {
            if (delayed != null) {
                delayed.cancel();
            } else if (isUndo || !run.graph.optionsOf(node).has(NodeOptions.NO_INTERRUPT)) {
                stepper.add(new Step.Cancel(run.path(node)));
            }
        }
    }

    private final FlowStepper<?> stepper;
    private volatile @Nullable SteppedCall undoing; // the compensation that is called or waits for its next attempt
    private volatile StepperTime.@Nullable Moment undoTimeout; // of that one; null if it has none

    SteppedRun(
            FlowStepper<?> stepper,
            Graph graph,
            @Nullable Object parameter,
            RunOptions.Values options,
            @Nullable SteppedRun outer,
            int outerNode) {
        super(graph, parameter, options, outer, outerNode);
        this.stepper = stepper;
        ensureUniquePaths(graph);
        stepper.runs.put(run.path(), this);
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

    // Beginning.

    @Override
    boolean dispatch(Runner runner) {
        int node = runner.ready.takeFirst(run.states);
        if (node < 0) {
            node = runner.grouped.takeFirst(run.states);
        }
        if (node >= 0) {
            start(runner, node);
        }
        return node < 0;
    }

    private void addEnded(int node) {
        stepper.add(new Step.Ended(run.path(node), run.states.state(node), run.states.via(node)));
    }

    // Starting a node.

    private void start(Runner runner, int node) {
        Object expected = transitions.consequences.readyPhase(node);
        if (run.progress.isStopping() || run.states.get(node) != expected) {
            return; // it has ended meanwhile, or the thread that stops the run ends it
        }
        NodeOptions own = run.graph.optionsOf(node);
        SteppedCall call;
        try {
            call = new SteppedCall(node, 1, groupOf(node, own), List.of(), null, false);
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
            stepper.add(stepOf(call));
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
        String path = run.path(call.node);
        if (call.delayed != null) {
            return new Step.SleepUntil(path, call.delayed.nanos);
        }
        return call.isUndo
                ? new Step.Compensate(path, call.attempt)
                : new Step.Start(path, call.attempt, call.group, deadlineNanos(call.node));
    }

    private long deadlineNanos(int node) {
        Deadline nearer = run.deadlineOf(node);
        return nearer == null ? Long.MAX_VALUE : nearer.nanoTime();
    }

    private void beginWait(Runner runner, int node, SteppedCall call) throws Exception {
        NodeWaits waits = Objects.requireNonNull(transitions.waits);
        waits.begin(runner, node, call, waits.lengthOf(node));
        if (run.states.get(node) instanceof NodeWait wait) {
            stepper.add(stepOf(wait));
        }
    }

    private Step stepOf(NodeWait wait) {
        return wait.until == null
                ? new Step.AwaitSignal(run.path(wait.node), Objects.requireNonNull(run.graph.signalTypeOf(wait.node)))
                : new Step.SleepUntil(run.path(wait.node), wait.until.nanoTime());
    }

    @Override
    SteppedRun newNested(Graph plan, @Nullable Object parameter, RunOptions.Values options, int node) {
        return new SteppedRun(stepper, plan, parameter, options, this, node);
    }

    @Override
    boolean tryDeferFallback(int node, Object expected, Throwable failure) {
        SteppedCall call = new SteppedCall(node, 1, null, List.of(), failure, false);
        run.states.set(node, call);
        stepper.add(stepOf(call));
        return true;
    }

    // Calls.

    /** Calls the action or the fallback of a node. Safe for any thread. */
    CallResult call(int node, int attempt) {
        if (!(run.states.get(node) instanceof SteppedCall call) || call.attempt != attempt) {
            return new CallResult.Failed(new CancelledException("node \"" + run.path(node) + "\" of " + label()
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
            Callable<@Nullable Object> action = () -> inScope(node, () -> run.graph.bodies[node].call(run, node));
            Object value = own.retry == null
                    ? action.call()
                    : Attempts.callOnce(action, own.retry, attempt, stepper.realTime, run.graph.ids[node], run::decide);
            return new CallResult.Returned(value);
        } catch (Throwable failure) {
            CallResult next = afterFailure(own.retry, attempt, failure, call.earlier);
            return next instanceof CallResult.Failed(Throwable last) ? recover(call, own, last) : next;
        }
    }

    private @Nullable Object inScope(int node, Callable<@Nullable Object> action) throws Exception {
        NodeScope scope = new NodeScope(run, node, realDeadline(node), EnclosingScope.innermost());
        return run.callInStarterContext(
                () -> TaskContext.current().within(scope).call(action));
    }

    private @Nullable Deadline realDeadline(int node) {
        long nanos = deadlineNanos(node);
        TimeSource real = stepper.realTime;
        return nanos == Long.MAX_VALUE ? null : Deadline.after(real, Duration.ofNanos(nanos - stepper.time.nanoTime()));
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
        StepperTime.Moment timeout = undoTimeout;
        SteppedCall call = undoing;
        List<Throwable> earlier = call != null && call.node == node ? call.earlier : List.of();
        try {
            Callable<Boolean> action = () -> {
                how.call(run, new RunNodeContext(run, node, () -> undoTime(timeout)), run.states.value(node));
                return true;
            };
            Attempts.callOnce(action, how.retry(), attempt, stepper.realTime, UndoCall.taskOf(run, node), run::decide);
            return new CallResult.Returned(null);
        } catch (Throwable failure) {
            return afterFailure(how.retry(), attempt, failure, earlier);
        }
    }

    private Duration undoTime(StepperTime.@Nullable Moment timeout) {
        return timeout == null ? RunNodeContext.FOREVER : Duration.ofNanos(timeout.nanos - stepper.time.nanoTime());
    }

    // Reports.

    /** Applies the result of a compensation, unless it was reported before. */
    void compensated(int node, int attempt, CallResult reported) {
        SteppedCall call = undoing;
        if (call == null || call.node != node || call.attempt != attempt || call.delayed != null) {
            return;
        }
        switch (reported) {
            case CallResult.Returned _, CallResult.Recovered _ -> endUndo(null);
            case CallResult.Failed(Throwable failure) -> endUndo(failure);
            case CallResult.Retry(Throwable failure, Duration delay) -> {
                Compensation how = Objects.requireNonNull(run.graph.optionsOf(node).compensation);
                String task = UndoCall.taskOf(run, node);
                Throwable late = late(call, how.retry(), task, undoLimit(how), failure, delay);
                if (late != null) {
                    endUndo(late);
                } else {
                    SteppedCall next = call.next(failure);
                    undoing = next;
                    add(next, delay);
                }
            }
        }
    }

    private @Nullable TimeLimit undoLimit(Compensation how) {
        StepperTime.Moment until = undoTimeout;
        Duration timeout = how.timeout();
        return until == null || timeout == null
                ? null
                : new TimeLimit(Deadline.after(stepper.time, undoTime(until)), timeout, null);
    }

    private void endUndo(@Nullable Throwable failure) {
        if (undoTimeout != null) {
            undoTimeout.cancel();
            undoTimeout = null;
        }
        Objects.requireNonNull(transitions.compensations).end(run, failure);
        undoNext();
    }

    private void undoTimedOut(Duration timeout) {
        SteppedCall call = Objects.requireNonNull(undoing);
        call.withdraw();
        endUndo(Attempts.withEarlier(UndoCall.late(run, call.node, timeout, call.attempt, null), call.earlier));
    }

    /** Applies the result of a call, unless it was reported before. */
    void settled(int node, int attempt, CallResult reported) {
        Object slot = run.states.get(node);
        if (NodeStates.isEnd(slot) || (slot instanceof SteppedCall next && attempt < next.attempt)) {
            return; // too late
        }
        if (!(slot instanceof SteppedCall call) || call.delayed != null) {
            throw new IllegalStateException("no call of node \"" + run.path(node) + "\" of " + label()
                    + " is under way; it is " + run.states.state(node));
        }
        runTransitions(runner -> settle(runner, call, reported));
    }

    private void settle(Runner runner, SteppedCall call, CallResult reported) {
        switch (reported) {
            case CallResult.Returned(Object value) ->
                transitions.succeed(runner, call.node, call, value == null ? NodeStates.NULL : value);
            case CallResult.Recovered(Object value, Throwable failure) ->
                transitions.succeed(runner, call.node, call, NodeEnd.recovered(value, failure, run.now()));
            case CallResult.Failed(Throwable failure) ->
                transitions.end(runner, call.node, call, NodeEnd.Verdict.failed(failure, NodeEnd.Reason.ACTION));
            case CallResult.Retry(Throwable failure, Duration delay) -> retry(runner, call, failure, delay);
        }
    }

    private void retry(Runner runner, SteppedCall call, Throwable failure, Duration delay) {
        int node = call.node;
        NodeOptions own = run.graph.optionsOf(node);
        Throwable late = late(call, own.retry, run.graph.ids[node], run.limitOf(node, own.timeout), failure, delay);
        if (late != null) {
            transitions.end(runner, node, call, NodeEnd.Verdict.outOfTime(late));
            return;
        }
        SteppedCall next = call.next(failure);
        run.states.set(node, next);
        add(next, delay);
    }

    /** Returns the exception of a call whose next attempt would begin after its limit, or null if there is time. */
    private static @Nullable Throwable late(
            SteppedCall call,
            @Nullable RetryPolicy retry,
            String task,
            @Nullable TimeLimit limit,
            Throwable failure,
            Duration delay) {
        if (limit == null || delay.compareTo(limit.deadline().remaining()) < 0) {
            return null;
        }
        int most = retry == null ? call.attempt : retry.maxAttempts();
        return Attempts.noTimeFor(delay, task, call.attempt, most, limit, failure, call.earlier);
    }

    /** Requests a call of the driver, after a delay. */
    private void add(SteppedCall call, Duration delay) {
        if (delay.isPositive()) {
            call.delayed = stepper.time.after(delay, () -> {
                call.delayed = null;
                stepper.add(stepOf(call));
            });
        }
        stepper.add(stepOf(call));
    }

    // Ending.

    @Override
    void undo(Runner runner, FlowStatus status, Compensations compensations, boolean hasUndosLeft) {
        compensations.begin();
        undoNext();
    }

    private void undoNext() {
        Compensations compensations = Objects.requireNonNull(transitions.compensations);
        int node = compensations.current();
        if (node < 0) {
            undoing = null;
            endUndone(run.progress.status(), compensations);
            return;
        }
        SteppedCall call = new SteppedCall(node, 1, null, List.of(), null, true);
        undoing = call;
        Duration timeout =
                Objects.requireNonNull(run.graph.optionsOf(node).compensation).timeout();
        undoTimeout = timeout == null ? null : stepper.time.after(timeout, () -> undoTimedOut(timeout));
        add(call, Duration.ZERO);
    }

    @Override
    void ended() {
        if (outer == null) {
            stepper.add(new Step.Complete(result().status()));
        } else {
            stepper.runs.remove(run.path());
        }
    }
}
