package dev.raddle.flow;

import dev.raddle.flow.threads.EndSequence;
import dev.raddle.flow.threads.NestedRun;
import dev.raddle.flow.threads.NodePhase;
import dev.raddle.flow.threads.Runner;
import dev.raddle.flow.threads.Withdrawable;
import dev.raddle.kernel.Attempts;
import dev.raddle.kernel.InterruptWindow;
import dev.raddle.kernel.TimeLimit;
import dev.raddle.task.CancelledException;
import dev.raddle.task.TaskTimeoutException;
import dev.raddle.time.UserCode;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Ends the nodes of a run: the protocol between the threads that may end a node. Executes no actions. */
final class NodeTransitions {

    /*
     * Overview. NodeStates holds the state of each node; this class changes it. What follows in the graph is decided by
     * Consequences, and whether the run has ended by RunProgress.
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
     * A step returns its consequences in the Runner of the calling thread, which the engine takes from there: the ended
     * nodes, to be processed by `settle`; the ready nodes; the nested runs whose nodes were ended; the count of
     * finished nodes. The run above (Run) is called only for a fallback that it defers, for a default, and to enter it
     * anew for a step that must be made later, at a timeout or when a begin callback has returned.
     *
     * When the run is stopped (RunProgress), all nodes that have not ended are ended. Meanwhile other threads may still
     * change the states of nodes; each node nevertheless ends exactly once, and no node begins after all have ended. If
     * a runner is inside a node when another thread ends that node, the other thread takes over the runner's count of
     * finished nodes.
     *
     * In a run with a journal the thread that ends a node for a reason of its own, and the one that times it out, first
     * changes the slot to Recording, then records the end with its place in the sequence of ends, and then changes the
     * slot to RECORDED. The end takes effect, with 1 to 4, when those before it have (EndSequence). So one
     * compare-and-set decides between this end and the others (a timeout, the deadline, a cancel, the first failure, a
     * skip), and it precedes the record: a result that is too late is never recorded, and what is recorded becomes the
     * end of the node. A step that comes later leaves the node alone, and does not interrupt its thread. The node
     * counts as running, so the run does not end before it. If it has succeeded, it is added to the compensations
     * before it is counted as finished. If the run was stopped meanwhile, its dependents have ended, so they do not
     * begin. If the record fails, the node fails. A process that continues the run repeats the recorded ends through
     * the same steps (Replay). Only the loss of the run ends a node during its record: a lost run has no consequences,
     * and the next process finds the record or does not. The elements of a map are recorded like nodes; nodes of other
     * nested runs are not recorded. A failed attempt is recorded while the slot is that of the runner: the entry has an
     * effect only if the same try continues, and the attempt has failed whatever ends the node.
     *
     * There are two drivers: the engine of this JVM, with threads and alarms (Engine), and the stepper, which receives
     * what has happened, and when, as reports (SteppedRun).
     */

    private final RunFacts run;
    private final Run driver;
    private final NodeStates states;
    final @Nullable FlowEvents events; // null if there are no callbacks, listener and recording
    final @Nullable Compensations compensations; // null if nothing can be undone
    final @Nullable NodeWaits waits; // null if no node waits for a moment or a signal
    final Consequences consequences;

    NodeTransitions(RunFacts run, Run driver, @Nullable FlowEvents events) {
        this.run = run;
        this.driver = driver;
        this.events = events;
        Graph graph = run.graph;
        states = run.states;
        compensations = graph.hasCompensations ? new Compensations() : null;
        waits = graph.hasWaits ? new NodeWaits(run, driver, this) : null;
        consequences = new Consequences(run, this);
    }

    // Ending a node.

    /** Evaluates the condition of a node; ends the node and returns false if it must not run. */
    boolean isWanted(Runner runner, int node, Object expected, Predicate<? super NodeContext<?>> condition) {
        NodeState otherwise = NodeState.SKIPPED;
        Throwable cause = null;
        try {
            if (run.callInStarterContext(() -> condition.test(run.contextOf(node)))) {
                return true;
            }
        } catch (Throwable failure) {
            otherwise = NodeState.FAILED;
            cause = failure;
        }
        end(runner, node, expected, new NodeEnd.Verdict(otherwise, cause, NodeEnd.Reason.CONDITION));
        return false;
    }

