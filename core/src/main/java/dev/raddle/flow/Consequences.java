package dev.raddle.flow;

import dev.raddle.flow.NodeWaits.NodeWait;
import dev.raddle.flow.threads.GroupPlacement;
import dev.raddle.flow.threads.NodePhase;
import dev.raddle.flow.threads.Runner;
import dev.raddle.lock.Fields;
import dev.raddle.task.CancelledException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What follows in the graph from the end of a node: other nodes are triggered, fail, or are skipped. */
final class Consequences {

    /*
     * Overview. A node is triggered when its last dependency is met, fails when one can no longer be met, and is
     * skipped when nothing needs it any more. Counters of NodeStates decide which thread takes each of these steps.
     * Nodes that end as a consequence are added to the Runner and processed from there, never by recursion, and so are
     * the nodes that are triggered.
     *
     * A triggered node counts as begun: it is not skipped as unneeded, whether or not a thread has taken it. The only
     * exceptions are nodes that wait for a permit of their group, for a moment or for a signal.
     */

    private static final VarHandle NEXT_ROOT = Fields.handle(MethodHandles.lookup(), "nextRoot", int.class);

    private final RunFacts run;
    private final NodeStates states;
    private final NodeTransitions transitions;

    private @Nullable Replay replay; // null unless recorded ends are being applied; by the thread that starts the run
    private boolean hasBegun; // whether roots are triggered; written by the starter before they are

    @SuppressWarnings("UnusedVariable") // accessed by NEXT_ROOT
    private volatile int nextRoot; // the next root to trigger, if rootsAtOnce limits them

    Consequences(RunFacts run, NodeTransitions transitions) {
        this.run = run;
        this.transitions = transitions;
        states = run.states;
    }

    /**
     * Processes the nodes that have ended, and those that end as a consequence, until there are none.
     *
     * @return false if nested runs are to be stopped first; then the caller does so and calls this method again
     */
    boolean settle(Runner runner) {
        while (runner.stopped == null) {
            int node = runner.nextEnded();
            if (node >= 0) {
                settle(runner, node);
            } else if (runner.failed >= 0) {
                int failed = runner.failed;
                runner.failed = NodeEnd.NO_NODE;
                stopForFailure(runner, failed);
            } else if (!runner.isApplier || !transitions.applyNext(runner)) {
                return true;
            }
        }
        return false;
    }

    private void settle(Runner runner, int node) {
        if (run.timeouts != null) {
            run.timeouts.disarm(node);
        }
        if (transitions.events != null) {
            transitions.events.notifyEnded(node, replay != null && replay.isSilent(node));
            runner.now = -1; // user code took time
        }
        boolean success = states.succeeded(node);
        settle(runner, node, success);
        if (success && hasBegun && run.options.rootsAtOnce > 0) {
            triggerNextRoot(runner);
        }
    }

    /** Processes the end of a node of which nothing but the graph is notified. */
    void settle(Runner runner, int node, boolean success) {
        if (run.graph.isOutput[node]) {
            run.progress.countDownOutputs();
        }
        propagateEnd(runner, node, success);
        runner.finished++;
    }

