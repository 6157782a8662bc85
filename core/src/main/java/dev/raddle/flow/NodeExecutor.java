package dev.raddle.flow;

import dev.raddle.flow.threads.GroupPlacement;
import dev.raddle.flow.threads.NodePhase;
import dev.raddle.flow.threads.Runner;
import dev.raddle.kernel.Attempts;
import dev.raddle.kernel.EnclosingScope;
import dev.raddle.kernel.LateFailure;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.TaskContext;
import dev.raddle.task.TaskTimeoutException;
import dev.raddle.time.Signal;
import dev.raddle.time.UserCode;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Executes single nodes in the calling thread: their conditions, begin callbacks and actions, with all attempts. */
final class NodeExecutor {

    private final RunFacts run;
    private final NodeTransitions transitions;
    private final boolean plain; // whether no context, listener, journal, recording or root limit applies to nodes

    NodeExecutor(RunFacts run, NodeTransitions transitions) {
        this.run = run;
        this.transitions = transitions;
        RunOptions.Values options = run.options;
        plain = run.perNode == null
                && options.listener == null
                && run.journal == null
                && !run.isRecorded
                && options.rootsAtOnce == 0;
    }

    /**
     * Executes a node, unless another thread has ended it.
     *
     * @param placement that of the node in its group, if it has one
     * @return whether the node is a nested run, which the caller must open; otherwise the node has ended, or waits
     *     without a thread
     */
    boolean execute(Runner runner, int node, @Nullable GroupPlacement placement) {
        if (run.progress.isStopping()) {
            return false; // the thread that stops the run ends this node, too
        }
        boolean entersAtOnce = plain && run.graph.is(Graph.PLAIN, node);
        runner.began = entersAtOnce ? recentTime(runner) : -1;
        Object expected = placement == null ? transitions.consequences.readyPhase(node) : placement;
        if (run.beginning == null
                ? !run.states.compareAndSet(node, expected, runner)
                : !tryEnter(run.beginning, runner, node, expected)) {
            return false; // another thread has ended it
        }
        if (entersAtOnce) {
            executePlain(runner, node);
            return false;
        }
        runner.now = -1; // conditions and contexts take time
        try {
            return executeEntered(runner, node);
        } finally {
            if (run.journal != null) {
                run.journal.endAttempt(node);
            }
        }
    }

    private boolean tryEnter(ReentrantLock beginning, Runner runner, int node, @Nullable Object expected) {
        beginning.lock();
        try {
            return !run.progress.isStopping() && run.states.compareAndSet(node, expected, runner);
        } finally {
            beginning.unlock();
        }
    }

    /** Executes a node that has options or is in a run with options. */
    private boolean executeEntered(Runner runner, int node) {
        Object value;
        try {
            NodeOptions own = run.graph.optionsOf(node);
            if (!enter(runner, node, own)) {
                return false;
            }
            if (run.graph.is(Graph.NESTED, node)) {
                if (run.journal != null) {
                    run.journal.beginNested(node);
                }
                return true;
            }
            if (run.graph.is(Graph.WAITS, node)) {
                beginWait(runner, node, Objects.requireNonNull(transitions.waits));
                return false;
            }
            value = attempt(runner, node, own);
            if (value == NodePhase.Plain.ENDING) {
                return false; // it has been ended
            }
            forgetAction(runner, node);
        } catch (Throwable failure) {
            failThrown(runner, node, failure);
            return false;
        }
        transitions.succeed(runner, node, runner, value == null ? NodeStates.NULL : value);
        return false;
    }

    private void beginWait(Runner runner, int node, NodeWaits waits) throws Exception {
        Duration length = waits.lengthOf(node);
        forgetAction(runner, node);
        waits.begin(runner, node, runner, length);
    }

    /** Returns the time of the last end if known, which was shortly before, or the current time. */
    private long recentTime(Runner runner) {
        return runner.now < 0 ? run.now() : runner.now;
    }

    /** Executes a node without options in a plain run. */
    private void executePlain(Runner runner, int node) {
        Object value;
        try {
            value = run.graph.bodies[node].call(run, node);
            forgetAction(runner, node);
        } catch (Throwable failure) {
            failThrown(runner, node, failure);
            return;
        }
        transitions.succeedPlain(runner, node, value == null ? NodeStates.NULL : value);
    }

    /** Clears what an action left, so that no callback, other node or other task of the thread sees it. */
    private void forgetAction(Runner runner, int node) {
        run.useLoader();
        if (!runner.isJoiner && run.states.get(node) == runner) {
            Thread.interrupted(); // one that is still being delivered for this node is cleared when the node is left
        }
    }

    /** Ends a node whose action has thrown. */
    void failThrown(Runner runner, int node, Throwable failure) {
        forgetAction(runner, node);
        if (runner.isJoiner && failure instanceof InterruptedException && run.states.get(node) == runner) {
            Thread.currentThread().interrupt(); // it was meant for the joining thread
        }
        if (!transitions.fail(runner, node, runner, failure) && !run.isLost()) {
            String which = "node \"" + run.graph.ids[node] + "\" of flow \"" + run.graph.name + "\"";
            LateFailure.report(run.sink, which, failure);
        }
    }

