package dev.raddle.flow;

import dev.raddle.kernel.Attempts;
import dev.raddle.kernel.EnclosingScope;
import dev.raddle.kernel.Recorder;
import dev.raddle.task.CancelledException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Ends the nodes of a run and applies the consequences to other nodes. Calls callbacks, but executes no actions. */
abstract class NodeTransitions extends EnclosingScope {

    /*
     * Overview. NodeStates holds the state of each node; this class changes it.
     *
     * The thread that ends a node does the following, in this order:
     *
     *   1. one compare-and-set ends the node, state and value together (NodeStates);
     *   2. the result callback of the node is called;
     *   3. the edges out of the node are traversed: counters are decremented, and other nodes are ended without running
     *      (failed, skipped) or triggered. Those that are ended go through 2 and 3 themselves, from a list, not by
     *      recursion;
     *   4. when no ended node is left to process, the triggered nodes are dispatched (Dispatcher).
     *
     * A thread that ends nodes from outside (a deadline, a cancel) does 1 for all of them, then 2 to 4. So a skip is in
     * force before the node that caused it begins, callbacks are called before dependents begin, and each end is
     * processed once: by the thread whose compare-and-set succeeded.
     *
     * `stop` is set once, by the deadline, a cancel, the first failure under FAIL_FAST, or the completion, which
     * excludes the others. Then all nodes that have not ended are ended. Meanwhile other threads may still change the
     * states of nodes; each node nevertheless ends exactly once, and no node begins after all have ended.
     *
     * A triggered node counts as begun: it is not skipped as unneeded, whether or not a thread has taken it. The only
     * exception is a node that waits for a permit of its group.
     */

    private static final VarHandle STOP;