    private void propagateEnd(Runner runner, int node, boolean success) {
        Graph graph = run.graph;
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
                && run.options.onFailure == OnFailure.FAIL_FAST
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

    /** Triggers the nodes without dependencies, or as many of them as the run triggers at a time. */
    void triggerRoots(Runner runner) {
        hasBegun = true;
        int limit = run.options.rootsAtOnce;
        if (limit == 0) {
            for (int root : run.graph.roots) {
                trigger(runner, root);
            }
        }
        for (int each = 0; each < limit; each++) {
            triggerNextRoot(runner);
        }
    }

    /**
     * Triggers the next root that has not been restored, at the start or after a node has succeeded, in a run that
     * limits how many are triggered at a time. One that has failed triggers none: its action may still be running.
     */
    private void triggerNextRoot(Runner runner) {
        for (int next; (next = (int) NEXT_ROOT.getAndAdd(this, 1)) < run.graph.roots.length; ) {
            int root = run.graph.roots[next];
            if (!NodeStates.isEnd(states.get(root))) {
                trigger(runner, root);
                return;
            }
        }
    }

    /** Lets a replay receive the triggered nodes; null ends that. Called before any node runs. */
    void replayBy(@Nullable Replay receiver) {
        replay = receiver;
    }

    private void trigger(Runner runner, int node) {
        if (replay != null) {
            replay.trigger(runner, node);
        } else if (tryDecide(runner, node) && tryArm(runner, node)) {
            addReady(runner, node);
        }
    }

    /** Returns whether a triggered node has not ended. One that chooses then releases its upstreams. */
    boolean tryDecide(Runner runner, int node) {
        boolean chooses = run.graph.is(Graph.CHOOSES, node);
        boolean isFirst = chooses ? states.compareAndSet(node, null, NodePhase.Plain.READY) : states.get(node) == null;
        if (isFirst) {
            states.recordTrigger(node);
        }
        if (isFirst && chooses) {
            releaseUpstreams(runner, node);
        }
        return isFirst;
    }

    /** Returns the content of the slot of a node that is triggered and has not begun. */
    @Nullable
    Object readyPhase(int node) {
        return run.graph.is(Graph.CHOOSES, node) ? NodePhase.Plain.READY : null;
    }

    /** Arms the timeout of a triggered node, if it has one. Returns false if that fails, and the node ends. */
    boolean tryArm(Runner runner, int node) {
        NodeOptions own = run.graph.options[node];
        if (own != null && own.timeout != null && !armTimeout(runner, node, own.timeout)) {
            return false;
        }
        if (transitions.events != null) {
            transitions.events.notifySubmitted(node);
        }
        return true;
    }

    /** Adds a node to those that are to be dispatched. */
    void addReady(Runner runner, int node) {
        NodeOptions own = run.graph.options[node];
        if (own != null && own.group != null) {
            runner.grouped.add(states, node);
        } else {
            runner.ready.add(states, node);
        }
    }

    /** Arms the timeout of a node; ends the node and returns false if that fails. */
    private boolean armTimeout(Runner runner, int node, Duration length) {
        NodeTimeouts times = Objects.requireNonNull(run.timeouts);
        try {
            times.arm(node, length, () -> transitions.endAtTimeout(node, length));
        } catch (Throwable noTime) {
            NodeEnd.Verdict untimed = NodeEnd.Verdict.failed(noTime, NodeEnd.Reason.UNTIMED);
            transitions.end(runner, node, readyPhase(node), untimed);
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
        for (int edge = run.graph.upStart[node]; edge < run.graph.upStart[node + 1]; edge++) {
            int upstream = run.graph.up[edge];
            if (run.graph.upKind[edge].isMust()
                    && states.get(upstream) instanceof NodeEnd end
                    && end.state() != NodeState.SUCCESS) {
                endLike(runner, node, end, NodeEnd.Reason.UPSTREAM, upstream);
                return;
            }
        }
    }

    /**
     * Ends a node whose clause can no longer be met, like the upstream with the most severe end, the first of those.
     */
    private void failByClause(Runner runner, int clause) {
        int first = run.graph.clauseEdge[clause];
        int mostSevereNode = NodeEnd.NO_NODE;
        NodeEnd mostSevere = null;
        for (int edge = first; edge < first + run.graph.clauseSize[clause]; edge++) {
            if (states.get(run.graph.up[edge]) instanceof NodeEnd end
                    && end.state() != NodeState.SUCCESS
                    && (mostSevere == null || end.state().compareTo(mostSevere.state()) < 0)) {
                mostSevereNode = run.graph.up[edge];
                mostSevere = end;
            }
        }
        if (mostSevere != null) {
            endLike(runner, run.graph.clauseTarget[clause], mostSevere, NodeEnd.Reason.CHOICE, mostSevereNode);
        }
    }

    private void endLike(Runner runner, int node, NodeEnd end, NodeEnd.Reason reason, int upstream) {
        transitions.end(runner, node, null, new NodeEnd.Verdict(end.state(), end.cause(), reason, upstream));
    }

    /**
     * Releases the upstreams of a node that no longer needs them, and skips those that become unneeded, transitively.
     */
    void releaseUpstreams(Runner runner, int decided) {
        // Skipping a pending node releases its own upstreams in turn; the list avoids recursion.
        runner.addToRelease(decided);
        if (runner.isReleasing) {
            return;
        }
        runner.isReleasing = true;
        for (int node; (node = runner.takeToRelease()) >= 0; ) {
            for (int edge = run.graph.upStart[node]; edge < run.graph.upStart[node + 1]; edge++) {
                int upstream = run.graph.up[edge];
                if (!NodeStates.isEnd(states.get(upstream)) && states.releaseConsumer(upstream)) {
                    skipUnneeded(runner, upstream, node);
                }
            }
        }
        runner.isReleasing = false;
    }

    /**
     * Skips a node that has become unneeded, if it is pending, or waits for its group, a moment or a signal. Any other
     * triggered node counts as begun, so that the outcome does not depend on whether a thread has taken it yet.
     */
    private void skipUnneeded(Runner runner, int node, int decided) {
        while (true) {
            Object slot = states.get(node);
            if (isWaiting(node, slot) || (slot == null && !isTriggered(node))) {
                if (trySkip(runner, node, slot, decided)) {
                    return;
                }
            } else if (transitions.waits != null && run.graph.is(Graph.WAITS, node) && !NodeStates.isEnd(slot)) {
                if (transitions.waits.tryMarkUnneeded(node, slot, decided)) {
                    return;
                }
            } else {
                if (run.options.obsolete == UnneededPolicy.INTERRUPT && !NodeStates.isEnd(slot)) {
                    CancelledException cause =
                            new CancelledException("node \"" + run.graph.ids[node] + "\" of flow \"" + run.graph.name
                                    + "\" is not needed any more: \"" + run.graph.ids[decided] + "\" was decided");
                    NodeEnd.Reason reason = NodeEnd.Reason.OBSOLETE;
                    NodeEnd.Verdict verdict = new NodeEnd.Verdict(NodeState.CANCELLED, cause, reason, decided);
                    transitions.end(runner, node, verdict);
                }
                return;
            }
        }
    }

    /**
     * Returns whether a node with an empty slot is triggered. A node that chooses is not: its slot would contain READY.
     */
    private boolean isTriggered(int node) {
        if (!hasBegun || run.graph.is(Graph.CHOOSES, node)) {
            return false;
        }
        for (int edge = run.graph.upStart[node]; edge < run.graph.upStart[node + 1]; edge++) {
            int upstream = run.graph.up[edge];
            boolean met = run.graph.upKind[edge].isMust()
                    ? states.succeeded(upstream)
                    : NodeStates.isEnd(states.get(upstream));
            if (!met) {
                return false;
            }
        }
        return true;
    }

    /** Returns whether a node without a thread waits for its group, a moment or a signal, or is about to. */
    private boolean isWaiting(int node, @Nullable Object slot) {
        boolean notBegun = slot == null || slot == NodePhase.Plain.READY;
        return slot instanceof GroupPlacement
                || slot instanceof NodeWait
                || (notBegun && (run.graph.is(Graph.WAITS, node) || run.graph.optionsOf(node).group != null));
    }

    /** Skips a node that has no thread and is unneeded. Returns false if its phase has changed meanwhile. */
    boolean trySkip(Runner runner, int node, @Nullable Object slot, int decided) {
        NodeEnd.Verdict unneeded = new NodeEnd.Verdict(NodeState.SKIPPED, null, NodeEnd.Reason.UNNEEDED, decided);
        boolean skipped = transitions.end(runner, node, slot, unneeded);
        if (skipped) {
            transitions.withdraw(node, slot);
        }
        return skipped;
    }

    private void stopForFailure(Runner runner, int failed) {
        Throwable cause = states.cause(failed);
        RunProgress.Stop why = new RunProgress.Stop(FlowStatus.FAILED, cause, failed);
        if (run.progress.trySetStop(why)) {
            transitions.endAll(runner, why);
        }
    }
}
