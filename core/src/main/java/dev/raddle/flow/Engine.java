package dev.raddle.flow;

import dev.raddle.flow.threads.DeferredSteps;
import dev.raddle.flow.threads.GroupPlacement;
import dev.raddle.flow.threads.GroupWaits;
import dev.raddle.flow.threads.ReadyStack;
import dev.raddle.flow.threads.RunEntry;
import dev.raddle.flow.threads.Runner;
import dev.raddle.lock.Fields;
import dev.raddle.lock.OwnThread;
import dev.raddle.task.CancelledException;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskContext;
import dev.raddle.time.Signal;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Executes the nodes of a run, on scheduler threads or on the joining thread, and completes the run. The waits of users
 * are in {@link FlowRun}; a nested run has none.
 */
final class Engine extends Run implements RunEntry {

    /*
     * Overview.
     *
     * A runner is a thread that executes nodes in a loop: it executes a node (NodeExecutor), applies the consequences
     * of the node's end and dispatches the nodes that became ready (`proceed` in Run, Dispatcher), and takes the next
     * node. Threads that the Dispatcher has requested enter through RunEntry.
     *
     * `inside` counts the threads inside this run, the nested runs whose own count is not zero, and one for this run
     * until it has ended. close() waits until it is zero; an action that continues after its node was ended still
     * counts. The thread that brings it to zero for the first time subtracts a nested run from its outer run. A thread
     * that enters after that finds no node to execute, so the outer run need not count it.
     *
     * Nodes that a scheduler executes in the calling thread are deferred like the begin of a nested run, to the bottom
     * of the stack. A runner further up the stack returns as soon as a step has been deferred, and defers its own next
     * node, too.
     */

    private static final VarHandle INSIDE = Fields.handle(MethodHandles.lookup(), "inside", int.class);
    private static final VarHandle HAS_LEFT_OUTER =
            Fields.handle(MethodHandles.lookup(), "hasLeftOuter", boolean.class);
    private static final VarHandle SPARE = Fields.handle(MethodHandles.lookup(), "spare", Runner.class);

    final Signal done = new Signal(); // set when the run has ended, after the result was written
    private final NodeExecutor executor;
    final Dispatcher dispatcher;

    private Scheduler.@Nullable Lease lease; // written by the starting thread before any node runs

    @SuppressWarnings("UnusedVariable") // accessed by INSIDE
    private volatile int inside = 1; // one for the run itself, until it has ended

    @SuppressWarnings("UnusedVariable") // accessed by HAS_LEFT_OUTER
    private volatile boolean hasLeftOuter; // whether this run was subtracted from its outer run

    @SuppressWarnings("UnusedVariable") // accessed by SPARE
    private volatile @Nullable Runner spare; // an unused runner, for reuse

    private volatile @Nullable Thread closer; // the thread that waits in close()

    @SuppressWarnings("this-escape") // the receivers do not use it before the run begins
    Engine(Graph graph, @Nullable Object parameter, RunOptions.Values options, @Nullable Engine outer, int outerNode) {
        if (graph.hasGroups && options.groups == null) {
            requireNoGroup(graph);
        }
        super(graph, parameter, options, outer, outerNode);
        executor = new NodeExecutor(run, transitions);
        GroupWaits waits = options.groups == null
                ? null
                : new GroupWaits(outer == null ? null : outer.dispatcher.waits, outerNode);
        dispatcher = new Dispatcher(run, this, transitions, waits);
    }

    // Beginning.

    /** Begins the outermost run, in the calling thread. */
    void begin() {
        Runner starter = new Runner();
        if (run.joiner != null) {
            starter.place = Runner.RUN_SCHEDULER;
            starter.isJoiner = true;
            run.joiner.runner = starter;
        } else {
            starter.place = Runner.NO_PLACE;
        }
        lease = leaseSchedulers();
        begin(starter);
    }