    /**
     * Ends a node with a value, unless it has ended. Returns whether it succeeds by this; in a run with a journal that
     * takes effect in the order of the records. The caller must then call {@link Consequences#settle}.
     */
    boolean succeed(Runner runner, int node, Object expected, Object value) {
        return run.journal == null
                ? takeEffect(runner, node, expected, value)
                : record(run.journal, runner, node, expected, value);
    }

    /** Ends a node without options in a run without callbacks, and traverses its edges at once. */
    void succeedPlain(Runner runner, int node, Object value) {
        if (!states.compareAndSet(node, runner, value)) {
            handleEndedByOther(runner, node);
            return;
        }
        runner.now = run.now();
        states.recordBegin(node, runner.began);
        states.recordEnd(node, runner.now);
        consequences.settle(runner, node, true);
    }

    /** Ends a node whose action has thrown, by its fallback if it has one. Returns false if it had ended before. */
    boolean fail(Runner runner, int node, Object expected, Throwable failure) {
        CheckedFunction.F1<Throwable, ?> fallback = run.graph.optionsOf(node).fallback;
        Throwable cause = failure;
        if (fallback != null && states.get(node) == expected && !run.isLost()) {
            if (driver.tryDeferFallback(node, expected, failure)) {
                return true;
            }
            try {
                if (run.journal != null) {
                    run.journal.attemptFailed(node, failure, true);
                }
                Object value = run.callInStarterContext(() -> fallback.apply(failure));
                succeed(runner, node, expected, NodeEnd.recovered(value, failure, run.now()));
                return true;
            } catch (Throwable again) {
                cause = withSuppressed(again, failure);
            }
        }
        return end(runner, node, expected, NodeEnd.Verdict.failed(cause, NodeEnd.Reason.ACTION));
    }

    /**
     * Ends a node without success, unless it has ended. If it ends for a reason of its own, a journal records that
     * first. The caller must then call {@link Consequences#settle}.
     *
     * @param expected the expected content of the node's slot
     * @return whether the node ends by this
     */
    boolean end(Runner runner, int node, @Nullable Object expected, NodeEnd.Verdict verdict) {
        if (run.journal != null && verdict.reason().isOwn()) {
            return record(run.journal, runner, node, expected, verdict);
        }
        return takeEffect(runner, node, expected, verdict);
    }

    /**
     * Records an end, which takes effect when all earlier ones have. If the run is lost, the node is cancelled instead.
     *
     * @param outcome the value, or a verdict
     * @return whether the node ends so, and not before, or because its value could not be recorded
     */
    private boolean record(RunJournal journal, Runner runner, int node, @Nullable Object expected, Object outcome) {
        NodePhase.Recording claimed = claimEnd(runner, node, expected);
        if (claimed == null) {
            return false;
        }
        if (claimed.before() == runner) {
            states.recordBegin(node, runner.began);
        }
        EndSequence.Place place = journal.ends.enter();
        NodeEnd.Verdict verdict = outcome instanceof NodeEnd.Verdict known ? known : null;
        if (verdict == null) {
            try {
                journal.succeeded(node, outcome, place.number);
            } catch (Throwable failure) {
                if (!run.isLost() && !journal.hasRolledBack(node)) {
                    recordCompleted(node, outcome); // what the action has done is undone if the run is
                }
                verdict = NodeEnd.Verdict.failed(failure, NodeEnd.Reason.ACTION);
            }
        }
        boolean isSo = verdict == null || verdict == outcome;
        if (verdict != null) {
            Throwable cause = verdict.cause();
            journal.endedWithoutSuccess(node, verdict.state(), cause, place.number);
            if (run.isLost()) {
                verdict = new NodeEnd.Verdict(NodeState.CANCELLED, cause, NodeEnd.Reason.RUN_ENDED);
            }
        }
        Object effect = verdict == null ? outcome : verdict;
        leave(runner, node, claimed, NodePhase.Plain.RECORDED); // fails if the run was lost meanwhile
        journal.ends.fill(place, applier -> takeEffect(applier, node, NodePhase.Plain.RECORDED, effect), runner);
        return isSo;
    }

