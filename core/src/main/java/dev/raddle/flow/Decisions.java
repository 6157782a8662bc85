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

/** How the nodes of a run end, and what follows from that for others. Runs nothing, and calls nobody but callbacks. */
abstract class Decisions extends EnclosingScope {

    /*
     * Overview. How a node stands is in the Board; this is who moves it on.
     *
     * When a node has ended, whoever ended it does this, in this order:
     *
     *   1. one step ends the node, state and value together (Board);
     *   2. its result callback is called;
     *   3. its edges are gone over: counters go down, and other nodes are decided (failed, skipped) or triggered. Those that are
     *      decided go through 2 and 3 themselves, from a list, not by recursion;
     *   4. when nobody is left to tell, triggered nodes are handed over (Handover).
     *
     * Who decides nodes from outside (a deadline, a cancel) does 1 for all of them, then 2 to 4. So a skip is in force before the
     * node that caused it begins, callbacks come before dependants, and a node is told of once: by who made its step.
     *
     * `stop` is set once, by the deadline, a cancel, the first failure under FAIL_FAST, or the completion, which forbids the others.
     * Then all nodes that have not ended are ended. While that goes on others may still move theirs; each node ends once all the
     * same, and nothing begins after all have ended.
     *
     * A node that is triggered is as good as begun: it is not skipped for want of need, whether a thread has come to it or not. Only
     * one that waits for its group's permit is.
     */

    private static final VarHandle STOP;

