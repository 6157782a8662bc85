package dev.raddle.flow;

import dev.raddle.flow.threads.AlarmThread;
import dev.raddle.flow.threads.DeferredSteps;
import dev.raddle.flow.threads.GroupPlacement;
import dev.raddle.flow.threads.GroupWaits;
import dev.raddle.flow.threads.NestedRun;
import dev.raddle.flow.threads.ReadyStack;
import dev.raddle.flow.threads.RunEntry;
import dev.raddle.flow.threads.Runner;
import dev.raddle.kernel.OffloadExecutor;
import dev.raddle.kernel.StackRoom;
import dev.raddle.task.CancelledException;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskContext;
import dev.raddle.time.Alarm;
import dev.raddle.time.Deadline;
import dev.raddle.time.Signal;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Executes the nodes of a run, on scheduler threads or on the joining thread, and completes the run. The waits of users
 * are in {@link FlowRun}; a nested run has none.
 */
final class Engine implements RunEntry, NestedRun {

    /*
     * Overview.
     *
     * The calls between the classes of a run have one direction:
     *
     *   FlowRun ──► Engine ──► Dispatcher ──► NodeTransitions ──► NodeStates, Graph
     *   waits       runs       threads for    ends and            the state of each node,
     *               nodes      ready nodes    consequences        the compiled plan
     *
     * All of them use the RunEnvironment. A runner is a thread that executes nodes in a loop: it executes a node
     * (NodeExecutor), applies the consequences of the node's end (NodeTransitions), dispatches the nodes that became
     * ready (Dispatcher), and takes the next node. The state of that loop is a Runner, in which the lower classes
     * return what is left to do. `proceed` repeats their steps until nothing is left. Threads that the lower classes
     * have requested enter through RunEntry, which this class implements.
     *
     * The thread that reports the last node (`remaining` in RunProgress) completes the run: it executes the
     * compensations, determines the status and sets `done`.
     *
     * `inside` counts the threads inside this run, the nested runs whose own count is not zero, and one for this run
     * until it has ended. close() waits until it is zero; an action that continues after its node was ended still
     * counts. The thread that brings it to zero for the first time subtracts a nested run from its outer run. A thread
     * that enters after that finds no node to execute, so the outer run need not count it.
     *
     * Nesting is bounded by memory only, not by the stack. A runner that opens a nested run defers the start of that
     * run (DeferredSteps) until the thread has returned to where it entered the engine, at the bottom of its stack.
     * Nodes that a scheduler executes in the calling thread are deferred likewise. A runner further up the stack
     * returns as soon as a step has been deferred, and defers its own next node, too. The end of a nested run is passed
     * to the outer runs in a loop, and nested runs whose nodes were ended are stopped from a list.
     */