    /**
     * Claims the end of a node that is about to be recorded. Returns the new content of its slot, or null if the node
     * was ended by another thread: a result that is too late is not recorded.
     */
    private NodePhase.@Nullable Recording claimEnd(Runner runner, int node, @Nullable Object expected) {
        if (expected instanceof NodePhase.Recording claimed) {
            return claimed; // by the thread that delivers a signal
        }
        NodePhase before = expected instanceof Runner && expected != runner ? null : (NodePhase) expected;
        NodePhase.Recording claimed = new NodePhase.Recording(before);
        return leave(runner, node, expected, claimed) ? claimed : null;
    }

    /** Applies the next recorded end, in the thread that applies them. Returns false if there is none. */
    boolean applyNext(Runner applier) {
        Consumer<Runner> effect = Objects.requireNonNull(run.journal).ends.next(applier);
        if (effect == null) {
            return false;
        }
        effect.accept(applier);
        return true;
    }

    /**
     * Ends a node, unless it has ended, and records nothing in the journal.
     *
     * @param outcome the value, or a verdict
     */
    boolean takeEffect(Runner runner, int node, @Nullable Object expected, Object outcome) {
        NodeEnd.Verdict verdict = outcome instanceof NodeEnd.Verdict known ? known : null;
        long now = run.now();
        if (!(verdict == null
                ? leave(runner, node, expected, outcome)
                : endWithDefault(runner, node, expected, verdict, now))) {
            return false;
        }
        states.recordEnd(node, now);
        if (isInside(runner, expected)) {
            states.recordBegin(node, runner.began);
            runner.now = now;
        }
        if (verdict == null) {
            recordCompleted(node, outcome);
        }
        runner.addEnded(node);
        if (verdict != null && expected == null && !run.progress.isStopping() && !stillNeedsUpstreams(node)) {
            consequences.releaseUpstreams(runner, node);
        }
        return true;
    }

    private boolean endWithDefault(
            Runner runner, int node, @Nullable Object expected, NodeEnd.Verdict verdict, long now) {
        Supplier<?> otherwise =
                run.graph.options[node] == null || run.isLost() ? null : run.graph.optionsOf(node).defaultValue;
        if (otherwise == null) {
            return leave(runner, node, expected, verdict.end(ValueSource.NONE, null, now));
        }
        if (otherwise instanceof NodeOptions.Constant(Object value)) {
            return leave(runner, node, expected, verdict.end(ValueSource.DEFAULT, value, now));
        }
        boolean ended = leave(runner, node, expected, NodePhase.Plain.ENDING);
        if (ended) {
            states.set(node, withDefault(otherwise, verdict, now));
        }
        return ended;
    }

    private void recordCompleted(int node, Object value) {
        if (compensations != null
                && run.graph.optionsOf(node).compensation != null
                && (run.journal == null || !run.journal.isCompensated(node))) {
            compensations.add(node, value);
        }
    }

    /** Returns whether a slot says that the runner is inside the node. */
    private static boolean isInside(Runner runner, @Nullable Object slot) {
        return slot == runner || (slot instanceof NodePhase.Recording recording && recording.before() == runner);
    }

    static Throwable withSuppressed(Throwable main, Throwable other) {
        UserCode.addSuppressed(main, other);
        return main;
    }

    /** Changes the phase of the node that the runner executes; returns false if another thread has ended the node. */
    private boolean leave(Runner runner, int node, @Nullable Object expected, Object to) {
        if (states.compareAndSet(node, expected, to)) {
            return true;
        }
        if (isInside(runner, expected)) {
            handleEndedByOther(runner, node);
        }
        return false;
    }

    /** Returns whether a node that has ended without running still counts as one that needs its upstreams. */
    private boolean stillNeedsUpstreams(int node) {
        return run.options.onFailure == OnFailure.KEEP_GOING
                && states.get(node) instanceof NodeEnd end
                && end.state() != NodeState.SKIPPED;
    }