    /** Evaluates the condition and calls the begin callback. Returns false if the node must not run. */
    private boolean enter(Runner runner, int node, NodeOptions own) throws Exception {
        if (run.journal != null && own.timeout != null && isOverdue(runner, node, own.timeout)) {
            return false;
        }
        if (own.condition != null && !transitions.isWanted(runner, node, runner, own.condition)) {
            return false;
        }
        if (run.journal != null) { // before the callback, so that a node that is ended meanwhile is not entered
            run.journal.beginNode(node, run.timeouts == null ? null : run.timeouts.deadline(node));
        }
        if (!own.begin.isEmpty() || run.options.listener != null || run.isRecorded) {
            return beginNode(runner, node, own);
        }
        if (run.states.get(node) != runner) {
            transitions.handleEndedByOther(runner, node); // meanwhile, for example during its condition
            return false;
        }
        runner.began = recentTime(runner);
        return true;
    }

    /** Ends a node and returns true if its time was over before this process began. */
    private boolean isOverdue(Runner runner, int node, Duration timeout) {
        Duration left = Objects.requireNonNull(run.journal).untilDeadline(node, timeout);
        if (left == null || left.isPositive() || !transitions.tryRefuseSignals(node, timeout)) {
            return false;
        }
        TaskTimeoutException late = NodeTransitions.outOfTime(run, node, timeout);
        transitions.end(runner, node, runner, NodeEnd.Verdict.outOfTime(late));
        return true;
    }

    /** Notifies the listener and calls the begin callback. Returns false if the node had already been ended. */
    private boolean beginNode(Runner runner, int node, NodeOptions own) {
        NodePhase.Beginning beginning = new NodePhase.Beginning(new Signal());
        if (!run.states.compareAndSet(node, runner, beginning)) {
            transitions.handleEndedByOther(runner, node);
            return false;
        }
        runner.began = recentTime(runner);
        Objects.requireNonNull(transitions.events).notifyStarted(node, own.begin);
        run.useLoader();
        if (!runner.isJoiner) {
            Thread.interrupted(); // a callback may have left an interrupt; none is meant for this node yet
        }
        run.states.set(node, runner);
        beginning.over().set(); // ends the node if another thread has requested that meanwhile
        return true;
    }

    /** Calls the action as often as the retry policy allows. Returns its value, or ENDING if the node has ended. */
    private Object attempt(Runner runner, int node, NodeOptions own) throws Exception {
        RetryPolicy retry = own.retry;
        int most = retry == null ? 1 : retry.maxAttempts();
        RecordedException before = run.journal == null ? null : run.journal.exhausted(node, most);
        if (before != null) {
            throw before;
        }
        if (retry == null || retry.hasNoEffect()) {
            return callAction(node, null);
        }
        Attempts<Object> attempts = new Attempts<>(
                all -> callAction(node, all),
                retry,
                () -> run.states.get(node) != runner,
                run.time,
                run.graph.ids[node],
                run.limitOf(node, own.timeout),
                run::decide);
        if (run.journal != null) {
            attempts.continueAfter(run.journal.attempts[node], failure -> endFailedAttempt(node, failure));
        }
        runner.attempts = attempts;
        try {
            return attempts.call();
        } catch (TaskTimeoutException late) {
            if (!attempts.ranOutOfTime()) {
                throw late; // thrown by the action itself
            }
            forgetAction(runner, node);
            transitions.end(runner, node, runner, NodeEnd.Verdict.outOfTime(late));
            return NodePhase.Plain.ENDING;
        } finally {
            runner.attempts = null;
        }
    }

    /** Records an attempt that another one follows. */
    private void endFailedAttempt(int node, Exception failure) throws Exception {
        RunJournal journal = Objects.requireNonNull(run.journal);
        try {
            journal.attemptFailed(node, failure, false);
        } catch (Throwable unrecorded) {
            UserCode.addSuppressed(unrecorded, failure);
            throw unrecorded;
        }
        journal.endAttempt(node);
    }

    /**
     * Calls an action once, inside its enclosure and with the starter's context installed anew, so that no attempt sees
     * what another has left.
     */
    private Object callAction(int node, @Nullable Attempts<?> attempts) throws Exception {
        Node.Body body = run.graph.bodies[node];
        if (run.journal != null) {
            run.journal.beginAttempt(node, run.contextOf(node));
        }
        EnclosingScope inner = run.timeouts == null ? null : run.timeouts.enclosure(node);
        Callable<Object> action = () -> run.callInStarterContext(() -> inner == null
                ? body.call(run, node)
                : TaskContext.current().within(inner).call(() -> body.call(run, node)));
        Object value = attempts == null ? action.call() : attempts.callOnce(action);
        if (run.journal != null) {
            run.journal.attemptReturned(node);
        }
        return value;
    }
}