    private Scheduler.Lease leaseSchedulers() {
        Scheduler.Lease own = run.options.scheduler.lease();
        Scheduler compute = run.graph.hasComputing ? run.options.compute : null;
        if (compute == null || compute == run.options.scheduler) {
            return own;
        }
        Scheduler.Lease second;
        try {
            second = compute.lease();
        } catch (Throwable failure) {
            own.close();
            throw failure;
        }
        return () -> {
            try {
                own.close();
            } finally {
                second.close();
            }
        };
    }

    @Override
    void beginNested(DeferredSteps deferred) {
        lease = leaseSchedulers();
        super.beginNested(deferred);
    }

    private static void requireNoGroup(Graph graph) {
        for (int node = 0; node < graph.size; node++) {
            if (graph.optionsOf(node).group != null) {
                throw new IllegalArgumentException("node \"" + graph.ids[node] + "\" of flow \"" + graph.name
                        + "\" runs in a group, and the run has none; set them with RunOptions.withGroups");
            }
        }
    }

    // Running.

    @Override
    public void runGrouped(GroupPlacement placement) {
        runNodes(Runner.GROUPED, placement.node, placement, 0, null);
    }

    @Override
    public void runInPlace(GroupPlacement placement, Runner placer) {
        Thread known = placer.thread;
        enter();
        if (placer.grouped.count > 0) {
            dispatcher.placeElsewhere(placer.grouped.takeAll()); // they must not wait for this node
        }
        try {
            placer.thread = Thread.currentThread();
            placer.now = -1;
            run.inContext(() -> runNode(placer, placement.node, placement));
        } finally {
            placer.thread = known;
            exit();
        }
    }

    @Override
    public void runReady(byte place) {
        ReadyStack nodes = dispatcher.readyFor(place);
        nodes.removeRequest();
        int node = nodes.pop();
        if (node >= 0) {
            runNodes(place, node, null, 0, null);
        }
    }