    private NodeEnd withDefault(Supplier<?> otherwise, NodeEnd.Verdict verdict, long now) {
        try {
            return verdict.end(ValueSource.DEFAULT, driver.computeDefault(otherwise), now);
        } catch (Throwable failure) {
            if (verdict.cause() == null) {
                run.sink.report("default of a node of flow \"" + run.graph.name + "\"", failure);
            } else {
                withSuppressed(verdict.cause(), failure);
            }
            return verdict.end(ValueSource.NONE, null, now);
        }
    }

    // Ending from outside.

    /** Ends all nodes after {@link RunProgress#trySetStop}. */
    void endAll(Runner runner, RunProgress.Stop why) {
        NodeEnd.Verdict verdict = verdictOf(why);
        for (int node = 0; node < run.graph.size; node++) {
            if (!endCallsUserCode(node)) {
                end(runner, node, verdict);
            }
        }
        for (int node = 0; node < run.graph.size; node++) {
            end(runner, node, verdict);
        }
    }

    private NodeEnd.Verdict verdictOf(RunProgress.Stop why) {
        NodeState state = why.status() == FlowStatus.TIMED_OUT ? NodeState.TIMED_OUT : NodeState.CANCELLED;
        Throwable cause = why.cause();
        if (why.status() == FlowStatus.FAILED && why.causedBy() >= 0) {
            String failed = run.graph.ids[why.causedBy()];
            String text = "flow \"" + run.graph.name + "\" was stopped: node \"" + failed + "\" failed";
            cause = new CancelledException(text, cause);
        }
        return new NodeEnd.Verdict(state, cause, NodeEnd.Reason.RUN_ENDED, why.causedBy());
    }

    /** Ends a node that the thread which stops the run may have left alone, if the run is being stopped. */
    void endIfStopping(Runner runner, int node) {
        RunProgress.Stop why = run.progress.stopped();
        if (why != null && why != RunProgress.Stop.COMPLETE) {
            end(runner, node, verdictOf(why));
        }
    }

    /**
     * Returns whether ending a node calls user code or stops a nested run, which must not delay the ends of other
     * nodes.
     */
    private boolean endCallsUserCode(int node) {
        Supplier<?> otherwise = run.graph.optionsOf(node).defaultValue;
        return states.get(node) instanceof NestedRun
                || (otherwise != null && !(otherwise instanceof NodeOptions.Constant));
    }

    void endAtTimeout(int node, Duration length) {
        RunJournal journal = run.outermostJournal();
        if (journal != null && (run.graph.signalTypeOf(node) != null || run.graph.is(Graph.NESTED, node))) {
            journal.timePassed(run.path(node));
        }
        if (tryRefuseSignals(node, length)) {
            NodeEnd.Verdict verdict = NodeEnd.Verdict.outOfTime(outOfTime(run, node, length));
            driver.runTransitions(runner -> end(runner, node, verdict));
        }
    }

    /**
     * Refuses signals for a node whose time is over. Returns false if one was accepted: then the node ends with that,
     * even if it has not been reached.
     */
    boolean tryRefuseSignals(int node, Duration timeout) {
        SignalBox box = run.signalBox(node);
        return box == null || box.tryClose(() -> endAtTimeout(node, timeout));
    }

    static TaskTimeoutException outOfTime(RunFacts run, int node, Duration length) {
        String text = "node \"" + run.graph.ids[node] + "\" of flow \"" + run.graph.name + "\" ran out of time after "
                + TimeLimit.text(length) + " (its timeout)";
        return new TaskTimeoutException(text, run.graph.ids[node], length, 1, null);
    }