    private static final VarHandle INSIDE;
    private static final VarHandle HAS_LEFT_OUTER;
    private static final VarHandle SPARE;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            INSIDE = lookup.findVarHandle(Engine.class, "inside", int.class);
            HAS_LEFT_OUTER = lookup.findVarHandle(Engine.class, "hasLeftOuter", boolean.class);
            SPARE = lookup.findVarHandle(Engine.class, "spare", Runner.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    final RunEnvironment run;
    final NodeTransitions transitions;
    final Signal done = new Signal(); // set when the run has ended, after the result was written
    private final NodeExecutor executor;
    private final Dispatcher dispatcher;
    private final @Nullable Engine outer; // the enclosing run; null unless this run is nested
    private final int outerNode; // the node of the outer run that this run executes

    private @Nullable Alarm alarm; // written by the starting thread before any node runs
    private Scheduler.@Nullable Lease lease; // likewise
    private @Nullable FlowResult<?> result; // written before `done` is set

    @SuppressWarnings("UnusedVariable") // accessed by INSIDE
    private volatile int inside = 1; // one for the run itself, until it has ended

    @SuppressWarnings("UnusedVariable") // accessed by HAS_LEFT_OUTER
    private volatile boolean hasLeftOuter; // whether this run was subtracted from its outer run

    @SuppressWarnings("UnusedVariable") // accessed by SPARE
    private volatile @Nullable Runner spare; // an unused runner, for reuse

    private volatile @Nullable Thread closer; // the thread that waits in close()

    /**
     * Creates a run.
     *
     * @param outer the enclosing run; null unless this run is nested
     * @param outerNode the node of that run, or -1
     */
    @SuppressWarnings("this-escape") // the receivers do not use it before the run begins
    Engine(Graph graph, @Nullable Object parameter, RunOptions options, @Nullable Engine outer, int outerNode) {
        ensureGroups(graph, options);
        this.outer = outer;
        this.outerNode = outerNode;
        run = new RunEnvironment(graph, parameter, options, outer == null ? null : outer.run, outerNode);
        transitions = new NodeTransitions(run, this);
        if (outer == null) {
            run.onLost = this::stopLost;
        }
        executor = new NodeExecutor(run, transitions);
        GroupWaits waits =
                options.groups == null ? null : new GroupWaits(outer == null ? null : outer.waits(), outerNode);
        dispatcher = new Dispatcher(run, this, transitions, waits);
    }

    /** Returns the waits for nodes with a group, or null if the run has no groups. */
    @Nullable
    GroupWaits waits() {
        return dispatcher.waits;
    }

    @Override
    public boolean hasEnded(String signal) {
        return run.hasEnded(signal);
    }

    @Override
    public String label() {
        return run.label();
    }

    // Beginning.

    /**
     * Begins the run.
     *
     * @param deferred the deferred steps of the calling thread, or null if it is not inside a run
     */
    void begin(@Nullable DeferredSteps deferred) {
        Replay replay = run.options.only.isEmpty() && run.journal == null ? null : new Replay(run, transitions);
        lease = run.options.scheduler.lease();
        Runner starter = new Runner();
        starter.deferred = deferred;
        starter.finished = 1;
        if (run.joiner != null) {
            starter.place = Runner.RUN_SCHEDULER;
            starter.isJoiner = true;
            run.joiner.runner = starter;
        } else {
            starter.place = Runner.NO_PLACE;
        }
        try {
            if (replay != null) {
                run.inContext(() -> replay.apply(starter)); // before the deadline can pass
            }
            armDeadline();
        } catch (Throwable noTime) {
            closeLease();
            throw noTime;
        }
        if (replay != null) {
            run.inContext(() -> {
                replay.submitTriggered(starter);
                proceed(starter);
            });
        } else if (transitions.events != null || run.graph.hasGroups) {
            run.inContext(() -> {
                transitions.consequences.triggerRoots(starter);
                proceed(starter);
            });
        } else {
            transitions.consequences.triggerRoots(starter); // calls no user code, so no context is needed
            proceed(starter);
        }
        reportFinished(starter);
        runDeferred(starter);
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
                alarm = deadline.alarm(() -> run.alarmThread().executeFired(this::outOfTime));
            }
        }
    }

    private static void ensureGroups(Graph graph, RunOptions options) {
        if (options.groups != null || !graph.hasGroups) {
            return;
        }
        for (int node = 0; node < graph.size; node++) {
            if (graph.optionsOf(node).group() != null) {
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
        enterRun();
        if (placer.grouped.count > 0) {
            dispatcher.placeElsewhere(placer.grouped.takeAll()); // they must not wait for this node
        }
        try {
            placer.thread = Thread.currentThread();
            placer.now = -1;
            run.inContext(() -> runNode(placer, placement.node, placement));
        } finally {
            placer.thread = known;
            exitRun();
        }
    }

    @Override
    public void runReady(byte place) {
        ReadyStack nodes = dispatcher.readyFor(place);
        nodes.removeRequest();
        int node = nodes.pop();
        if (node >= 0) {
            runNodes(place, node, transitions.consequences.readyPhase(node), 0, null);
        }
    }

    /**
     * Runs nodes in the calling thread.
     *
     * @param first the node to run first
     * @param deferred the deferred steps of the calling thread, or null if it is not inside a run
     */
    private void runNodes(
            byte place, int first, @Nullable Object expected, int postponed, @Nullable DeferredSteps deferred) {
        enterRun();
        try {
            Runner idle = (Runner) SPARE.getAndSet(this, (Runner) null);
            Runner runner = idle == null ? new Runner() : idle;
            runner.thread = Thread.currentThread();
            runner.place = place;
            runner.postponed = postponed;
            runner.now = -1;
            runner.isJoiner = place != Runner.GROUPED && run.runsInOuterJoiner();
            runner.deferred = deferred;
            runner.isBottom = false;
            run.inContext(() -> runFirst(runner, first, expected));
            reportFinished(runner);
            while (runner.isBottom && runner.hasDeferred()) {
                runDeferred(runner);
                runner.now = -1;
                run.inContext(() -> drain(runner));
                reportFinished(runner);
            }
            runner.deferred = null;
            runner.thread = null;
            spare = runner;
        } finally {
            exitRun();
        }
    }

    private void runFirst(Runner runner, int first, @Nullable Object expected) {
        clearInterrupt(runner);
        if (runner.place != Runner.GROUPED && !run.progress.isStopping()) {
            dispatcher.requestAnother(runner);
        }
        runNode(runner, first, expected);
        proceed(runner);
        if (runner.hasDeferred()) {
            deferNext(runner);
        } else {
            drain(runner);
        }
    }

    private void drain(Runner runner) {
        while (!(runner.isJoiner && mustPause(runner))) {
            int node = dispatcher.take(runner);
            if (node < 0) {
                return;
            }
            clearInterrupt(runner);
            runNode(runner, node, transitions.consequences.readyPhase(node));
            proceed(runner);
            if (runner.hasDeferred()) {
                deferNext(runner);
                return;
            }
        }
        if (run.joiner == null) {
            dispatcher.pushBack(runner);
        }
    }

    /** Clears an interrupt that a callback may have left, unless it may be meant for the joining thread. */
    private static void clearInterrupt(Runner runner) {
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
            deferred.add(() -> runNodes(place, node, transitions.consequences.readyPhase(node), postponed, deferred));
        }
    }

    /** Runs the deferred steps, if this is the bottom of the stack. */
    private void runDeferred(Runner runner) {
        if (!runner.isBottom || !runner.hasDeferred()) {
            return;
        }
        boolean isCallers = runner.place == Runner.NO_PLACE;
        boolean interrupted = isCallers && Thread.interrupted(); // meant for the caller, not for these nodes
        try {
            runner.deferred().runAll(run.options.sink);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void enterRun() {
        INSIDE.getAndAdd(this, 1);
    }

    private void exitRun() {
        Engine left = this;
        while (left != null && (int) INSIDE.getAndAdd(left, -1) == 1) {
            LockSupport.unpark(left.closer);
            left = HAS_LEFT_OUTER.compareAndSet(left, false, true) ? left.outer : null;
        }
    }

    /** Processes the ended nodes and dispatches the triggered ones, until there are none of either. */
    private void proceed(Runner runner) {
        do {
            while (!transitions.consequences.settle(runner)) {
                NestedRun.stopAll(runner);
            }
        } while (!dispatcher.dispatch(runner));
    }

    private void runNode(Runner runner, int node, @Nullable Object expected) {
        if (executor.execute(runner, node, expected)) {
            openNested(runner, node);
        }
    }

    // Nested runs.

    private void openNested(Runner runner, int node) {
        try {
            Engine nested = run.callInStarterContext(() -> newNested(node));
            beginLater(runner, nested);
        } catch (Throwable failure) {
            executor.failThrown(runner, node, failure);
        }
    }

    private Engine newNested(int node) throws Exception {
        NestedPlan plan = (NestedPlan) run.graph.bodies[node].call(run, node);
        RunOptions options = run.optionsForNested(plan.onFailure(), plan.rootsAtOnce());
        return new Engine(plan.graph(), plan.parameter(), options, this, node);
    }

    private void beginLater(Runner runner, Engine nested) {
        int node = nested.outerNode;
        if (!run.progress
                .tryAddRemaining()) { // until the inner run has ended: no callback of it follows this run's end
            transitions.handleEndedByOther(runner, node);
            return;
        }
        enterRun(); // likewise
        run.states.recordBegin(node, runner.began);
        if (run.states.compareAndSet(node, runner, nested)) {
            runner.now = -1;
            DeferredSteps deferred = runner.deferred();
            deferred.add(() -> beginNested(nested, deferred));
        } else {
            transitions.handleEndedByOther(runner, node);
            runner.finished++; // the inner run never begins
            exitRun();
        }
    }

    private void beginNested(Engine nested, DeferredSteps deferred) {
        try {
            nested.begin(deferred);
        } catch (Throwable failure) {
            nested.exitRun();
            runTransitions(deferred, runner -> {
                runner.finished++;
                transitions.fail(runner, nested.outerNode, nested, failure);
            });
        }
    }

    /** Ends a node with the result of its nested run. */
    private void nestedEnded(Runner runner, Engine nested) {
        runner.finished++;
        transitions.endNested(runner, nested.outerNode, nested, nested.result());
    }

    // Reporting.

    @Override
    public void runTransitions(Consumer<Runner> action) {
        runTransitions(null, action);
    }

    private void runTransitions(@Nullable DeferredSteps deferred, Consumer<Runner> action) {
        Runner runner = newTransitionRunner(deferred);
        run.inContext(() -> {
            action.accept(runner);
            proceed(runner);
        });
        reportFinished(runner);
        runDeferred(runner);
    }

    private static Runner newTransitionRunner(@Nullable DeferredSteps deferred) {
        Runner runner = new Runner();
        runner.place = Runner.NO_PLACE;
        runner.deferred = deferred;
        return runner;
    }

    /**
     * Subtracts the nodes that this runner has finished. If they were the last, completes this run and passes its end
     * outwards.
     */
    void reportFinished(Runner runner) {
        if (run.progress.subtractFinished(runner) && complete(runner) && outer != null) {
            completeOuterRuns(runner.deferred());
        }
        deferPostponed(runner);
    }

    /** Passes the end of this run to its outer run, and so on outwards while those end, too. */
    private void completeOuterRuns(DeferredSteps deferred) {
        Engine ended = this;
        for (Engine around = outer; around != null && around.completeNested(ended, deferred); around = ended.outer) {
            ended = around;
        }
    }

    /** Ends the node of a nested run that has ended. Returns whether this run has ended as a result. */
    private boolean completeNested(Engine nested, DeferredSteps deferred) {
        Runner runner = newTransitionRunner(deferred);
        run.inContext(() -> {
            nestedEnded(runner, nested);
            proceed(runner);
        });
        boolean isComplete = run.progress.subtractFinished(runner) && complete(runner);
        deferPostponed(runner);
        return isComplete;
    }

    /** Defers the nodes that schedulers execute in the calling thread. */
    private void deferPostponed(Runner runner) {
        int places = runner.postponed;
        if (places == 0 || (runner.place != Runner.NO_PLACE && runner.place != Runner.GROUPED)) {
            return;
        }
        runner.postponed = 0;
        DeferredSteps deferred = runner.deferred();
        if (deferred.isGrouped || run.isOnAlarmThread()) {
            // not under the permit of another node, nor on the alarm thread
            new OffloadExecutor(run.options.sink).execute(() -> runPostponed(places, null));
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
                runNodes(place, node, transitions.consequences.readyPhase(node), places, deferred);
            }
        }
    }

    // Ending.

    /** Cancels all nodes that have not ended. */
    void stop(String reason) {
        stop(run.progress.cancelled(reason));
    }

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
        StackRoom.ensure(); // as in stop()
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

    private void stopLost() {
        if (transitions.compensations != null) {
            transitions.compensations.endDelay();
        }
        RunProgress.Stop why = new RunProgress.Stop(FlowStatus.LOST, run.lostBy(), NodeEnd.NO_NODE);
        if (!stop(why) && run.progress.isStopping()) {
            runTransitions(runner -> transitions.endAll(runner, why)); // those whose ends are being recorded
        }
    }

    private void outOfTime() {
        stop(run.progress.outOfTime());
    }

    /** Stops the run unless it is stopping. Returns whether it was not. */
    private boolean stop(RunProgress.Stop why) {
        StackRoom.ensure(); // for ending the nodes: no other thread can do that after the next line
        boolean isFirst = run.progress.trySetStop(why);
        if (isFirst) {
            runTransitions(runner -> transitions.endAll(runner, why));
        }
        return isFirst;
    }

    @Override
    public @Nullable Runner tryStop(DeferredSteps deferred) {
        if (run.isLost() && transitions.compensations != null) {
            transitions.compensations.endDelay();
        }
        RunProgress.Stop why = run.progress.cancelled(
                "its node in flow \"" + Objects.requireNonNull(outer).run.graph.name + "\" was ended");
        if (!run.progress.trySetStop(why) && !(run.isLost() && run.progress.isStopping())) {
            return null;
        }
        Runner runner = newTransitionRunner(deferred);
        run.inContext(() -> transitions.endAll(runner, why));
        return runner;
    }

    @Override
    public void finishStop(Runner runner) {
        run.inContext(() -> proceed(runner));
        reportFinished(runner);
    }

    /** Ends the run, later if there are compensations. Returns whether it has ended. */
    private boolean complete(Runner runner) {
        run.progress.trySetStop(RunProgress.Stop.COMPLETE);
        FlowStatus status = run.progress.status();
        boolean undoes = status != FlowStatus.SUCCESS && status != FlowStatus.DEGRADED;
        boolean hasUndosLeft = run.journal != null && run.journal.hasUndosLeft(undoes); // of subflows
        Compensations own = transitions.compensations;
        if (status == FlowStatus.LOST || ((own == null || !undoes) && !hasUndosLeft)) {
            end(status, List.of());
            return true;
        }
        Compensations completed = own == null ? new Compensations() : own;
        AlarmThread alarms = run.alarmThread();
        Runnable compensation = () -> compensate(completed, status);
        if (alarms.followsFiringThread()
                && !runner.isJoiner
                && !runner.deferred().isGrouped
                && !hasUndosLeft
                && !completed.mayWait(run.graph)) {
            runner.deferred().add(compensation);
        } else {
            alarms.execute(compensation); // neither delayed by actions nor delaying the caller
        }
        return false;
    }

    private void compensate(Compensations completed, FlowStatus status) {
        List<CompensationFailure> failures = new ArrayList<>();
        run.inContext(() -> TaskContext.current()
                .within(null) // the deadline of the run does not apply to compensations
                .run(() -> failures.addAll(completed.undo(run, status, stopCause()))));
        end(status, failures);
        if (outer != null) {
            DeferredSteps deferred = new DeferredSteps(false);
            completeOuterRuns(deferred);
            deferred.runAll(run.options.sink);
        }
    }

    private void end(FlowStatus status, List<CompensationFailure> compensationFailures) {
        Alarm set = alarm;
        if (set != null) {
            run.guard("alarm for the deadline", NodeEnd.NO_NODE, set::cancel);
        }
        closeLease();
        if (run.journal != null) {
            run.journal.ended(status);
        }
        FlowStatus known = run.isLost() ? FlowStatus.LOST : status;
        List<CompensationFailure> failures = run.progress.withNestedFailures(compensationFailures);
        result = new FlowResult<>(run.states, known, run.now(), failures, stopCause());
        done.set();
        run.wakeJoiner();
        LockSupport.unpark(closer);
        exitRun(); // the run itself
    }

    private @Nullable Throwable stopCause() {
        Throwable lost = run.lostBy();
        return lost == null ? Objects.requireNonNull(run.progress.stopped()).cause() : lost;
    }

    private void closeLease() {
        Scheduler.Lease taken = lease;
        if (taken != null) {
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

    /** Fails the nodes that wait in their groups and can never begin, because the calling thread is about to join. */
    void refuseDeadlocked() {
        dispatcher.refuseDeadlocked();
    }

    // Signals.

    /** Delivers a signal to a node of this run or of a nested run. Returns whether this has an effect. */
    boolean signal(String path, @Nullable Object value) {
        Signals.ensureType(path, run.graph.addressOf(path).type(), value);
        return !run.hasEnded(path) && Objects.requireNonNull(run.signals).deliver(path, value);
    }

    // The end, as the waiting threads see it.

    /** Returns the result of the run, which must have ended. */
    FlowResult<?> result() {
        return Objects.requireNonNull(result);
    }

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
        enterRun();
    }

    void exitJoiner(Runner joiner) {
        joiner.thread = null;
        exitRun();
    }

    /** Runs the ready nodes in the joining thread. Returns false if there were none. */
    boolean runInJoiner(Runner joiner) {
        if (joiner.kept < 0
                && joiner.finished == 0
                && dispatcher.readyFor(Runner.RUN_SCHEDULER).isEmpty()) {
            return false;
        }
        joiner.now = -1;
        run.inContext(() -> drain(joiner));
        reportFinished(joiner);
        runDeferred(joiner);
        return true;
    }
}