    static {
        try {
            STOP = MethodHandles.lookup().findVarHandle(Decisions.class, "stop", Stop.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    /** Why the rest of the run did not run. */
    record Stop(FlowStatus status, @Nullable Throwable cause, int from) {
        static final Stop COMPLETE = new Stop(FlowStatus.SUCCESS, null, NOBODY);
    }

    static final int NOBODY = Settled.NOBODY;

    final Graph graph;
    final Board board;
    final RunOptions options;
    final boolean isRecorded; // whether flight recordings ask for its nodes
    final @Nullable Compensations compensations; // null if nothing can be undone

    @Nullable
    Audience audience; // null if nobody hears; written by the constructor

    @Nullable
    NodeTimes nodeTimes; // null if no node has a timeout; written by the constructor

    boolean hasBegun; // whether roots are triggered; written by the starter before they are
    private volatile @Nullable Stop stop;

    Decisions(Graph graph, RunOptions options) {
        this.graph = graph;
        this.options = options;
        boolean alone = options.inCallersThread && !graph.hasTimeouts && !graph.hasGroups && !graph.hasNested;
        isRecorded = Recorder.isOn();
        board = new Board(graph, options.timed || options.listener != null || isRecorded, alone);
        compensations = graph.hasCompensations ? new Compensations() : null;
    }

    abstract long now();

    /** Calls a function of the user's in the context of the run's starter, besides that of the thread. */
    abstract <T> T carry(Callable<? extends T> foreign) throws Exception;

    /** Decides something in another thread, which no action keeps from running. */
    abstract void decideElsewhere(Consumer<Runner> action);

    /** Counts an output that has ended and whose result callback has returned. */
    abstract void outputDecided();

    /** Triggers the next node without dependencies, of a run that has a limit of those, because one has succeeded. */
    abstract void triggerNextRoot(Runner by);

    /** Stops the runs in the places of nodes that a runner has ended. */
    abstract void stopNested(Runner by);

    final boolean isFirstToStop(Stop why) {
        return STOP.compareAndSet(this, (Stop) null, why);
    }

    /** Tells whether all that has not ended is being ended. */
    final boolean isStopping() {
        Stop why = stop;
        return why != null && why != Stop.COMPLETE;
    }

    final @Nullable Stop stopped() {
        return stop;
    }

    // Ending a node.

    final void succeeded(Runner runner, int node, Object from, Object value) {
        FlowJournal journal = options.journal;
        if (journal != null && board.get(node) == from) { // what comes too late is not recorded
            try {
                Object plain = value instanceof Settled settled ? settled.value() : value == Board.NULL ? null : value;
                journal.finished(graph.ids[node], plain);
            } catch (Throwable failure) {
                end(runner, node, from, NodeState.FAILED, failure, Settled.Reason.ACTION, NOBODY, true);
                return;
            }
        }
        if (!left(runner, node, from, value)) {
            return;
        }
        noteEnd(runner, node, beganBy(runner, from));
        noteCompleted(node);
        runner.addEnded(node);
    }

    final void noteEnd(Runner runner, int node, long began) {
        if (board.isTimed()) {
            runner.now = now();
            board.began(node, began);
            board.ended(node, runner.now);
        }
    }

    /** Returns when a node began that this runner has ended and that was in its hands, or in those of a run of its own. */
    private static long beganBy(Runner runner, @Nullable Object from) {
        return from == runner ? runner.began : from instanceof Mark.Nested nested ? nested.began() : -1;
    }

    final void noteCompleted(int node) {
        if (compensations != null && graph.optionsOf(node).compensation() != null) {
            compensations.add(node);
        }
    }

    final void failed(Runner runner, int node, Object from, Throwable failure) {
        Fn.F1<Throwable, ?> fallback = graph.optionsOf(node).fallback();
        Throwable cause = failure;
        if (fallback != null && board.get(node) == from) {
            try {
                Object value = carry(() -> fallback.apply(failure));
                succeeded(
                        runner,
                        node,
                        from,
                        new Settled(NodeState.SUCCESS, Via.FALLBACK, value, failure, Settled.Reason.ACTION, -1, now()));
                return;
            } catch (Throwable again) {
                cause = withSuppressed(again, failure);
            }
        }
        end(runner, node, from, NodeState.FAILED, cause, Settled.Reason.ACTION, NOBODY, true);
    }

    private static Throwable withSuppressed(Throwable main, Throwable other) {
        if (main != other) {
            main.addSuppressed(other);
        }
        return main;
    }

    /** Makes the runner's step out of a node; false if somebody has ended the node meanwhile. */
    final boolean left(Runner runner, int node, Object from, Object to) {
        while (!board.step(node, from, to)) {
            if (board.get(node) == Mark.Plain.INTERRUPTING) {
                letOthersRun(); // the next task of this thread shall not be hit by it
            } else if (board.get(node) != from) {
                if (from == runner) {
                    lost(runner, node);
                }
                return false;
            }
        }
        return true;
    }

    /** Lets go on who is in the midst of ending a node, and may be in need of this thread's carrier. */
    @SuppressWarnings("ThreadPriorityCheck") // nothing relies on it
    private static void letOthersRun() {
        Thread.yield();
    }

    /** Hears that the node that the runner is in was ended by somebody else, who has taken over what it had not told. */
    final void lost(Runner runner, int node) {
        while (board.get(node) == Mark.Plain.INTERRUPTING) {
            letOthersRun();
        }
        if (!runner.isHome || !graph.optionsOf(node).has(NodeOptions.NO_INTERRUPT)) {
            Thread.interrupted(); // at home it may be for the thread that joins, if nobody has interrupted the node
        }
        runner.finished = 0;
        runner.now = -1;
    }

    /**
     * Ends a node that has not succeeded, unless somebody has. The caller still has to settle all.
     *
     * @param from what stands in its slot
     * @param by for the node that this is due to, or -1
     */
    final boolean end(
            Runner runner,
            int node,
            @Nullable Object from,
            NodeState state,
            @Nullable Throwable cause,
            Settled.Reason reason,
            int by,
            boolean inThread) {
        Supplier<?> otherwise =
                graph.options[node] == null ? null : graph.optionsOf(node).defaultValue();
        long now = now();
        boolean ended;
        if (otherwise instanceof NodeOptions.Constant(Object value)) {
            ended = leftOr(
                    runner, node, from, new Settled(state, Via.DEFAULT, value, cause, reason, by, now), inThread);
        } else if (otherwise == null) {
            ended = leftOr(runner, node, from, new Settled(state, Via.NONE, null, cause, reason, by, now), inThread);
        } else {
            ended = leftOr(runner, node, from, Mark.Plain.ENDING, inThread);
            if (ended) {
                board.set(node, withDefault(otherwise, state, cause, reason, by, now));
            }
        }
        if (ended) {
            ended(runner, node, from, now);
        }
        return ended;
    }

    private boolean leftOr(Runner runner, int node, @Nullable Object from, Object to, boolean inThread) {
        return (inThread && from != null) ? left(runner, node, from, to) : board.step(node, from, to);
    }

    private void ended(Runner runner, int node, @Nullable Object from, long now) {
        board.began(node, beganBy(runner, from));
        board.ended(node, now);
        if (from == runner) {
            runner.now = now;
        }
        runner.addEnded(node);
        if (from == null && !isStopping() && !keepsNeeding(node)) {
            letGo(runner, node);
        }
    }

    /** Returns whether a node that has ended without running still counts as one that needs its upstreams. */
    private boolean keepsNeeding(int node) {
        return options.onFailure == OnFailure.KEEP_GOING
                && board.get(node) instanceof Settled settled
                && settled.state() != NodeState.SKIPPED;
    }

    private Settled withDefault(
            Supplier<?> otherwise,
            NodeState state,
            @Nullable Throwable cause,
            Settled.Reason reason,
            int by,
            long now) {
        try {
            return new Settled(state, Via.DEFAULT, carry(otherwise::get), cause, reason, by, now);
        } catch (Throwable failure) {
            if (cause == null) {
                options.sink.report("default of a node of flow \"" + graph.name + "\"", failure);
            } else {
                withSuppressed(cause, failure);
            }
            return new Settled(state, Via.NONE, null, cause, reason, by, now);
        }
    }

    // What follows from an end.

    /** Tells of all that has ended, and finds what ends or becomes ready by that, until there is nothing more to tell. */
    final void settleAll(Runner runner) {
        for (int node; (node = runner.nextEnded()) >= 0; ) {
            if (nodeTimes != null) {
                nodeTimes.disarm(node);
            }
            if (audience != null) {
                audience.ended(node);
                runner.now = -1; // that took time
            }
            if (graph.isOutput[node]) {
                outputDecided();
            }
            boolean success = board.succeeded(node);
            follow(runner, node, success);
            if (success && options.rootsAtOnce > 0) {
                triggerNextRoot(runner);
            }
            runner.finished++;
        }
        int failed = runner.failed;
        if (failed >= 0) {
            runner.failed = NOBODY;
            stopForFailure(runner, failed);
            settleAll(runner);
        }
    }

    final void follow(Runner runner, int node, boolean success) {
        int last = graph.downStart[node + 1];
        for (int each = graph.downStart[node]; each < last; each++) {
            int target = graph.down[each] >>> 2;
            switch (graph.down[each] & 3) {
                case Graph.TO_MUST -> {
                    if (success) {
                        met(runner, target);
                    } else {
                        failMust(runner, target);
                    }
                }
                case Graph.TO_AFTER -> met(runner, target);
                default -> {
                    if (success) {
                        if (board.isMet(target, node)) {
                            met(runner, graph.clauseTarget[target]);
                        }
                    } else if (board.isImpossible(target)) {
                        failChoice(runner, target);
                    }
                }
            }
        }
        if (!success
                && options.onFailure == OnFailure.FAIL_FAST
                && runner.failed < 0
                && board.state(node).isFailure()) {
            runner.failed = node;
        }
    }

    private void met(Runner runner, int node) {
        if (board.isTriggered(node)) {
            trigger(runner, node);
        }
    }

    final void trigger(Runner runner, int node) {
        if (graph.is(Graph.CHOOSES, node)) {
            if (!board.step(node, null, Mark.Plain.READY)) {
                return;
            }
            letGo(runner, node);
        } else if (board.get(node) != null) {
            return;
        }
        NodeOptions own = graph.options[node];
        if (own != null && own.timeout() != null && !isTimed(runner, node, own.timeout())) {
            return;
        }
        if (audience != null) {
            audience.submitted(node);
        }
        if (own != null && own.group() != null) {
            runner.grouped.add(board, node);
        } else {
            runner.ready.add(board, node);
        }
    }

    /** Begins to watch the time of a node; ends the node if that is not possible. */
    private boolean isTimed(Runner runner, int node, Duration length) {
        NodeTimes times = Objects.requireNonNull(nodeTimes);
        try {
            times.arm(node, length);
        } catch (Throwable noTime) {
            Object unbegun = graph.is(Graph.CHOOSES, node) ? Mark.Plain.READY : null;
            end(runner, node, unbegun, NodeState.FAILED, noTime, Settled.Reason.UNTIMED, NOBODY, false);
            return false;
        }
        if (Board.isEnd(board.get(node))) {
            times.disarm(node); // who ended it may not have seen the alarm
        }
        return true;
    }

    /** Decides a node one of whose musts has ended without success: as the first of those in the order of declaration. */
    private void failMust(Runner runner, int node) {
        if (board.get(node) != null) {
            return; // it is decided; most of many that fail together find it so
        }
        for (int edge = graph.upStart[node]; edge < graph.upStart[node + 1]; edge++) {
            int upstream = graph.up[edge];
            if (FlowPlan.isMust(graph.upKind[edge])
                    && board.get(upstream) instanceof Settled settled
                    && settled.state() != NodeState.SUCCESS) {
                end(runner, node, null, settled.state(), settled.cause(), Settled.Reason.UPSTREAM, upstream, false);
                return;
            }
        }
    }

    /** Decides a node whose choice has become impossible: by the gravest of the ends, and the first of those. */
    private void failChoice(Runner runner, int clause) {
        int first = graph.clauseEdge[clause];
        int worst = NOBODY;
        Settled gravest = null;
        for (int edge = first; edge < first + graph.clauseSize[clause]; edge++) {
            if (board.get(graph.up[edge]) instanceof Settled settled
                    && settled.state() != NodeState.SUCCESS
                    && (gravest == null || settled.state().compareTo(gravest.state()) < 0)) {
                worst = graph.up[edge];
                gravest = settled;
            }
        }
        if (gravest != null) {
            int node = graph.clauseTarget[clause];
            end(runner, node, null, gravest.state(), gravest.cause(), Settled.Reason.CHOICE, worst, false);
        }
    }

    /** Has a decided node need its upstreams no more, and skips what is not needed then, and so on upstream. */
    final void letGo(Runner runner, int decided) {
        // Ending a pending node lets go of its own upstreams; a list keeps that from being a recursion.
        runner.addOpen(decided);
        if (runner.isLettingGo) {
            return;
        }
        runner.isLettingGo = true;
        for (int node; (node = runner.takeOpen()) >= 0; ) {
            for (int edge = graph.upStart[node]; edge < graph.upStart[node + 1]; edge++) {
                int upstream = graph.up[edge];
                if (!Board.isEnd(board.get(upstream)) && board.isUnneeded(upstream)) {
                    unneeded(runner, upstream, node);
                }
            }
        }
        runner.isLettingGo = false;
    }

    /**
     * Skips a node that nobody needs any more, if it is pending or waits for its group. One that is triggered is as good as begun:
     * whether a thread has come to it yet shall make no difference.
     */
    private void unneeded(Runner runner, int node, int decided) {
        while (true) {
            Object slot = board.get(node);
            if (isWaiting(node, slot) || (slot == null && !isTriggered(node))) {
                if (end(runner, node, slot, NodeState.SKIPPED, null, Settled.Reason.UNNEEDED, decided, false)) {
                    withdraw(slot);
                    return;
                }
            } else {
                if (options.obsolete == Obsolete.INTERRUPT && !Board.isEnd(slot)) {
                    CancelledException cause = new CancelledException("node \"" + graph.ids[node] + "\" of flow \""
                            + graph.name + "\" is not needed any more: \"" + graph.ids[decided] + "\" was decided");
                    endFromOutside(runner, node, NodeState.CANCELLED, cause, Settled.Reason.OBSOLETE, decided);
                }
                return;
            }
        }
    }

    /** Tells of a node with an empty slot whether it is ready. One that chooses is not, or it would be marked so. */
    private boolean isTriggered(int node) {
        if (!hasBegun || graph.is(Graph.CHOOSES, node)) {
            return false;
        }
        for (int edge = graph.upStart[node]; edge < graph.upStart[node + 1]; edge++) {
            int upstream = graph.up[edge];
            boolean met =
                    FlowPlan.isMust(graph.upKind[edge]) ? board.succeeded(upstream) : Board.isEnd(board.get(upstream));
            if (!met) {
                return false;
            }
        }
        return true;
    }

    /** Tells whether a node waits for its group, or is about to be placed there. */
    private boolean isWaiting(int node, @Nullable Object slot) {
        boolean unbegun = slot == null || slot == Mark.Plain.READY;
        return slot instanceof Handoff || (unbegun && graph.optionsOf(node).group() != null);
    }

    private void withdraw(@Nullable Object slot) {
        if (slot instanceof Handoff handoff) {
            guard("withdraw() from the group", handoff.node, handoff::withdraw);
        }
    }

    // Ending from outside.

    private void stopForFailure(Runner runner, int failed) {
        Throwable cause = board.cause(failed);
        Stop why = new Stop(FlowStatus.FAILED, cause, failed);
        if (isFirstToStop(why)) {
            endAll(runner, why);
        }
    }

    final void endAll(Runner by, Stop why) {
        boolean late = why.status() == FlowStatus.TIMED_OUT;
        NodeState state = late ? NodeState.TIMED_OUT : NodeState.CANCELLED;
        Throwable cause = why.status() == FlowStatus.FAILED
                ? new CancelledException(
                        "flow \"" + graph.name + "\" was stopped: node \"" + graph.ids[why.from()] + "\" failed",
                        why.cause())
                : why.cause();
        for (int node = 0; node < graph.size; node++) {
            if (!endsSlowly(node)) {
                endWherever(by, node, state, cause, Settled.Reason.RUN_ENDED, why.from());
            }
        }
        for (int node = 0; node < graph.size; node++) {
            endWherever(by, node, state, cause, Settled.Reason.RUN_ENDED, why.from());
        }
        stopNested(by);
    }

    /** Tells whether the end of a node calls code of the user's, which is not to hold up the ends of others. */
    private boolean endsSlowly(int node) {
        Supplier<?> otherwise = graph.optionsOf(node).defaultValue();
        return board.get(node) instanceof Mark.Nested
                || (otherwise != null && !(otherwise instanceof NodeOptions.Constant));
    }

    /** Ends a node wherever it is, unless it has ended. The caller still has to settle all. */
    final void endFromOutside(
            Runner by, int node, NodeState state, @Nullable Throwable cause, Settled.Reason reason, int from) {
        endWherever(by, node, state, cause, reason, from);
        stopNested(by);
    }

    private void endWherever(
            Runner by, int node, NodeState state, @Nullable Throwable cause, Settled.Reason reason, int from) {
        while (!hasEnded(by, node, state, cause, reason, from)) {
            letOthersRun();
        }
    }

    /*
     * Plain comparisons, and no switch over patterns: the first of those keeps a JVM busy for long, and this is on the way of its first
     * deadline.
     */
    private boolean hasEnded(
            Runner by, int node, NodeState state, @Nullable Throwable cause, Settled.Reason reason, int from) {
        Object slot = board.get(node);
        if (slot instanceof Runner runner) {
            return endRunning(by, node, runner, state, cause, reason, from);
        }
        if (slot instanceof Mark.Beginning beginning) {
            beginning
                    .over()
                    .whenSet(() -> decideElsewhere(later -> endFromOutside(later, node, state, cause, reason, from)));
            return true;
        }
        if (slot == Mark.Plain.INTERRUPTING) {
            return false;
        }
        if (slot == Mark.Plain.ENDING || Board.isEnd(slot)) {
            return true;
        }
        boolean ended = end(by, node, slot, state, cause, reason, from, false);
        if (ended) {
            withdraw(slot);
            if (slot instanceof Mark.Nested nested) {
                by.addStopped(nested.run());
            }
        }
        return ended;
    }

    private boolean endRunning(
            Runner by,
            int node,
            Runner runner,
            NodeState state,
            @Nullable Throwable cause,
            Settled.Reason reason,
            int from) {
        int held = runner.finished;
        Thread thread = runner.thread;
        long began = runner.began;
        Object slot = runner;
        if (!graph.optionsOf(node).has(NodeOptions.NO_INTERRUPT)) {
            if (!board.step(node, runner, Mark.Plain.INTERRUPTING)) {
                return false;
            }
            slot = Mark.Plain.INTERRUPTING;
            began = runner.began;
            if (thread != null) {
                guard("interrupt() of the thread", node, thread::interrupt);
            }
        }
        if (!end(by, node, slot, state, cause, reason, from, false)) {
            return false;
        }
        by.finished += held;
        board.began(node, began); // the runner does not note it any more
        Attempts<?> resting = runner.attempts;
        if (slot == runner && resting != null) {
            resting.endDelay(); // nobody interrupts it
        }
        return true;
    }

    final void guard(String what, int node, Runnable foreign) {
        try {
            foreign.run();
        } catch (Throwable failure) {
            String whose = node == NOBODY ? "" : " of node \"" + graph.ids[node] + "\"";
            options.sink.report(what + whose + " in flow \"" + graph.name + "\"", failure);
        }
    }
}
