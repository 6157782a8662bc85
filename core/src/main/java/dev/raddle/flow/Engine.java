package dev.raddle.flow;

import dev.raddle.kernel.Attempts;
import dev.raddle.kernel.CapturedContext;
import dev.raddle.kernel.EnclosingScope;
import dev.raddle.kernel.OffloadExecutor;
import dev.raddle.kernel.Propagation;
import dev.raddle.kernel.TimeLimit;
import dev.raddle.task.CancelledException;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskContext;
import dev.raddle.task.TaskTimeoutException;
import dev.raddle.time.Alarm;
import dev.raddle.time.Deadline;
import dev.raddle.time.Signal;
import dev.raddle.time.TimeSource;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Executes the nodes of a run, on scheduler threads or on the joining thread. */
abstract class Engine extends Dispatcher {

    /*
     * Overview.
     *
     * A runner is a thread that executes nodes in a loop: it executes a node, applies the consequences of the node's
     * end (NodeTransitions), dispatches the nodes that became ready (Dispatcher), and takes the next node.
     *
     * `remaining` counts the nodes whose end has not been reported, plus one for the start of the run. A runner
     * subtracts the nodes that it has finished in batches. If a runner is inside a node when another thread ends that
     * node, the other thread takes over the runner's unreported count. The thread that brings `remaining` to zero
     * completes the run: it executes the compensations and determines the status.
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

    private static final VarHandle REMAINING;
    private static final VarHandle INSIDE;
    private static final VarHandle HAS_LEFT_OUTER;
    private static final VarHandle NEXT_ROOT;
    private static final VarHandle SPARE;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            REMAINING = lookup.findVarHandle(Engine.class, "remaining", int.class);
            INSIDE = lookup.findVarHandle(Engine.class, "inside", int.class);
            NEXT_ROOT = lookup.findVarHandle(Engine.class, "nextRoot", int.class);
            HAS_LEFT_OUTER = lookup.findVarHandle(Engine.class, "hasLeftOuter", boolean.class);
            SPARE = lookup.findVarHandle(Engine.class, "spare", Runner.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    final TimeSource time;
    private final @Nullable Object parameter;
    private final @Nullable Engine outer; // the enclosing run; null unless this run is nested
    private final int outerNode; // the node of the outer run that this run executes
    private final long origin;
    private final @Nullable EnclosingScope enclosing;
    private final @Nullable TimeLimit limit;
    private final @Nullable Deadline deadline;
    private final CapturedContext perThread;
    private final @Nullable CapturedContext perNode;
    private final boolean plain; // whether no context, listener, journal, recording or root limit applies to nodes

    private @Nullable Alarm alarm; // written by the starting thread before any node runs
    private Scheduler.@Nullable Lease lease; // likewise
    private @Nullable BitSet selected; // the selected nodes, or null for all; likewise

    @SuppressWarnings("UnusedVariable") // accessed by REMAINING
    private volatile int remaining;

    @SuppressWarnings("UnusedVariable") // accessed by NEXT_ROOT
    private volatile int nextRoot; // the next root to trigger, if rootsAtOnce limits them

    private volatile int inside = 1; // one for the run itself, until it has ended

    @SuppressWarnings("UnusedVariable") // accessed by HAS_LEFT_OUTER
    private volatile boolean hasLeftOuter; // whether this run was subtracted from its outer run

    @SuppressWarnings("UnusedVariable") // accessed by SPARE
    private volatile @Nullable Runner spare; // an unused runner, for reuse

    @SuppressWarnings("this-escape") // the receivers do not use it before the run begins
    Engine(Graph graph, @Nullable Object parameter, RunOptions options, @Nullable Engine outer, int outerNode) {
        super(graph, options);
        this.parameter = parameter;
        this.outer = outer;
        this.outerNode = outerNode;
        enclosing = outer == null ? EnclosingScope.innermost() : outer;
        Deadline around = enclosing == null ? null : enclosing.deadline();
        Deadline given = options.deadline;
        time = options.time != null
                ? options.time
                : given != null ? given.time() : around != null ? around.time() : TimeSource.system();
        origin = time.nanoTime();
        limit = TimeLimit.of(time, given != null ? given.remaining() : options.timeout, enclosing);
        deadline = limit == null ? null : limit.deadline();
        perThread = options.forThreads().capture(TaskContext.current().within(this));
        Propagation forNodes = options.forNodes();
        perNode = forNodes == null ? null : forNodes.captureWithoutTaskContext(); // the thread context has that
        if (graph.hasCallbacks || options.listener != null || isRecorded) {
            events = new FlowEvents(this);
        }
        if (graph.hasTimeouts) {
            nodeTimeouts = new NodeTimeouts(this, this::nodeOutOfTime);
        }
        plain = perNode == null
                && options.listener == null
                && options.journal == null
                && !isRecorded
                && options.rootsAtOnce == 0;
        nextRoot = options.rootsAtOnce;
        remaining = graph.size + 1;
    }

    /** Returns whether the run has a deadline, which ends it in any case. */
    final boolean hasDeadline() {
        return deadline != null;
    }