    /**
     * Ends a node when its begin callback returns, in the thread that called it, or at once if it has returned
     * meanwhile. So the node has ended before its action is entered, however soon that returns. The interrupt is for
     * the action: callbacks that are called here do not see it.
     */
    private void endAfterCallback(int node, NodeEnd.Verdict verdict) {
        boolean[] interrupted = new boolean[1];
        driver.runTransitions(runner -> {
            end(runner, node, verdict);
            interrupted[0] = Thread.interrupted();
        });
        if (interrupted[0]) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Ends a node from outside, in any phase, unless it has ended. The caller must then call {@link
     * Consequences#settle}.
     */
    void end(Runner runner, int node, NodeEnd.Verdict verdict) {
        while (!tryEnd(runner, node, verdict)) {
            InterruptWindow.yieldToSender(); // or a runner has changed the phase meanwhile
        }
    }

    /*
     * Uses instanceof instead of a pattern switch: the first pattern switch in a JVM takes long to bootstrap, and this
     * code runs when the first deadline passes.
     */
    private boolean tryEnd(Runner runner, int node, NodeEnd.Verdict verdict) {
        Object slot = states.get(node);
        if (slot instanceof Runner owner) {
            return endFromOutside(runner, node, owner, slot, verdict);
        }
        if (slot instanceof NodePhase.Recording || slot == NodePhase.Plain.RECORDED) {
            if (!run.isLost()) {
                return true; // it ends as recorded
            }
            if (slot instanceof NodePhase.Recording recording && recording.before() instanceof Runner owner) {
                return endFromOutside(runner, node, owner, slot, verdict);
            }
        }
        if (slot instanceof NodePhase.Beginning beginning) {
            beginning.over().whenSet(() -> endAfterCallback(node, verdict));
            return true;
        }
        if (slot == NodePhase.Plain.INTERRUPTING) {
            return false;
        }
        if (slot == NodePhase.Plain.ENDING || NodeStates.isEnd(slot)) {
            return true;
        }
        boolean ended = end(runner, node, slot, verdict);
        if (ended) {
            withdraw(node, slot);
            if (slot instanceof NestedRun nested) {
                runner.addStopped(nested);
            }
        }
        return ended;
    }

    void withdraw(int node, @Nullable Object slot) {
        if (slot instanceof Withdrawable waiting) {
            run.guard("withdraw() of a waiting node", node, waiting::withdraw);
        }
    }

    private boolean endFromOutside(Runner runner, int node, Runner owner, Object from, NodeEnd.Verdict verdict) {
        int held = owner.finished;
        Thread thread = owner.thread;
        long began = owner.began;
        Object slot = from;
        if (!run.graph.optionsOf(node).has(NodeOptions.NO_INTERRUPT)) {
            if (!tryInterrupt(node, from, thread)) {
                return false;
            }
            slot = NodePhase.Plain.INTERRUPTING;
            began = owner.began;
        }
        boolean ended = false;
        try {
            ended = end(runner, node, slot, verdict);
        } finally {
            if (!ended && slot != from) {
                states.compareAndSet(node, slot, from); // end() has thrown; otherwise the owner would wait for ever
            }
        }
        if (!ended) {
            return false;
        }
        runner.finished += held;
        states.recordBegin(node, began); // the owner no longer records it
        Attempts<?> resting = owner.attempts;
        if (slot == from && resting != null) {
            resting.endDelay(); // the thread is not interrupted
        }
        return true;
    }

    // The interrupt of a thread inside a node, as in InterruptWindow: between these steps the slot is INTERRUPTING.

    /** Interrupts the thread of a runner that is inside a node, which the caller then ends; false if it has left. */
    private boolean tryInterrupt(int node, Object slot, @Nullable Thread thread) {
        if (!states.compareAndSet(node, slot, NodePhase.Plain.INTERRUPTING)) {
            return false;
        }
        if (thread != null) {
            InterruptWindow.send(thread, failure -> run.report("interrupt() of the thread", node, failure));
        }
        return true;
    }

    /** Called when another thread has ended the runner's node and taken over the runner's unreported count. */
    void handleEndedByOther(Runner runner, int node) {
        while (states.get(node) == NodePhase.Plain.INTERRUPTING) {
            InterruptWindow.yieldToSender(); // the interrupt must not reach the next task of this thread
        }
        if (!runner.isJoiner || !run.graph.optionsOf(node).has(NodeOptions.NO_INTERRUPT)) {
            Thread.interrupted(); // otherwise it may be meant for the joining thread
        }
        runner.finished = 0;
        runner.now = -1;
    }
}