    static {
        try {
            STOP = MethodHandles.lookup().findVarHandle(NodeTransitions.class, "stop", Stop.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    /** The reason why the run was stopped. */
    record Stop(FlowStatus status, @Nullable Throwable cause, int causedBy) {
        static final Stop COMPLETE = new Stop(FlowStatus.SUCCESS, null, NO_NODE);
    }

    static final int NO_NODE = NodeEnd.NO_NODE;

    final Graph graph;
    final NodeStates states;
    final RunOptions options;
    final boolean isRecorded; // whether flight recordings include the nodes of this run
    final @Nullable Compensations compensations; // null if nothing can be undone

    @Nullable
    FlowEvents events; // null if there are no callbacks, listener and recording; written by the constructor

    @Nullable
    NodeTimeouts nodeTimeouts; // null if no node has a timeout; written by the constructor

    boolean hasBegun; // whether roots are triggered; written by the starter before they are
    private volatile @Nullable Stop stop;

    NodeTransitions(Graph graph, RunOptions options) {
        this.graph = graph;
        this.options = options;
        boolean alone = options.inCallersThread && !graph.hasTimeouts && !graph.hasGroups && !graph.hasNested;
        isRecorded = Recorder.isOn();
        states = new NodeStates(graph, options.timed || options.listener != null || isRecorded, alone);
        compensations = graph.hasCompensations ? new Compensations() : null;
    }

    abstract long now();

    /**
     * Calls a function of the user in the context that was captured when the run was started, in addition to the thread
     * context.
     */
    abstract <T> T callInStarterContext(Callable<? extends T> action) throws Exception;

    /** Applies transitions on the alarm thread, which actions cannot delay. */
    abstract void runTransitionsOnAlarmThread(Consumer<Runner> action);

    /** Counts an output that has ended and whose result callback has returned. */
    abstract void countDownOutputs();

    /**
     * Triggers the next root after a node has succeeded, in a run that limits how many roots are triggered at a time.
     */
    abstract void triggerNextRoot(Runner by);

    /** Stops the nested runs of nodes that a runner has ended. */
    abstract void stopNested(Runner by);

    final boolean trySetStop(Stop why) {
        return STOP.compareAndSet(this, (Stop) null, why);
    }

    /** Returns whether the nodes that have not ended are being ended. */
    final boolean isStopping() {
        Stop why = stop;
        return why != null && why != Stop.COMPLETE;
    }

    final @Nullable Stop stopped() {
        return stop;
    }

    // Ending a node.

    final void succeed(Runner runner, int node, Object expected, Object value) {
        FlowJournal journal = options.journal;
        if (journal != null && states.get(node) == expected) { // a result that is too late is not recorded
            try {
                Object plain = value instanceof NodeEnd end ? end.value() : value == NodeStates.NULL ? null : value;
                journal.finished(graph.ids[node], plain);
            } catch (Throwable failure) {
                end(runner, node, expected, NodeState.FAILED, failure, NodeEnd.Reason.ACTION, NO_NODE, true);
                return;
            }
        }
        if (!leave(runner, node, expected, value)) {
            return;
        }
        recordTimes(runner, node, beginTime(runner, expected));
        recordCompleted(node);
        runner.addEnded(node);
    }

    final void recordTimes(Runner runner, int node, long began) {
        if (states.isTimed()) {
            runner.now = now();
            states.recordBegin(node, began);
            states.recordEnd(node, runner.now);
        }
    }

    /** Returns the begin time of a node that this runner executed or that was a nested run, or -1. */
    private static long beginTime(Runner runner, @Nullable Object expected) {
        return expected == runner ? runner.began : expected instanceof NodePhase.Nested nested ? nested.began() : -1;
    }

    final void recordCompleted(int node) {
        if (compensations != null && graph.optionsOf(node).compensation() != null) {
            compensations.add(node);
        }
    }

    final void fail(Runner runner, int node, Object expected, Throwable failure) {
        CheckedFunction.F1<Throwable, ?> fallback = graph.optionsOf(node).fallback();
        Throwable cause = failure;
        if (fallback != null && states.get(node) == expected) {
            try {
                Object value = callInStarterContext(() -> fallback.apply(failure));
                succeed(
                        runner,
                        node,
                        expected,
                        new NodeEnd(NodeState.SUCCESS, ValueSource.FALLBACK, value, failure, NodeEnd.Reason.ACTION, -1, now()));
                return;
            } catch (Throwable again) {
                cause = withSuppressed(again, failure);
            }
        }
        end(runner, node, expected, NodeState.FAILED, cause, NodeEnd.Reason.ACTION, NO_NODE, true);
    }

    private static Throwable withSuppressed(Throwable main, Throwable other) {
        if (main != other) {
            main.addSuppressed(other);
        }
        return main;
    }

    /** Changes the phase of the node that the runner executes; returns false if another thread has ended the node. */
    final boolean leave(Runner runner, int node, Object expected, Object to) {
        while (!states.compareAndSet(node, expected, to)) {
            if (states.get(node) == NodePhase.Plain.INTERRUPTING) {
                yieldToOthers(); // the interrupt must not reach the next task of this thread
            } else if (states.get(node) != expected) {
                if (expected == runner) {
                    handleEndedByOther(runner, node);
                }
                return false;
            }
        }
        return true;
    }

    /** Yields to the thread that is about to end a node, which may need the carrier of this thread. */
    @SuppressWarnings("ThreadPriorityCheck") // correctness does not depend on it
    private static void yieldToOthers() {
        Thread.yield();
    }

    /** Called when another thread has ended the runner's node and taken over the runner's unreported count. */
    final void handleEndedByOther(Runner runner, int node) {
        while (states.get(node) == NodePhase.Plain.INTERRUPTING) {
            yieldToOthers();
        }
        if (!runner.isJoiner || !graph.optionsOf(node).has(NodeOptions.NO_INTERRUPT)) {
            Thread.interrupted(); // otherwise it may be meant for the joining thread
        }
        runner.finished = 0;
        runner.now = -1;
    }

    /**
     * Ends a node without success, unless it has ended. The caller must then call {@link #settleAll}.
     *
     * @param expected the expected content of the node's slot
     * @param causedBy the node that caused this, or -1
     * @param inThread whether the runner executes the node
     */
    final boolean end(
            Runner runner,
            int node,
            @Nullable Object expected,
            NodeState state,
            @Nullable Throwable cause,
            NodeEnd.Reason reason,
            int causedBy,
            boolean inThread) {
        Supplier<?> otherwise =
                graph.options[node] == null ? null : graph.optionsOf(node).defaultValue();
        long now = now();
        boolean ended;
        if (otherwise instanceof NodeOptions.Constant(Object value)) {
            ended = leaveOrCompareAndSet(
                    runner,
                    node,
                    expected,
                    new NodeEnd(state, ValueSource.DEFAULT, value, cause, reason, causedBy, now),
                    inThread);
        } else if (otherwise == null) {
            ended = leaveOrCompareAndSet(
                    runner, node, expected, new NodeEnd(state, ValueSource.NONE, null, cause, reason, causedBy, now), inThread);
        } else {
            ended = leaveOrCompareAndSet(runner, node, expected, NodePhase.Plain.ENDING, inThread);
            if (ended) {
                states.set(node, withDefault(otherwise, state, cause, reason, causedBy, now));
            }
        }
        if (ended) {
            afterEnd(runner, node, expected, now);
        }
        return ended;
    }

    private boolean leaveOrCompareAndSet(
            Runner runner, int node, @Nullable Object expected, Object to, boolean inThread) {
        return (inThread && expected != null)
                ? leave(runner, node, expected, to)
                : states.compareAndSet(node, expected, to);
    }

    private void afterEnd(Runner runner, int node, @Nullable Object expected, long now) {
        states.recordBegin(node, beginTime(runner, expected));
        states.recordEnd(node, now);
        if (expected == runner) {
            runner.now = now;
        }
        runner.addEnded(node);
        if (expected == null && !isStopping() && !stillNeedsUpstreams(node)) {
            releaseUpstreams(runner, node);
        }
    }

    /** Returns whether a node that has ended without running still counts as one that needs its upstreams. */
    private boolean stillNeedsUpstreams(int node) {
        return options.onFailure == OnFailure.KEEP_GOING
                && states.get(node) instanceof NodeEnd end
                && end.state() != NodeState.SKIPPED;
    }

    private NodeEnd withDefault(
            Supplier<?> otherwise,
            NodeState state,
            @Nullable Throwable cause,
            NodeEnd.Reason reason,
            int causedBy,
            long now) {
        try {
            return new NodeEnd(state, ValueSource.DEFAULT, callInStarterContext(otherwise::get), cause, reason, causedBy, now);
        } catch (Throwable failure) {
            if (cause == null) {
                options.sink.report("default of a node of flow \"" + graph.name + "\"", failure);
            } else {
                withSuppressed(cause, failure);
            }
            return new NodeEnd(state, ValueSource.NONE, null, cause, reason, causedBy, now);
        }
    }

    // What follows from an end.

    /** Processes the nodes that have ended, and those that end as a consequence, until there are none. */
    final void settleAll(Runner runner) {
        for (int node; (node = runner.nextEnded()) >= 0; ) {
            if (nodeTimeouts != null) {
                nodeTimeouts.disarm(node);
            }
            if (events != null) {
                events.notifyEnded(node);
                runner.now = -1; // user code took time
            }
            if (graph.isOutput[node]) {
                countDownOutputs();
            }
            boolean success = states.succeeded(node);
            propagateEnd(runner, node, success);
            if (success && options.rootsAtOnce > 0) {
                triggerNextRoot(runner);
            }
            runner.finished++;
        }
        int failed = runner.failed;
        if (failed >= 0) {
            runner.failed = NO_NODE;
            stopForFailure(runner, failed);
            settleAll(runner);
        }
    }

    final void propagateEnd(Runner runner, int node, boolean success) {
        int last = graph.downStart[node + 1];
        for (int each = graph.downStart[node]; each < last; each++) {
            int target = graph.down[each] >>> 2;
            switch (graph.down[each] & 3) {
                case Graph.TO_MUST -> {
                    if (success) {
                        countDown(runner, target);
                    } else {
                        failByMust(runner, target);
                    }
                }
                case Graph.TO_AFTER -> countDown(runner, target);
                default -> {
                    if (success) {
                        if (states.countSuccess(target, node)) {
                            countDown(runner, graph.clauseTarget[target]);
                        }
                    } else if (states.countFailure(target)) {
                        failByClause(runner, target);
                    }
                }
            }
        }
        if (!success
                && options.onFailure == OnFailure.FAIL_FAST
                && runner.failed < 0
                && states.state(node).isFailure()) {
            runner.failed = node;
        }
    }

    private void countDown(Runner runner, int node) {
        if (states.countDownTrigger(node)) {
            trigger(runner, node);
        }
    }

    final void trigger(Runner runner, int node) {
        if (graph.is(Graph.CHOOSES, node)) {
            if (!states.compareAndSet(node, null, NodePhase.Plain.READY)) {
                return;
            }
            releaseUpstreams(runner, node);
        } else if (states.get(node) != null) {
            return;
        }
        NodeOptions own = graph.options[node];
        if (own != null && own.timeout() != null && !armTimeout(runner, node, own.timeout())) {
            return;
        }
        if (events != null) {
            events.notifySubmitted(node);
        }
        if (own != null && own.group() != null) {
            runner.grouped.add(states, node);
        } else {
            runner.ready.add(states, node);
        }
    }

    /** Arms the timeout of a node; ends the node and returns false if that fails. */
    private boolean armTimeout(Runner runner, int node, Duration length) {
        NodeTimeouts times = Objects.requireNonNull(nodeTimeouts);
        try {
            times.arm(node, length);
        } catch (Throwable noTime) {
            Object expected = graph.is(Graph.CHOOSES, node) ? NodePhase.Plain.READY : null;
            end(runner, node, expected, NodeState.FAILED, noTime, NodeEnd.Reason.UNTIMED, NO_NODE, false);
            return false;
        }
        if (NodeStates.isEnd(states.get(node))) {
            times.disarm(node); // the thread that ended it may not have seen the alarm
        }
        return true;
    }

    /**
     * Ends a node after one of its musts has ended without success, in the same way as the first such must in
     * declaration order.
     */
    private void failByMust(Runner runner, int node) {
        if (states.get(node) != null) {
            return; // the common case if many upstreams fail together
        }
        for (int edge = graph.upStart[node]; edge < graph.upStart[node + 1]; edge++) {
            int upstream = graph.up[edge];
            if (FlowPlan.isMust(graph.upKind[edge])
                    && states.get(upstream) instanceof NodeEnd end
                    && end.state() != NodeState.SUCCESS) {
                end(runner, node, null, end.state(), end.cause(), NodeEnd.Reason.UPSTREAM, upstream, false);
                return;
            }
        }
    }

    /**
     * Ends a node whose clause can no longer be met, like the upstream with the most severe end, the first of those.
     */
    private void failByClause(Runner runner, int clause) {
        int first = graph.clauseEdge[clause];
        int mostSevereNode = NO_NODE;
        NodeEnd mostSevere = null;
        for (int edge = first; edge < first + graph.clauseSize[clause]; edge++) {
            if (states.get(graph.up[edge]) instanceof NodeEnd end
                    && end.state() != NodeState.SUCCESS
                    && (mostSevere == null || end.state().compareTo(mostSevere.state()) < 0)) {
                mostSevereNode = graph.up[edge];
                mostSevere = end;
            }
        }
        if (mostSevere != null) {
            int node = graph.clauseTarget[clause];
            end(
                    runner,
                    node,
                    null,
                    mostSevere.state(),
                    mostSevere.cause(),
                    NodeEnd.Reason.CHOICE,
                    mostSevereNode,
                    false);
        }
    }

    /**
     * Releases the upstreams of a node that no longer needs them, and skips those that become unneeded, transitively.
     */
    final void releaseUpstreams(Runner runner, int decided) {
        // Skipping a pending node releases its own upstreams in turn; the list avoids recursion.
        runner.addToRelease(decided);
        if (runner.isReleasing) {
            return;
        }
        runner.isReleasing = true;
        for (int node; (node = runner.takeToRelease()) >= 0; ) {
            for (int edge = graph.upStart[node]; edge < graph.upStart[node + 1]; edge++) {
                int upstream = graph.up[edge];
                if (!NodeStates.isEnd(states.get(upstream)) && states.releaseConsumer(upstream)) {
                    skipUnneeded(runner, upstream, node);
                }
            }
        }
        runner.isReleasing = false;
    }

    /**
     * Skips a node that has become unneeded, if it is pending or waits for its group. A triggered node counts as begun,
     * so that the outcome does not depend on whether a thread has taken it yet.
     */
    private void skipUnneeded(Runner runner, int node, int decided) {
        while (true) {
            Object slot = states.get(node);
            if (isWaitingForGroup(node, slot) || (slot == null && !isTriggered(node))) {
                if (end(runner, node, slot, NodeState.SKIPPED, null, NodeEnd.Reason.UNNEEDED, decided, false)) {
                    withdraw(slot);
                    return;
                }
            } else {
                if (options.obsolete == UnneededPolicy.INTERRUPT && !NodeStates.isEnd(slot)) {
                    CancelledException cause = new CancelledException("node \"" + graph.ids[node] + "\" of flow \""
                            + graph.name + "\" is not needed any more: \"" + graph.ids[decided] + "\" was decided");
                    endFromOutside(runner, node, NodeState.CANCELLED, cause, NodeEnd.Reason.OBSOLETE, decided);
                }
                return;
            }
        }
    }

    /**
     * Returns whether a node with an empty slot is triggered. A node that chooses is not: its slot would contain READY.
     */
    private boolean isTriggered(int node) {
        if (!hasBegun || graph.is(Graph.CHOOSES, node)) {
            return false;
        }
        for (int edge = graph.upStart[node]; edge < graph.upStart[node + 1]; edge++) {
            int upstream = graph.up[edge];
            boolean met = FlowPlan.isMust(graph.upKind[edge])
                    ? states.succeeded(upstream)
                    : NodeStates.isEnd(states.get(upstream));
            if (!met) {
                return false;
            }
        }
        return true;
    }

    /** Returns whether a node waits for its group, or is about to be placed there. */
    private boolean isWaitingForGroup(int node, @Nullable Object slot) {
        boolean notBegun = slot == null || slot == NodePhase.Plain.READY;
        return slot instanceof GroupPlacement
                || (notBegun && graph.optionsOf(node).group() != null);
    }

    private void withdraw(@Nullable Object slot) {
        if (slot instanceof GroupPlacement placement) {
            guard("withdraw() from the group", placement.node, placement::withdraw);
        }
    }

    // Ending from outside.

    private void stopForFailure(Runner runner, int failed) {
        Throwable cause = states.cause(failed);
        Stop why = new Stop(FlowStatus.FAILED, cause, failed);
        if (trySetStop(why)) {
            endAll(runner, why);
        }
    }

    final void endAll(Runner runner, Stop why) {
        boolean late = why.status() == FlowStatus.TIMED_OUT;
        NodeState state = late ? NodeState.TIMED_OUT : NodeState.CANCELLED;
        Throwable cause = why.status() == FlowStatus.FAILED
                ? new CancelledException(
                        "flow \"" + graph.name + "\" was stopped: node \"" + graph.ids[why.causedBy()] + "\" failed",
                        why.cause())
                : why.cause();
        for (int node = 0; node < graph.size; node++) {
            if (!endCallsUserCode(node)) {
                endInAnyPhase(runner, node, state, cause, NodeEnd.Reason.RUN_ENDED, why.causedBy());
            }
        }
        for (int node = 0; node < graph.size; node++) {
            endInAnyPhase(runner, node, state, cause, NodeEnd.Reason.RUN_ENDED, why.causedBy());
        }
        stopNested(runner);
    }

    /**
     * Returns whether ending a node calls user code or stops a nested run, which must not delay the ends of other
     * nodes.
     */
    private boolean endCallsUserCode(int node) {
        Supplier<?> otherwise = graph.optionsOf(node).defaultValue();
        return states.get(node) instanceof NodePhase.Nested
                || (otherwise != null && !(otherwise instanceof NodeOptions.Constant));
    }

    /** Ends a node in any phase, unless it has ended. The caller must then call {@link #settleAll}. */
    final void endFromOutside(
            Runner runner, int node, NodeState state, @Nullable Throwable cause, NodeEnd.Reason reason, int causedBy) {
        endInAnyPhase(runner, node, state, cause, reason, causedBy);
        stopNested(runner);
    }

    private void endInAnyPhase(
            Runner runner, int node, NodeState state, @Nullable Throwable cause, NodeEnd.Reason reason, int causedBy) {
        while (!tryEnd(runner, node, state, cause, reason, causedBy)) {
            yieldToOthers();
        }
    }

    /*
     * Uses instanceof instead of a pattern switch: the first pattern switch in a JVM takes long to bootstrap, and this
     * code runs when the first deadline passes.
     */
    private boolean tryEnd(
            Runner runner, int node, NodeState state, @Nullable Throwable cause, NodeEnd.Reason reason, int causedBy) {
        Object slot = states.get(node);
        if (slot instanceof Runner owner) {
            return endRunning(runner, node, owner, state, cause, reason, causedBy);
        }
        if (slot instanceof NodePhase.Beginning beginning) {
            beginning
                    .over()
                    .whenSet(() -> runTransitionsOnAlarmThread(
                            transition -> endFromOutside(transition, node, state, cause, reason, causedBy)));
            return true;
        }
        if (slot == NodePhase.Plain.INTERRUPTING) {
            return false;
        }
        if (slot == NodePhase.Plain.ENDING || NodeStates.isEnd(slot)) {
            return true;
        }
        boolean ended = end(runner, node, slot, state, cause, reason, causedBy, false);
        if (ended) {
            withdraw(slot);
            if (slot instanceof NodePhase.Nested nested) {
                runner.addStopped(nested.run());
            }
        }
        return ended;
    }

    private boolean endRunning(
            Runner runner,
            int node,
            Runner owner,
            NodeState state,
            @Nullable Throwable cause,
            NodeEnd.Reason reason,
            int causedBy) {
        int held = owner.finished;
        Thread thread = owner.thread;
        long began = owner.began;
        Object slot = owner;
        if (!graph.optionsOf(node).has(NodeOptions.NO_INTERRUPT)) {
            if (!states.compareAndSet(node, owner, NodePhase.Plain.INTERRUPTING)) {
                return false;
            }
            slot = NodePhase.Plain.INTERRUPTING;
            began = owner.began;
            if (thread != null) {
                guard("interrupt() of the thread", node, thread::interrupt);
            }
        }
        if (!end(runner, node, slot, state, cause, reason, causedBy, false)) {
            return false;
        }
        runner.finished += held;
        states.recordBegin(node, began); // the owner no longer records it
        Attempts<?> resting = owner.attempts;
        if (slot == owner && resting != null) {
            resting.endDelay(); // the thread is not interrupted
        }
        return true;
    }

    final void guard(String what, int node, Runnable action) {
        try {
            action.run();
        } catch (Throwable failure) {
            String whose = node == NO_NODE ? "" : " of node \"" + graph.ids[node] + "\"";
            options.sink.report(what + whose + " in flow \"" + graph.name + "\"", failure);
        }
    }
}