    /** Registers that the joining thread of this run waits for a node. Returns false if no thread is joining. */
    abstract boolean registerOwnWait(GroupPlacement placement);

    /** Returns the placed node, or, if it is in a nested run, the node of this run that contains that run. */
    final int nodeOf(GroupPlacement placement) {
        int node = placement.node;
        for (Engine each = placement.run; each != this && each.outer != null; each = each.outer) {
            node = each.outerNode;
        }
        return node;
    }

    @Override
    final void registerWait(GroupPlacement placement) {
        if (hasDeadline()) {
            return;
        }
        for (Engine each = this; each != null && !each.registerOwnWait(placement); ) {
            each = each.outer;
        }
    }

    /** Returns whether the joining thread of an outer run executes the nodes. */
    abstract boolean runsInOuterJoiner();

    /** Unparks the thread in close(), because no thread is inside any more. */
    abstract void wakeCloser();

    /** Sets the runner that the joining thread will use. */
    abstract void setJoiner(Runner runner);

    /** Returns whether all outputs have ended. */
    abstract boolean isValueKnown();

    /** Returns the result of the run, which must have ended. */
    abstract FlowResult<?> result();

    /** Called when all nodes have ended and the compensations have been executed. Publishes the result. */
    abstract void finished(FlowStatus status, List<Throwable> compensationFailures, @Nullable Throwable stopCause);

    final boolean hasThreadsInside() {
        return inside > 0;
    }

    @Override
    final AlarmThread newAlarmThread() {
        return new AlarmThread(graph.name, time, options.sink);
    }

    @Override
    final RunRequest newRequest(byte place) {
        return new RunRequest(this, place);
    }

    @Override
    final GroupPlacement newPlacement(int node) {
        return new GroupPlacement(this, node);
    }

    @Override
    final void addRemaining() {
        REMAINING.getAndAdd(this, 1);
    }

    @Override
    final void runTransitionsOnAlarmThread(Consumer<Runner> action) {
        alarmThread().execute(() -> runTransitions(action));
    }

    // Beginning.

    /**
     * Begins the run.
     *
     * @param deferred the deferred steps of the calling thread, or null if it is not inside a run
     */
    final void begin(@Nullable DeferredSteps deferred) {
        ensureGroups();
        if (!options.only.isEmpty()) {
            selected = selected(options.only);
        }
        FlowJournal.@Nullable Recorded @Nullable [] recorded = recorded();
        lease = options.scheduler.lease();
        try {
            armDeadline();
        } catch (Throwable noTime) {
            closeLease();
            throw noTime;
        }
        Runner starter = new Runner();
        starter.deferred = deferred;
        starter.finished = 1;
        if (runsInJoiner()) {
            starter.place = RUN_SCHEDULER;
            starter.isJoiner = true;
            setJoiner(starter);
        } else {
            starter.place = Runner.NO_PLACE;
        }
        if (recorded != null || selected != null || events != null || graph.hasGroups) {
            inContext(() -> {
                restore(starter, recorded);
                skipUnselected(starter);
                settleAll(starter);
                hasBegun = true;
                triggerRoots(starter);
                dispatch(starter);
            });
        } else {
            hasBegun = true;
            triggerRoots(starter); // calls no user code, so no context is needed
            dispatch(starter);
        }
        reportFinished(starter);
        runDeferred(starter);
    }