    /**
     * Runs nodes in the calling thread.
     *
     * @param first the node to run first
     * @param placement that of the node in its group, if it has one
     * @param deferred the deferred steps of the calling thread, or null if it is not inside a run
     */
    private void runNodes(
            byte place,
            int first,
            @Nullable GroupPlacement placement,
            int postponed,
            @Nullable DeferredSteps deferred) {
        enter();
        boolean isJoiner = place != Runner.GROUPED && run.runsInOuterJoiner();
        boolean isEntering = deferred == null; // otherwise a callback has left the interrupt
        boolean interrupted = !isJoiner && Thread.interrupted() && isEntering; // of others, not meant for nodes
        try {
            Runner idle = (Runner) SPARE.getAndSet(this, (Runner) null);
            Runner runner = idle == null ? new Runner() : idle;
            runner.thread = Thread.currentThread();
            runner.place = place;
            runner.postponed = postponed;
            runner.now = -1;
            runner.isJoiner = isJoiner;
            runner.deferred = deferred;
            runner.isBottom = false;
            run.inContext(new Drain(runner, first, placement));
            reportFinished(runner);
            while (runner.isBottom && runner.hasDeferred()) {
                runDeferred(runner);
                runner.now = -1;
                run.inContext(() -> drain(runner, next(runner), null));
                reportFinished(runner);
            }
            runner.deferred = null;
            runner.thread = null;
            spare = runner;
        } finally {
            exit();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** What a thread does that has come for a node. */
    private final class Drain implements RunEnvironment.Step {
        private final Runner runner;
        private final int first;
        private final @Nullable GroupPlacement placement;

        Drain(Runner runner, int first, @Nullable GroupPlacement placement) {
            this.runner = runner;
            this.first = first;
            this.placement = placement;
        }

        @Override
        public void run() {
            dispatcher.requestAnother(runner);
            drain(runner, first, placement);
        }
    }

    /** Runs nodes until there are none, or the thread must do something else first. */
    private void drain(Runner runner, int first, @Nullable GroupPlacement placementOfFirst) {
        GroupPlacement placement = placementOfFirst;
        for (int node = first; node >= 0; node = next(runner)) {
            runNode(runner, node, placement);
            placement = null;
            proceed(runner);
            if (runner.hasDeferred()) {
                deferNext(runner);
                return;
            }
        }
    }

    /** Takes the next node, or returns -1 if there is none or the joining thread must pause. */
    private int next(Runner runner) {
        if (runner.isJoiner && mustPause(runner)) {
            if (run.joiner == null) {
                dispatcher.pushBack(runner);
            }
            return NodeEnd.NO_NODE;
        }
        int node = dispatcher.take(runner);
        if (node >= 0) {
            forgetCallback(runner);
        }
        return node;
    }

    /** Clears what a callback may have left; not an interrupt that may be meant for the joining thread. */
    private void forgetCallback(Runner runner) {
        run.useLoader();
        if (!runner.isJoiner) {
            Thread.interrupted();
        }
    }

    private boolean mustPause(Runner joiner) {
        return Thread.currentThread().isInterrupted() || (joiner.isForValue && run.progress.isValueKnown());
    }

    /** Defers the next node of a runner behind the deferred steps, unless this is the bottom of the stack. */
    private void deferNext(Runner runner) {
        int node = runner.isBottom ? NodeEnd.NO_NODE : dispatcher.take(runner);
        if (node >= 0) {
            byte place = runner.place;
            int postponed = runner.postponed;
            DeferredSteps deferred = runner.deferred();
            deferred.add(() -> runNodes(place, node, null, postponed, deferred));
        }
    }

    @Override
    void enter() {
        INSIDE.getAndAdd(this, 1);
    }

    @Override
    void exit() {
        Engine left = this;
        while (left != null && (int) INSIDE.getAndAdd(left, -1) == 1) {
            LockSupport.unpark(left.closer);
            left = HAS_LEFT_OUTER.compareAndSet(left, false, true) ? (Engine) left.outer : null;
        }
    }

    @Override
    boolean dispatch(Runner runner) {
        return dispatcher.dispatch(runner);
    }

    private void runNode(Runner runner, int node, @Nullable GroupPlacement placement) {
        if (executor.execute(runner, node, placement)) {
            try {
                openNested(runner, node, runner);
            } catch (Throwable failure) {
                executor.failThrown(runner, node, failure);
            }
        }
    }

    @Override
    Engine newNested(Graph plan, @Nullable Object parameter, RunOptions.Values options, int node) {
        return new Engine(plan, parameter, options, this, node);
    }

    /** Defers the nodes that schedulers execute in the calling thread. */
    @Override
    void deferPostponed(Runner runner) {
        if (runner.place != Runner.NO_PLACE && runner.place != Runner.GROUPED) {
            return; // it runs them itself
        }
        int places = runner.postponed;
        runner.postponed = 0;
        DeferredSteps deferred = runner.deferred();
        if (deferred.isGrouped) { // not under the permit of another node
            run.runElsewhere(() -> runPostponed(places, null));
        } else {
            deferred.add(() -> runPostponed(places, deferred));
        }
    }

    private void runPostponed(int places, @Nullable DeferredSteps deferred) {
        for (byte place = Runner.RUN_SCHEDULER; place <= Runner.COMPUTE_SCHEDULER; place++) {
            int node = (places & 1 << place) == 0
                    ? NodeEnd.NO_NODE
                    : dispatcher.readyFor(place).pop();
            if (node >= 0) {
                runNodes(place, node, null, places, deferred);
            }
        }
    }

    // Ending.

    /** Ends the run as lost. */
    void abandon(String reason) {
        if (!done.isSet()) {
            run.lose(abandoned(reason));
        }
    }

    /**
     * Ends the run as lost if it only waits, at least for a time. The check and the stop are made under the lock under
     * which nodes begin. So no node is interrupted by this.
     *
     * @return the time until the run continues without a signal; empty if it was not ended
     */
    Optional<Duration> abandonIfWaiting(String reason, Duration atLeast) {
        ReentrantLock beginning = run.beginning;
        if (beginning == null) {
            return Optional.empty();
        }
        CancelledException cause = abandoned(reason);
        RunProgress.Stop why = new RunProgress.Stop(FlowStatus.LOST, cause, NodeEnd.NO_NODE);
        Duration left;
        beginning.lock();
        try {
            left = inside == 1 ? WaitCheck.timeLeft(run) : null; // an action that is too late counts
            if (left == null || left.compareTo(atLeast) < 0 || !run.progress.trySetStop(why)) {
                return Optional.empty();
            }
            run.markLost(cause);
        } finally {
            beginning.unlock();
        }
        runTransitions(runner -> transitions.endAll(runner, why));
        return Optional.of(left);
    }

    private CancelledException abandoned(String reason) {
        return new CancelledException("flow \"" + run.graph.name + "\" was abandoned: " + reason);
    }

    @Override
    void undo(Runner runner, FlowStatus status, Compensations compensations, boolean hasUndosLeft) {
        Runnable compensation = () -> compensate(compensations, status);
        if (run.time.follow(() -> {})
                && !runner.isJoiner
                && !runner.deferred().isGrouped
                && !hasUndosLeft
                && !compensations.mayWait(run.graph)) {
            runner.deferred().add(compensation);
        } else {
            startUndo(() -> run.guard("compensations", NodeEnd.NO_NODE, compensation));
        }
    }

    /** Starts a platform thread for compensations, which neither actions delay nor they the caller. */
    private void startUndo(Runnable compensation) {
        try {
            Thread undo = OwnThread.unstarted("raddle-flow-undo", compensation);
            undo.setContextClassLoader(Thread.currentThread().getContextClassLoader());
            undo.start();
        } catch (Throwable noThread) {
            run.report("start of the thread for compensations", NodeEnd.NO_NODE, noThread);
            run.runElsewhere(compensation);
        }
    }

    private void compensate(Compensations compensations, FlowStatus status) {
        run.inContext(() -> TaskContext.current()
                .within(null) // the deadline of the run does not apply to compensations
                .run(() -> compensations.undo(run, status, stopCause())));
        endUndone(status, compensations);
    }

    @Override
    void ended() {
        done.set();
        run.wakeJoiner();
        LockSupport.unpark(closer);
        exit(); // the run itself
    }

    @Override
    void release() {
        Scheduler.Lease taken = lease;
        if (taken != null && taken != Scheduler.Lease.NOTHING) {
            run.guard("lease of the scheduler", NodeEnd.NO_NODE, taken::close);
        }
    }

    // Refusals.

    @Override
    public void handleRefusal(byte place, RejectedExecutionException refusal) {
        dispatcher.handleRefusal(place, refusal);
    }

    @Override
    public void handleRefusal(GroupPlacement placement, RejectedExecutionException refusal) {
        dispatcher.handleRefusal(placement, refusal);
    }

    // Signals.

    /** Delivers a signal to a node of this run or of a nested run. Returns whether this has an effect. */
    boolean signal(String path, @Nullable Object value) {
        Signals.ensureType(path, run.graph.addressOf(path).type(), value);
        return !run.states.hasEnded(path) && Objects.requireNonNull(run.signals).deliver(path, value);
    }

    // The end, as the waiting threads see it.

    /** Returns the result that the run has if no other node fails, for its value. */
    FlowResult<?> resultSoFar() {
        return new FlowResult<>(run.states, run.progress.status(), run.now(), List.of(), null);
    }

    boolean hasThreadsInside() {
        return inside > 0;
    }

    /** Sets the thread that is unparked when the run has ended, and when no thread is inside any more. */
    void setCloser(@Nullable Thread closing) {
        closer = closing;
    }

    // For the joining thread.

    void enterJoiner(Runner joiner) {
        joiner.thread = Thread.currentThread();
        joiner.now = -1;
        enter();
    }

    void exitJoiner(Runner joiner) {
        joiner.thread = null;
        exit();
    }

    /** Runs the ready nodes in the joining thread. Returns false if there were none. */
    boolean runInJoiner(Runner joiner) {
        if (joiner.kept < 0
                && joiner.finished == 0
                && dispatcher.readyFor(Runner.RUN_SCHEDULER).isEmpty()) {
            return false;
        }
        joiner.now = -1;
        run.inContext(() -> drain(joiner, next(joiner), null));
        reportFinished(joiner);
        runDeferred(joiner);
        return true;
    }
}