    private void armDeadline() {
        if (limit != null && outer == null) { // the outer run ends a nested one
            if (limit.deadline().hasPassed()) {
                outOfTime();
            } else {
                alarm = limit.deadline().alarm(() -> alarmThread().executeFired(this::outOfTime));
            }
        }
    }

    private void ensureGroups() {
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

    private BitSet selected(List<String> targets) {
        int[] nodes = targets.stream().mapToInt(graph::indexOf).toArray();
        BitSet found = graph.ancestorsOf(nodes);
        for (int node : nodes) {
            found.set(node);
            states.pin(node);
        }
        return found;
    }

    private FlowJournal.@Nullable Recorded @Nullable [] recorded() {
        FlowJournal journal = options.journal;
        if (journal == null) {
            return null;
        }
        Object about = options.work == null ? parameter : options.work;
        journal.bind(new FlowJournal.Work(graph.name, graph.digest(), about));
        FlowJournal.@Nullable Recorded[] recorded = new FlowJournal.Recorded[graph.size];
        for (int node = 0; node < graph.size; node++) {
            recorded[node] = journal.find(graph.ids[node]);
        }
        return recorded;
    }

    /**
     * Ends the nodes that the journal has recorded: all of them first, so that none of them causes a skip of another.
     */
    private void restore(Runner runner, FlowJournal.@Nullable Recorded @Nullable [] recorded) {
        if (recorded == null) {
            return;
        }
        for (int node = 0; node < graph.size; node++) {
            FlowJournal.Recorded record = recorded[node];
            if (record != null) {
                NodeEnd restored = new NodeEnd(
                        NodeState.SUCCESS, ValueSource.JOURNAL, record.value(), null, NodeEnd.Reason.RESTORED, -1, now());
                if (!states.compareAndSet(node, null, restored)) {
                    recorded[node] = null; // the deadline had passed
                }
            }
        }
        for (int node = 0; node < graph.size; node++) {
            if (recorded[node] != null) {
                states.recordEnd(node, now());
                runner.addEnded(node);
                releaseUpstreams(runner, node);
            }
        }
        if (compensations != null) {
            for (int node : graph.upstreamsFirst()) { // the order of completion is unknown; this order is consistent
                if (recorded[node] != null) {
                    recordCompleted(node);
                }
            }
        }
    }

    /** Skips the nodes that are not selected: all of them first, so that each has this reason for its skip. */
    private void skipUnselected(Runner runner) {
        BitSet kept = selected;
        if (kept == null) {
            return;
        }
        for (int node = kept.nextClearBit(0); node < graph.size; node = kept.nextClearBit(node + 1)) {
            end(runner, node, null, NodeState.SKIPPED, null, NodeEnd.Reason.NOT_WANTED, NO_NODE, false);
        }
    }

    private void triggerRoots(Runner runner) {
        int count = options.rootsAtOnce == 0 ? graph.roots.length : Math.min(options.rootsAtOnce, graph.roots.length);
        for (int each = 0; each < count; each++) {
            trigger(runner, graph.roots[each]);
        }
    }

    @Override
    final void triggerNextRoot(Runner runner) {
        int next = (int) NEXT_ROOT.getAndAdd(this, 1);
        if (next < graph.roots.length) {
            trigger(runner, graph.roots[next]);
        }
    }

    // Running.

    /** Runs a node whose group has granted a permit, and no other node: the permit is for this one. */
    final void runGrouped(GroupPlacement placement) {
        runNodes(GROUPED, placement.node, placement, 0, null);
    }

    /** Runs a node in the thread that places it, as its group requires. The caller processes the consequences. */
    final void runInPlace(GroupPlacement placement, Runner placer) {
        Thread known = placer.thread;
        enterRun();
        if (placer.grouped.count > 0) {
            placeElsewhere(placer.grouped.takeAll()); // they must not wait for this node
        }
        try {
            placer.thread = Thread.currentThread();
            placer.now = -1;
            inContext(() -> runNode(placer, placement.node, placement));
        } finally {
            placer.thread = known;
            exitRun();
        }
    }

    /** Runs ready nodes, and those that become ready in this thread, until there are none. */
    final void runReady(byte place) {
        ReadyStack nodes = readyFor(place);
        nodes.removeRequest();
        int node = nodes.pop();
        if (node >= 0) {
            runNodes(place, node, readyPhase(node), 0, null);
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
            runner.isJoiner = place != GROUPED && runsInOuterJoiner();
            runner.deferred = deferred;
            runner.isBottom = false;
            inContext(() -> runFirst(runner, first, expected));
            reportFinished(runner);
            while (runner.isBottom && runner.hasDeferred()) {
                runDeferred(runner);
                runner.now = -1;
                inContext(() -> drain(runner));
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
        if (runner.place != GROUPED && !isStopping()) {
            requestAnother(runner);
        }
        runNode(runner, first, expected);
        settleAll(runner);
        dispatch(runner);
        if (!yieldToDeferred(runner)) {
            drain(runner);
        }
    }

    private void drain(Runner runner) {
        while (!(runner.isJoiner && mustPause(runner))) {
            int node = takeKept(runner);
            if (node < 0) {
                node = popFor(runner);
                if (node < 0) {
                    return;
                }
            }
            if (!runner.isJoiner) {
                Thread.interrupted(); // a callback may have left an interrupt
            }
            runNode(runner, node, readyPhase(node));
            settleAll(runner);
            dispatch(runner);
            if (yieldToDeferred(runner)) {
                return;
            }
        }
        if (!runsInJoiner()) {
            pushBack(runner);
        }
    }

    private boolean mustPause(Runner joiner) {
        return Thread.currentThread().isInterrupted() || (joiner.isForValue && isValueKnown());
    }

    /**
     * Returns whether there are deferred steps, which run first. Unless this is the bottom of the stack, defers this
     * runner's next node, too.
     */
    private boolean yieldToDeferred(Runner runner) {
        if (!runner.hasDeferred()) {
            return false;
        }
        if (!runner.isBottom) {
            int kept = takeKept(runner);
            int node = kept < 0 ? popFor(runner) : kept;
            byte place = runner.place;
            int postponed = runner.postponed;
            DeferredSteps deferred = runner.deferred();
            if (node >= 0) {
                deferred.add(() -> runNodes(place, node, readyPhase(node), postponed, deferred));
            }
        }
        return true;
    }

    /** Runs the deferred steps, if this is the bottom of the stack. */
    private void runDeferred(Runner runner) {
        if (!runner.isBottom || !runner.hasDeferred()) {
            return;
        }
        boolean isCallers = runner.place == Runner.NO_PLACE;
        boolean interrupted = isCallers && Thread.interrupted(); // meant for the caller, not for these nodes
        try {
            runner.deferred().runAll(options.sink);
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
            left.wakeCloser();
            left = HAS_LEFT_OUTER.compareAndSet(left, false, true) ? left.outer : null;
        }
    }

    private void inContext(Runnable action) {
        try {
            perThread.call(() -> {
                action.run();
                return this;
            });
        } catch (Throwable leftOpen) {
            options.sink.report("flow \"" + graph.name + "\", which left a scope open", leftOpen);
        }
    }

    private void runNode(Runner runner, int node, @Nullable Object expected) {
        if (isStopping()) {
            return; // the thread that stops the run ends this node, too
        }
        boolean entersAtOnce = plain && graph.is(Graph.PLAIN, node);
        runner.began = entersAtOnce ? recentTime(runner) : -1;
        if (!states.compareAndSet(node, expected, runner)) {
            return; // another thread has ended it
        }
        if (entersAtOnce) {
            runPlainNode(runner, node);
            return;
        }
        runner.now = -1; // conditions and contexts take time
        Object value;
        try {
            NodeOptions own = graph.optionsOf(node);
            value = runWithOptions(runner, node, own);
            if (value instanceof NodePhase) {
                return; // it has ended, or is a nested run
            }
            forgetInterrupt(runner, node);
        } catch (Throwable failure) {
            failThrown(runner, node, failure);
            return;
        }
        succeed(runner, node, runner, value == null ? NodeStates.NULL : value);
    }

    /**
     * Returns the time of the last end if known, which was shortly before, or the current time; -1 if nodes are not
     * timed.
     */
    private long recentTime(Runner runner) {
        return !states.isTimed() ? -1 : runner.now < 0 ? now() : runner.now;
    }

    /** Runs a node without options in a plain run. */
    private void runPlainNode(Runner runner, int node) {
        Object value;
        try {
            value = graph.bodies[node].call(this, node);
            forgetInterrupt(runner, node);
        } catch (Throwable failure) {
            failThrown(runner, node, failure);
            return;
        }
        if (leave(runner, node, runner, value == null ? NodeStates.NULL : value)) {
            recordTimes(runner, node, runner.began);
            propagateEnd(runner, node, true);
            runner.finished++;
        }
    }

    /** Clears an interrupt that an action left, so that no callback, other node or other task of the thread sees it. */
    private void forgetInterrupt(Runner runner, int node) {
        if (!runner.isJoiner && states.get(node) == runner) {
            Thread.interrupted(); // one that is still being delivered for this node is cleared when the node is left
        }
    }

    private void failThrown(Runner runner, int node, Throwable failure) {
        forgetInterrupt(runner, node);
        if (runner.isJoiner && failure instanceof InterruptedException && states.get(node) == runner) {
            Thread.currentThread().interrupt(); // it was meant for the joining thread
        }
        fail(runner, node, runner, failure);
    }

    @Override
    final <T> T callInStarterContext(Callable<? extends T> action) throws Exception {
        return perNode == null ? action.call() : perNode.call(action);
    }

    /** Runs a node with options. Returns its value, or a phase if the node has ended or is a nested run. */
    private Object runWithOptions(Runner runner, int node, NodeOptions own) throws Exception {
        if (own.condition() != null && !evaluateCondition(runner, node, own.condition())) {
            return NodePhase.Plain.ENDING;
        }
        if (own.begin() != null || options.listener != null || isRecorded) {
            if (!beginNode(runner, node, own.begin())) {
                return NodePhase.Plain.ENDING;
            }
        } else if (states.get(node) != runner) {
            handleEndedByOther(runner, node); // during its condition or the installation of its context
            return NodePhase.Plain.ENDING;
        } else {
            runner.began = recentTime(runner);
        }
        if (graph.bodies[node] instanceof Body.Nested nested) {
            return callInStarterContext(() -> openNested(runner, node, nested));
        }
        return attempt(runner, node, own);
    }

    /** Evaluates the condition; ends the node and returns false if it must not run. */
    private boolean evaluateCondition(Runner runner, int node, Predicate<? super NodeContext<?>> condition) {
        NodeState otherwise = NodeState.SKIPPED;
        Throwable cause = null;
        try {
            if (callInStarterContext(() -> condition.test(contextOf(node)))) {
                return true;
            }
        } catch (Throwable failure) {
            otherwise = NodeState.FAILED;
            cause = failure;
        }
        end(runner, node, runner, otherwise, cause, NodeEnd.Reason.CONDITION, NO_NODE, true);
        return false;
    }

    /** Notifies the listener and calls the begin callback. Returns false if the node had already been ended. */
    private boolean beginNode(Runner runner, int node, @Nullable Consumer<? super NodeContext<?>> callback) {
        NodePhase.Beginning beginning = new NodePhase.Beginning(runner, new Signal());
        if (!states.compareAndSet(node, runner, beginning)) {
            handleEndedByOther(runner, node);
            return false;
        }
        runner.began = recentTime(runner);
        Objects.requireNonNull(events).notifyStarted(node, callback);
        states.set(node, runner);
        beginning.over().set();
        return true;
    }

    private Object attempt(Runner runner, int node, NodeOptions own) throws Exception {
        RetryPolicy retry = own.retry();
        if (retry == null || retry.maxAttempts() == 1) {
            return callAction(node);
        }
        Attempts<Object> attempts = new Attempts<>(
                () -> callAction(node),
                retry,
                () -> states.get(node) != runner,
                time,
                graph.ids[node],
                limitOf(node, own));
        runner.attempts = attempts;
        try {
            return attempts.call();
        } catch (TaskTimeoutException late) {
            if (!attempts.ranOutOfTime()) {
                throw late; // thrown by the action itself
            }
            forgetInterrupt(runner, node);
            end(runner, node, runner, NodeState.TIMED_OUT, late, NodeEnd.Reason.OUT_OF_TIME, NO_NODE, true);
            return NodePhase.Plain.ENDING;
        } finally {
            runner.attempts = null;
        }
    }

    /** Returns the nearer of the limits of a node and of the run, or null if there is neither. */
    private @Nullable TimeLimit limitOf(int node, NodeOptions own) {
        Duration length = own.timeout();
        Deadline until = nodeTimeouts == null ? null : nodeTimeouts.deadline(node);
        if (until == null || length == null) {
            return limit;
        }
        boolean endsWithRun = limit != null && limit.deadline().remaining().compareTo(until.remaining()) < 0;
        return endsWithRun ? limit : new TimeLimit(until, length, null);
    }

    /**
     * Calls an action once, inside its enclosure and with the starter's context installed anew, so that no attempt sees
     * what another has left.
     */
    private Object callAction(int node) throws Exception {
        Body body = graph.bodies[node];
        EnclosingScope inner = nodeTimeouts == null ? null : nodeTimeouts.enclosure(node);
        return callInStarterContext(() -> inner == null
                ? body.call(this, node)
                : TaskContext.current().within(inner).call(() -> body.call(this, node)));
    }

    private Object openNested(Runner runner, int node, Body.Nested body) throws Exception {
        Engine inner = body.open(this, node);
        NodePhase.Nested mark = new NodePhase.Nested(inner, runner.began);
        addRemaining(); // until the inner run has ended: none of its callbacks runs after the end of this run
        enterRun(); // likewise
        if (states.compareAndSet(node, runner, mark)) {
            runner.now = -1;
            DeferredSteps deferred = runner.deferred();
            deferred.add(() -> beginNested(node, mark, deferred));
        } else {
            handleEndedByOther(runner, node);
            runner.finished++; // the inner run never begins
            exitRun();
        }
        return mark;
    }

    private void beginNested(int node, NodePhase.Nested mark, DeferredSteps deferred) {
        try {
            mark.run().begin(deferred);
        } catch (Throwable failure) {
            mark.run().exitRun();
            runTransitions(deferred, runner -> {
                runner.finished++;
                fail(runner, node, mark, failure);
            });
        }
    }

    /** Ends a node with the result of its nested run. */
    private void nestedEnded(Runner runner, int node, FlowResult<?> inner) {
        runner.finished++;
        if (!(states.get(node) instanceof NodePhase.Nested mark)) {
            return; // it was ended from outside
        }
        try {
            Throwable failure = inner.failure();
            if (failure == null) {
                Object value = inner.value();
                succeed(runner, node, mark, value == null ? NodeStates.NULL : value);
            } else {
                fail(runner, node, mark, failure);
            }
        } catch (FlowFailedException noValue) {
            Throwable cause = noValue.getCause();
            fail(runner, node, mark, cause == null ? noValue : cause);
        }
    }

    // Reporting.

    @Override
    final void runTransitions(Consumer<Runner> action) {
        runTransitions(null, action);
    }

    private void runTransitions(@Nullable DeferredSteps deferred, Consumer<Runner> action) {
        Runner runner = newTransitionRunner(deferred);
        inContext(() -> {
            action.accept(runner);
            settleAll(runner);
            dispatch(runner);
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
    final void reportFinished(Runner runner) {
        if (subtractFinished(runner) && outer != null) {
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
        inContext(() -> {
            nestedEnded(runner, nested.outerNode, nested.result());
            settleAll(runner);
            dispatch(runner);
        });
        boolean subtractFinished = subtractFinished(runner);
        deferPostponed(runner);
        return subtractFinished;
    }

    /**
     * Subtracts the nodes that this runner has finished, and completes the run if they were the last. Returns whether
     * it ended.
     */
    private boolean subtractFinished(Runner runner) {
        int finished = runner.finished;
        runner.finished = 0;
        return finished > 0 && (int) REMAINING.getAndAdd(this, -finished) == finished && complete(runner);
    }

    /** Defers the nodes that schedulers execute in the calling thread. */
    private void deferPostponed(Runner runner) {
        int places = runner.postponed;
        if (places == 0 || (runner.place != Runner.NO_PLACE && runner.place != GROUPED)) {
            return;
        }
        runner.postponed = 0;
        DeferredSteps deferred = runner.deferred();
        if (deferred.isGrouped || isOnAlarmThread()) {
            // not under the permit of another node, nor on the alarm thread
            new OffloadExecutor(options.sink).execute(() -> runPostponed(places, null));
        } else {
            deferred.add(() -> runPostponed(places, deferred));
        }
    }

    private void runPostponed(int places, @Nullable DeferredSteps deferred) {
        for (byte place = RUN_SCHEDULER; place <= COMPUTE_SCHEDULER; place++) {
            int node = (places & 1 << place) == 0 ? NO_NODE : readyFor(place).pop();
            if (node >= 0) {
                runNodes(place, node, readyPhase(node), places, deferred);
            }
        }
    }

    // Ending.

    /** Cancels all nodes that have not ended. */
    final void stop(String reason) {
        stop(cancelled(reason));
    }

    private Stop cancelled(String reason) {
        String text = "flow \"" + graph.name + "\" was cancelled: " + reason;
        return new Stop(FlowStatus.CANCELLED, new CancelledException(text), NO_NODE);
    }

    private void outOfTime() {
        Duration length = limit == null ? Duration.ZERO : limit.budget();
        String text = "flow \"" + graph.name + "\" ran out of time after " + TimeLimit.text(length);
        stop(new Stop(FlowStatus.TIMED_OUT, new TaskTimeoutException(text, graph.name, length, 0), NO_NODE));
    }

    private void stop(Stop why) {
        if (trySetStop(why)) {
            runTransitions(runner -> endAll(runner, why));
        }
    }

    /** A run that is being stopped, and the runner that ended its nodes. */
    private record Stopping(Engine run, Runner runner) {}

    /** Stops nested runs of all depths: first ends the nodes of all of them, then notifies, the innermost run first. */
    @Override
    final void stopNested(Runner runner) {
        if (runner.isCollecting) {
            return;
        }
        List<Engine> found = runner.takeStopped();
        if (found.isEmpty()) {
            return;
        }
        List<Stopping> stopping = new ArrayList<>();
        for (int each = 0; each < found.size(); each++) {
            Engine run = found.get(each);
            Stop why = run.cancelled(
                    "its node in flow \"" + Objects.requireNonNull(run.outer).graph.name + "\" was ended");
            if (run.trySetStop(why)) {
                Runner nested = newTransitionRunner(runner.deferred());
                nested.isCollecting = true;
                run.inContext(() -> run.endAll(nested, why));
                nested.isCollecting = false;
                found.addAll(nested.takeStopped());
                stopping.add(new Stopping(run, nested));
            }
        }
        for (Stopping each : stopping.reversed()) {
            each.run().inContext(() -> {
                each.run().settleAll(each.runner());
                each.run().dispatch(each.runner());
            });
            each.run().reportFinished(each.runner());
        }
    }

    private void nodeOutOfTime(int node, Duration length) {
        String text = "node \"" + graph.ids[node] + "\" of flow \"" + graph.name + "\" ran out of time after "
                + TimeLimit.text(length) + " (its timeout)";
        TaskTimeoutException cause = new TaskTimeoutException(text, graph.ids[node], length, 1);
        runTransitions(runner ->
                endFromOutside(runner, node, NodeState.TIMED_OUT, cause, NodeEnd.Reason.OUT_OF_TIME, NO_NODE));
    }

    /** Ends the run, later if there are compensations. Returns whether it has ended. */
    private boolean complete(Runner runner) {
        trySetStop(Stop.COMPLETE);
        FlowStatus status = status();
        Compensations completed = compensations;
        if (completed == null || status == FlowStatus.SUCCESS || status == FlowStatus.DEGRADED) {
            end(status, List.of());
            return true;
        }
        AlarmThread alarms = alarmThread();
        Runnable compensation = () -> compensate(completed, status);
        if (alarms.isFiringThread() && !runner.isJoiner && !runner.deferred().isGrouped) {
            runner.deferred().add(compensation);
        } else {
            alarms.execute(compensation); // neither delayed by actions nor delaying the caller
        }
        return false;
    }

    private void compensate(Compensations completed, FlowStatus status) {
        List<Throwable> failures = new ArrayList<>();
        inContext(() -> TaskContext.current()
                .within(null) // the deadline of the run does not apply to compensations
                .run(() -> failures.addAll(completed.undo(this))));
        end(status, failures);
        if (outer != null) {
            DeferredSteps deferred = new DeferredSteps(false);
            completeOuterRuns(deferred);
            deferred.runAll(options.sink);
        }
    }

    private void end(FlowStatus status, List<Throwable> compensationFailures) {
        Alarm set = alarm;
        if (set != null) {
            guard("alarm for the deadline", NO_NODE, set::cancel);
        }
        closeLease();
        finished(status, compensationFailures, Objects.requireNonNull(stopped()).cause());
        exitRun(); // the run itself
    }

    private void closeLease() {
        Scheduler.Lease taken = lease;
        if (taken != null) {
            guard("lease of the scheduler", NO_NODE, taken::close);
        }
    }

    /** Returns the status that the run has if no other node fails. */
    final FlowStatus status() {
        Stop why = stopped();
        if (why != null && why != Stop.COMPLETE) {
            return why.status();
        }
        FlowStatus status = FlowStatus.SUCCESS;
        for (int node = 0; node < graph.size; node++) {
            if (states.hasFailed(node)) {
                if (isSink(node)) {
                    return FlowStatus.FAILED;
                }
                status = FlowStatus.DEGRADED;
            }
        }
        return status;
    }

    private boolean isSink(int node) {
        return selected == null ? graph.sinks[node] : options.only.contains(graph.ids[node]);
    }

    // For actions.

    @Override
    final long now() {
        try {
            return time.nanoTime() - origin;
        } catch (Throwable failure) {
            options.sink.report("time source of flow \"" + graph.name + "\"", failure);
            return -1; // unknown; the node has ended nevertheless
        }
    }

    @Override
    final NodeContext<?> contextOf(int node) {
        return new RunNodeContext(this, node);
    }

    final Duration remainingOf(int node) {
        Deadline own = nodeTimeouts == null ? null : nodeTimeouts.deadline(node);
        Duration left = deadline == null ? Duration.ofNanos(Long.MAX_VALUE) : deadline.remaining();
        return own == null || own.remaining().compareTo(left) > 0 ? left : own.remaining();
    }

    /** Returns the argument that a node receives for one of its dependencies. */
    @Nullable
    Object argument(int node, int position) {
        if (graph.is(Graph.TAKES_MUSTS, node)) {
            return states.result(graph.up[graph.upStart[node] + position]);
        }
        int dependency = graph.dependencyStart[node] + position;
        int edge = graph.dependencyEdge[dependency];
        return switch (graph.dependencyKind[dependency]) {
            case MUST -> states.result(graph.up[edge]);
            case ORDER -> null;
            case OPTIONAL -> Optional.ofNullable(states.value(graph.up[edge]));
            case AFTER -> states.outcome(graph.up[edge]);
            case ANY -> states.value(states.winner(graph.dependencyClause[dependency]));
            case AT_LEAST, ALL -> valuesOf(edge, graph.dependencyEdge[dependency + 1]);
        };
    }

    private List<@Nullable Object> valuesOf(int from, int to) {
        List<@Nullable Object> values = new ArrayList<>(to - from);
        for (int edge = from; edge < to; edge++) {
            if (states.succeeded(graph.up[edge])) {
                values.add(states.value(graph.up[edge]));
            }
        }
        return values;
    }

    final @Nullable Object parameter() {
        return parameter;
    }

    @Override
    public final @Nullable Deadline deadline() {
        return deadline;
    }

    @Override
    protected final @Nullable EnclosingScope enclosing() {
        return enclosing;
    }

    @Override
    public final String label() {
        return "flow \"" + graph.name + "\"";
    }

    // For the joining thread.

    final void enterJoiner(Runner joiner) {
        joiner.thread = Thread.currentThread();
        joiner.now = -1;
        enterRun();
    }

    final void exitJoiner() {
        exitRun();
    }

    /** Runs the ready nodes in the joining thread. Returns false if there were none. */
    final boolean runInJoiner(Runner joiner) {
        if (joiner.kept < 0 && joiner.finished == 0 && readyFor(RUN_SCHEDULER).isEmpty()) {
            return false;
        }
        joiner.now = -1;
        inContext(() -> drain(joiner));
        reportFinished(joiner);
        runDeferred(joiner);
        return true;
    }
}
