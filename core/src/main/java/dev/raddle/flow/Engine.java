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

/** Who runs the nodes of a run: threads that come when they are called, and the thread that joins, if it shall. */
abstract class Engine extends Handover {

    /*
     * Overview.
     *
     * A runner is a thread that runs one node after the other: performs it, settles what follows from its end (Decisions), hands
     * over what became ready (Handover), and takes the next.
     *
     * `remaining` counts nodes of which somebody is still to be told, and the begin of the run. A runner tells it in portions. What
     * it has not told, when it is held up inside a node, goes to who ends that node from outside. Who brings it to zero completes
     * the run: undoes what is to be undone, and finds the status.
     *
     * `inside` counts threads that are in here, nested runs of which that is not zero, and one for this run until it has ended.
     * close() waits for zero: an action that goes on after its node was ended is inside. Who brings it to zero for the first time
     * counts a nested run out of the one around it. A thread that comes later finds nothing to run, so it need not be counted there.
     *
     * Runs may be nested as deep as there is memory, and need no stack for it. A runner that opens a nested run leaves its begin for
     * later (Later): until the thread is back where it entered the engine, at the bottom of its stack. So are nodes that a
     * scheduler wants run in the calling thread. A runner further up the stack returns as soon as there is such a step, and leaves
     * its own next node for later, too. A loop reports the end of a run to the run around it, and nested runs whose nodes are ended
     * are stopped from a list.
     */

    private static final VarHandle REMAINING;
    private static final VarHandle INSIDE;
    private static final VarHandle LEFT;
    private static final VarHandle NEXT_ROOT;
    private static final VarHandle SPARE;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            REMAINING = lookup.findVarHandle(Engine.class, "remaining", int.class);
            INSIDE = lookup.findVarHandle(Engine.class, "inside", int.class);
            NEXT_ROOT = lookup.findVarHandle(Engine.class, "nextRoot", int.class);
            LEFT = lookup.findVarHandle(Engine.class, "hasLeft", boolean.class);
            SPARE = lookup.findVarHandle(Engine.class, "spare", Runner.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    final TimeSource time;
    private final @Nullable Object parameter;
    private final @Nullable Engine outer; // of a nested run
    private final int outerNode; // whose place it takes there
    private final long origin;
    private final @Nullable EnclosingScope enclosing;
    private final @Nullable TimeLimit limit;
    private final @Nullable Deadline deadline;
    private final CapturedContext perThread;
    private final @Nullable CapturedContext perNode;
    private final boolean plain; // whether there is nobody to tell of each node

    private @Nullable Alarm alarm; // written by the starter before anything runs
    private Scheduler.@Nullable Lease lease; // likewise
    private @Nullable BitSet wanted; // of a run of some nodes only; likewise

    @SuppressWarnings("UnusedVariable") // by REMAINING
    private volatile int remaining;

    @SuppressWarnings("UnusedVariable") // by NEXT_ROOT
    private volatile int nextRoot; // that is to be triggered, if there is a limit of those

    private volatile int inside = 1; // for the run itself, until it has ended

    @SuppressWarnings("UnusedVariable") // by LEFT
    private volatile boolean hasLeft; // whether a nested run is not inside the one around it any more

    @SuppressWarnings("UnusedVariable") // by SPARE
    private volatile @Nullable Runner spare; // one that nobody uses

    @SuppressWarnings("this-escape") // nobody who is given this asks anything before the run begins
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
        perNode = forNodes == null ? null : forNodes.captureWithoutTaskContext(); // threads have that
        if (graph.hasCallbacks || options.listener != null || isRecorded) {
            audience = new Audience(this);
        }
        if (graph.hasTimeouts) {
            nodeTimes = new NodeTimes(this, this::nodeOutOfTime);
        }
        plain = perNode == null
                && options.listener == null
                && options.journal == null
                && !isRecorded
                && options.rootsAtOnce == 0;
        nextRoot = options.rootsAtOnce;
        remaining = graph.size + 1;
    }

    /** Tells whether the run is ended by its deadline, whatever it waits for. */
    final boolean endsByItself() {
        return deadline != null;
    }

    /** Notes that the thread that joins this run waits for a node. Returns false if no thread does. */
    abstract boolean noteOwnWait(Handoff handoff);

    /** Returns the node of this run that a node is, or that has the nested run in which it is. */
    final int nodeOf(Handoff handoff) {
        int node = handoff.node;
        for (Engine each = handoff.run; each != this && each.outer != null; each = each.outer) {
            node = each.outerNode;
        }
        return node;
    }

    @Override
    final void noteWait(Handoff handoff) {
        if (endsByItself()) {
            return;
        }
        for (Engine each = this; each != null && !each.noteOwnWait(handoff); ) {
            each = each.outer;
        }
    }

    /** Tells whether the thread that joins a run around this one runs the nodes. */
    abstract boolean isGuest();

    /** Wakes the thread that closes, because nobody is inside any more. */
    abstract void wakeCloser();

    /** Takes the runner that the thread at home will go on with. */
    abstract void setHome(Runner runner);

    /** Tells whether all outputs have ended. */
    abstract boolean isValueKnown();

    /** Returns what became of the run, which has ended. */
    abstract FlowResult<?> result();

    /** Ends the run, of which all nodes have ended. */
    abstract void finished(FlowStatus status, List<Throwable> compensationFailures, @Nullable Throwable stopCause);

    final boolean isAnybodyInside() {
        return inside > 0;
    }

    @Override
    final Call newCall(byte place) {
        return new Call(this, place);
    }

    @Override
    final Handoff newHandoff(int node) {
        return new Handoff(this, node);
    }

    @Override
    final void oneMoreToTell() {
        REMAINING.getAndAdd(this, 1);
    }

    @Override
    final void decideElsewhere(Consumer<Runner> action) {
        alarmThread().execute(() -> asDecider(action));
    }

    // Beginning.

    /**
     * Begins the run.
     *
     * @param later where the thread leaves what would grow its stack; null if it comes from outside
     */
    final void begin(@Nullable Later later) {
        ensureGroups();
        if (!options.only.isEmpty()) {
            wanted = wanted(options.only);
        }
        FlowJournal.@Nullable Recorded @Nullable [] recorded = recorded();
        lease = options.scheduler.lease();
        try {
            watchTime();
        } catch (Throwable noTime) {
            closeLease();
            throw noTime;
        }
        Runner starter = new Runner();
        starter.later = later;
        starter.finished = 1;
        if (isAtHome()) {
            starter.place = HERE;
            starter.isHome = true;
            setHome(starter);
        } else {
            starter.place = Runner.NOWHERE;
        }
        if (recorded != null || wanted != null || audience != null || graph.hasGroups) {
            inContext(() -> {
                restore(starter, recorded);
                leaveOut(starter);
                settleAll(starter);
                hasBegun = true;
                triggerRoots(starter);
                handOver(starter);
            });
        } else {
            hasBegun = true;
            triggerRoots(starter); // calls nobody who may ask for the context
            handOver(starter);
        }
        tell(starter);
        runLater(starter);
    }

    private void watchTime() {
        if (limit != null && outer == null) { // a nested run is ended by its outer one
            if (limit.deadline().hasPassed()) {
                outOfTime();
            } else {
                alarm = limit.deadline().alarm(() -> alarmThread().execute(this::outOfTime));
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

    private BitSet wanted(List<String> targets) {
        int[] nodes = targets.stream().mapToInt(graph::indexOf).toArray();
        BitSet found = graph.ancestorsOf(nodes);
        for (int node : nodes) {
            found.set(node);
            board.pin(node);
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

    /** Ends the nodes that an earlier run has finished: all of them first, so that none of them lets another be skipped. */
    private void restore(Runner by, FlowJournal.@Nullable Recorded @Nullable [] recorded) {
        if (recorded == null) {
            return;
        }
        for (int node = 0; node < graph.size; node++) {
            FlowJournal.Recorded record = recorded[node];
            if (record != null) {
                Settled restored = new Settled(
                        NodeState.SUCCESS, Via.JOURNAL, record.value(), null, Settled.Reason.RESTORED, -1, now());
                if (!board.step(node, null, restored)) {
                    recorded[node] = null; // the deadline had passed
                }
            }
        }
        for (int node = 0; node < graph.size; node++) {
            if (recorded[node] != null) {
                board.ended(node, now());
                by.addEnded(node);
                letGo(by, node);
            }
        }
        if (compensations != null) {
            for (int node : graph.upstreamsFirst()) { // when they were completed is not known, but this is
                if (recorded[node] != null) {
                    noteCompleted(node);
                }
            }
        }
    }

    /** Skips the nodes that are not wanted: all of them first, so that each is skipped for this reason. */
    private void leaveOut(Runner by) {
        BitSet kept = wanted;
        if (kept == null) {
            return;
        }
        for (int node = kept.nextClearBit(0); node < graph.size; node = kept.nextClearBit(node + 1)) {
            end(by, node, null, NodeState.SKIPPED, null, Settled.Reason.NOT_WANTED, NOBODY, false);
        }
    }

    private void triggerRoots(Runner by) {
        int count = options.rootsAtOnce == 0 ? graph.roots.length : Math.min(options.rootsAtOnce, graph.roots.length);
        for (int each = 0; each < count; each++) {
            trigger(by, graph.roots[each]);
        }
    }

    @Override
    final void triggerNextRoot(Runner by) {
        int next = (int) NEXT_ROOT.getAndAdd(this, 1);
        if (next < graph.roots.length) {
            trigger(by, graph.roots[next]);
        }
    }

    // Running.

    /** Runs a node whose group has given a permit, and nothing else: the permit is for this node. */
    final void runGrouped(Handoff handoff) {
        work(GROUPED, handoff.node, handoff, 0, null);
    }

    /** Runs a node in the thread that places it, because the group wants that. What follows is left to who has placed it. */
    final void runInPlace(Handoff handoff, Runner placer) {
        Thread known = placer.thread;
        come();
        if (placer.grouped.count > 0) {
            placeElsewhere(placer.grouped.takeAll()); // they need not wait for this one
        }
        try {
            placer.thread = Thread.currentThread();
            placer.now = -1;
            inContext(() -> perform(placer, handoff.node, handoff));
        } finally {
            placer.thread = known;
            goAway();
        }
    }

    /** Runs ready nodes, and what follows in the same thread, until there are none. */
    final void runReady(byte place) {
        ReadyStack nodes = readyFor(place);
        nodes.hasCome();
        int node = nodes.pop();
        if (node >= 0) {
            work(place, node, unbegun(node), 0, null);
        }
    }

    /**
     * Has the calling thread run nodes.
     *
     * @param first which first
     * @param later where the thread leaves what would grow its stack; null if it has come from outside
     */
    private void work(byte place, int first, @Nullable Object from, int postponed, @Nullable Later later) {
        come();
        try {
            Runner idle = (Runner) SPARE.getAndSet(this, (Runner) null);
            Runner runner = idle == null ? new Runner() : idle;
            runner.thread = Thread.currentThread();
            runner.place = place;
            runner.postponed = postponed;
            runner.now = -1;
            runner.isHome = place != GROUPED && isGuest();
            runner.later = later;
            runner.isBottom = false;
            inContext(() -> go(runner, first, from));
            tell(runner);
            while (runner.isBottom && runner.hasLater()) {
                runLater(runner);
                runner.now = -1;
                inContext(() -> drain(runner));
                tell(runner);
            }
            runner.later = null;
            runner.thread = null;
            spare = runner;
        } finally {
            goAway();
        }
    }

    private void go(Runner runner, int first, @Nullable Object from) {
        if (runner.place != GROUPED && !isStopping()) {
            callAnother(runner);
        }
        perform(runner, first, from);
        settleAll(runner);
        handOver(runner);
        if (!hasLater(runner)) {
            drain(runner);
        }
    }

    private void drain(Runner runner) {
        while (!(runner.isHome && isPaused(runner))) {
            int node = takeKept(runner);
            if (node < 0) {
                node = popFor(runner);
                if (node < 0) {
                    return;
                }
            }
            if (!runner.isHome) {
                Thread.interrupted(); // whatever a callback has left
            }
            perform(runner, node, unbegun(node));
            settleAll(runner);
            handOver(runner);
            if (hasLater(runner)) {
                return;
            }
        }
        if (!isAtHome()) {
            handBack(runner);
        }
    }

    private boolean isPaused(Runner home) {
        return Thread.currentThread().isInterrupted() || (home.isForValue && isValueKnown());
    }

    /** Tells whether something was left for later, which comes first. What this runner was to run next comes after that. */
    private boolean hasLater(Runner runner) {
        if (!runner.hasLater()) {
            return false;
        }
        if (!runner.isBottom) {
            int kept = takeKept(runner);
            int node = kept < 0 ? popFor(runner) : kept;
            byte place = runner.place;
            int postponed = runner.postponed;
            Later later = runner.later();
            if (node >= 0) {
                later.add(() -> work(place, node, unbegun(node), postponed, later));
            }
        }
        return true;
    }

    /** Does what was left for later, if this is the bottom of the stack. */
    private void runLater(Runner runner) {
        if (!runner.isBottom || !runner.hasLater()) {
            return;
        }
        boolean isCallers = runner.place == Runner.NOWHERE;
        boolean interrupted = isCallers && Thread.interrupted(); // it is for the caller, and for nothing that runs here
        try {
            runner.later().runAll(options.sink);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void come() {
        INSIDE.getAndAdd(this, 1);
    }

    private void goAway() {
        Engine left = this;
        while (left != null && (int) INSIDE.getAndAdd(left, -1) == 1) {
            left.wakeCloser();
            left = LEFT.compareAndSet(left, false, true) ? left.outer : null;
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

    private void perform(Runner runner, int node, @Nullable Object from) {
        if (isStopping()) {
            return; // who stops the run ends this node, too, if it has not yet
        }
        boolean entersAtOnce = plain && graph.is(Graph.PLAIN, node);
        runner.began = entersAtOnce ? moment(runner) : -1;
        if (!board.step(node, from, runner)) {
            return; // somebody has decided it
        }
        if (entersAtOnce) {
            performPlain(runner, node);
            return;
        }
        runner.now = -1; // conditions and contexts take time
        Object value;
        try {
            NodeOptions own = graph.optionsOf(node);
            value = enter(runner, node, own);
            if (value instanceof Mark) {
                return; // it has ended, or goes on elsewhere
            }
            forgetInterrupt(runner, node);
        } catch (Throwable failure) {
            threw(runner, node, failure);
            return;
        }
        succeeded(runner, node, runner, value == null ? Board.NULL : value);
    }

    /** Returns now, or a moment shortly before. */
    private long moment(Runner runner) {
        return !board.isTimed() ? -1 : runner.now < 0 ? now() : runner.now;
    }

    /** Runs a node without options in a run without anybody to tell. */
    private void performPlain(Runner runner, int node) {
        Object value;
        try {
            value = graph.bodies[node].call(this, node);
            forgetInterrupt(runner, node);
        } catch (Throwable failure) {
            threw(runner, node, failure);
            return;
        }
        if (left(runner, node, runner, value == null ? Board.NULL : value)) {
            noteEnd(runner, node, runner.began);
            follow(runner, node, true);
            runner.finished++;
        }
    }

    /** Has nobody see what an action leaves on its thread: no callback, no other node, and no other task of the thread. */
    private void forgetInterrupt(Runner runner, int node) {
        if (!runner.isHome && board.get(node) == runner) {
            Thread.interrupted(); // if one is on its way for this node, who leaves the node sees to it
        }
    }

    private void threw(Runner runner, int node, Throwable failure) {
        forgetInterrupt(runner, node);
        if (runner.isHome && failure instanceof InterruptedException && board.get(node) == runner) {
            Thread.currentThread().interrupt(); // it was for the thread that joins
        }
        failed(runner, node, runner, failure);
    }

    @Override
    final <T> T carry(Callable<? extends T> foreign) throws Exception {
        return perNode == null ? foreign.call() : perNode.call(foreign);
    }

    /** Runs a node with options. Returns its value, or a mark or an end if there is nothing more to do. */
    private Object enter(Runner runner, int node, NodeOptions own) throws Exception {
        if (own.condition() != null && !isMet(runner, node, own.condition())) {
            return Mark.Plain.ENDING;
        }
        if (own.begin() != null || options.listener != null || isRecorded) {
            if (!begun(runner, node, own.begin())) {
                return Mark.Plain.ENDING;
            }
        } else if (board.get(node) != runner) {
            lost(runner, node); // while its condition was asked or its context installed
            return Mark.Plain.ENDING;
        } else {
            runner.began = moment(runner);
        }
        if (graph.bodies[node] instanceof Body.Nested nested) {
            return carry(() -> openNested(runner, node, nested));
        }
        return attempt(runner, node, own);
    }

    /** Asks the condition; ends the node if it must not run. */
    private boolean isMet(Runner runner, int node, Predicate<? super NodeContext<?>> condition) {
        NodeState otherwise = NodeState.SKIPPED;
        Throwable cause = null;
        try {
            if (carry(() -> condition.test(contextOf(node)))) {
                return true;
            }
        } catch (Throwable failure) {
            otherwise = NodeState.FAILED;
            cause = failure;
        }
        end(runner, node, runner, otherwise, cause, Settled.Reason.CONDITION, NOBODY, true);
        return false;
    }

    /** Has the listener hear, and calls the begin callback. Returns false if the node was decided before. */
    private boolean begun(Runner runner, int node, @Nullable Consumer<? super NodeContext<?>> callback) {
        Mark.Beginning beginning = new Mark.Beginning(runner, new Signal());
        if (!board.step(node, runner, beginning)) {
            lost(runner, node);
            return false;
        }
        runner.began = moment(runner);
        Objects.requireNonNull(audience).started(node, callback);
        board.set(node, runner);
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
                () -> board.get(node) != runner,
                time,
                graph.ids[node],
                limitOf(node, own));
        runner.attempts = attempts;
        try {
            return attempts.call();
        } catch (TaskTimeoutException late) {
            if (!attempts.ranOutOfTime()) {
                throw late; // the action has thrown it
            }
            forgetInterrupt(runner, node);
            end(runner, node, runner, NodeState.TIMED_OUT, late, Settled.Reason.OUT_OF_TIME, NOBODY, true);
            return Mark.Plain.ENDING;
        } finally {
            runner.attempts = null;
        }
    }

    /** Returns the nearer of the moments at which a node's time and the run's time are over, or null if there is neither. */
    private @Nullable TimeLimit limitOf(int node, NodeOptions own) {
        Duration length = own.timeout();
        Deadline until = nodeTimes == null ? null : nodeTimes.deadline(node);
        if (until == null || length == null) {
            return limit;
        }
        boolean endsWithRun = limit != null && limit.deadline().remaining().compareTo(until.remaining()) < 0;
        return endsWithRun ? limit : new TimeLimit(until, length, null);
    }

    /** Calls an action once, in the starter's context and inside what encloses it: no attempt sees what another has left. */
    private Object callAction(int node) throws Exception {
        Body body = graph.bodies[node];
        EnclosingScope inner = nodeTimes == null ? null : nodeTimes.enclosure(node);
        return carry(() -> inner == null
                ? body.call(this, node)
                : TaskContext.current().within(inner).call(() -> body.call(this, node)));
    }

    private Object openNested(Runner runner, int node, Body.Nested body) throws Exception {
        Engine inner = body.open(this, node);
        Mark.Nested mark = new Mark.Nested(inner, runner.began);
        oneMoreToTell(); // until the inner run has ended: none of its callbacks comes after this one's end
        come(); // likewise
        if (board.step(node, runner, mark)) {
            runner.now = -1;
            Later later = runner.later();
            later.add(() -> beginNested(node, mark, later));
        } else {
            lost(runner, node);
            runner.finished++; // the inner run never begins
            goAway();
        }
        return mark;
    }

    private void beginNested(int node, Mark.Nested mark, Later later) {
        try {
            mark.run().begin(later);
        } catch (Throwable failure) {
            mark.run().goAway();
            asDecider(later, by -> {
                by.finished++;
                failed(by, node, mark, failure);
            });
        }
    }

    /** Ends a node as the run in its place has ended. */
    private void nestedEnded(Runner by, int node, FlowResult<?> inner) {
        by.finished++;
        if (!(board.get(node) instanceof Mark.Nested mark)) {
            return; // it was decided from outside
        }
        try {
            Throwable failure = inner.failure();
            if (failure == null) {
                Object value = inner.value();
                succeeded(by, node, mark, value == null ? Board.NULL : value);
            } else {
                failed(by, node, mark, failure);
            }
        } catch (FlowFailedException noValue) {
            Throwable cause = noValue.getCause();
            failed(by, node, mark, cause == null ? noValue : cause);
        }
    }

    // Telling.

    @Override
    final void asDecider(Consumer<Runner> action) {
        asDecider(null, action);
    }

    private void asDecider(@Nullable Later later, Consumer<Runner> action) {
        Runner decider = newDecider(later);
        inContext(() -> {
            action.accept(decider);
            settleAll(decider);
            handOver(decider);
        });
        tell(decider);
        runLater(decider);
    }

    private static Runner newDecider(@Nullable Later later) {
        Runner decider = new Runner();
        decider.place = Runner.NOWHERE;
        decider.later = later;
        return decider;
    }

    /** Tells the run how many nodes this runner has finished. If those were the last, the runs around this one hear of its end. */
    final void tell(Runner runner) {
        if (isOver(runner) && outer != null) {
            tellAround(runner.later());
        }
        postpone(runner);
    }

    /** Tells the run around this one, which has ended, and if that has ended, too, the one around that, and so on. */
    private void tellAround(Later later) {
        Engine ended = this;
        for (Engine around = outer; around != null && around.isOverWith(ended, later); around = ended.outer) {
            ended = around;
        }
    }

    /** Settles the node of a nested run that has ended. Returns true if this run has ended by that. */
    private boolean isOverWith(Engine nested, Later later) {
        Runner decider = newDecider(later);
        inContext(() -> {
            nestedEnded(decider, nested.outerNode, nested.result());
            settleAll(decider);
            handOver(decider);
        });
        boolean isOver = isOver(decider);
        postpone(decider);
        return isOver;
    }

    /** Tells the run how many nodes this runner has finished, and completes it if those were the last. True if it has ended. */
    private boolean isOver(Runner runner) {
        int finished = runner.finished;
        runner.finished = 0;
        return finished > 0 && (int) REMAINING.getAndAdd(this, -finished) == finished && complete();
    }

    /** Leaves for later what schedulers want to have run in the thread that calls them. */
    private void postpone(Runner runner) {
        int places = runner.postponed;
        if (places == 0 || (runner.place != Runner.NOWHERE && runner.place != GROUPED)) {
            return;
        }
        runner.postponed = 0;
        Later later = runner.later();
        if (later.isBorrowed || isOnAlarmThread()) {
            new OffloadExecutor(options.sink)
                    .execute(() -> runPostponed(places, null)); // the permit, and alarms, are for others
        } else {
            later.add(() -> runPostponed(places, later));
        }
    }

    private void runPostponed(int places, @Nullable Later later) {
        for (byte place = HERE; place <= COMPUTING; place++) {
            int node = (places & 1 << place) == 0 ? NOBODY : readyFor(place).pop();
            if (node >= 0) {
                work(place, node, unbegun(node), places, later);
            }
        }
    }

    // Ending.

    /** Cancels what has not ended. */
    final void stop(String reason) {
        stop(cancelled(reason));
    }

    private Stop cancelled(String reason) {
        String text = "flow \"" + graph.name + "\" was cancelled: " + reason;
        return new Stop(FlowStatus.CANCELLED, new CancelledException(text), NOBODY);
    }

    private void outOfTime() {
        Duration length = limit == null ? Duration.ZERO : limit.budget();
        String text = "flow \"" + graph.name + "\" ran out of time after " + TimeLimit.text(length);
        stop(new Stop(FlowStatus.TIMED_OUT, new TaskTimeoutException(text, graph.name, length, 0), NOBODY));
    }

    private void stop(Stop why) {
        if (isFirstToStop(why)) {
            asDecider(by -> endAll(by, why));
        }
    }

    /** A run that is being stopped, and what has decided its nodes. */
    private record Stopping(Engine run, Runner decider) {}

    /** Stops runs in the places of nodes, and those in the places of theirs. All are ended first, and then the innermost told. */
    @Override
    final void stopNested(Runner by) {
        if (by.isCollecting) {
            return;
        }
        List<Engine> found = by.takeStopped();
        if (found.isEmpty()) {
            return;
        }
        List<Stopping> stopping = new ArrayList<>();
        for (int each = 0; each < found.size(); each++) {
            Engine run = found.get(each);
            Stop why = run.cancelled(
                    "its node in flow \"" + Objects.requireNonNull(run.outer).graph.name + "\" was ended");
            if (run.isFirstToStop(why)) {
                Runner decider = newDecider(by.later());
                decider.isCollecting = true;
                run.inContext(() -> run.endAll(decider, why));
                decider.isCollecting = false;
                found.addAll(decider.takeStopped());
                stopping.add(new Stopping(run, decider));
            }
        }
        for (Stopping each : stopping.reversed()) {
            each.run().inContext(() -> {
                each.run().settleAll(each.decider());
                each.run().handOver(each.decider());
            });
            each.run().tell(each.decider());
        }
    }

    private void nodeOutOfTime(int node, Duration length) {
        String text = "node \"" + graph.ids[node] + "\" of flow \"" + graph.name + "\" ran out of time after "
                + TimeLimit.text(length) + " (its timeout)";
        TaskTimeoutException cause = new TaskTimeoutException(text, graph.ids[node], length, 1);
        asDecider(by -> endFromOutside(by, node, NodeState.TIMED_OUT, cause, Settled.Reason.OUT_OF_TIME, NOBODY));
    }

    /** Ends the run, at once unless there is something to undo. Returns true if it has ended. */
    private boolean complete() {
        isFirstToStop(Stop.COMPLETE);
        FlowStatus status = status();
        if (compensations == null || status == FlowStatus.SUCCESS || status == FlowStatus.DEGRADED) {
            end(status, List.of());
            return true;
        }
        alarmThread()
                .execute(
                        () -> { // no action holds that up, and nobody's call is held up by it
                            List<Throwable> failures = new ArrayList<>();
                            inContext(() -> TaskContext.current()
                                    .within(null) // the run's time may be over, but not that for undoing it
                                    .run(() -> failures.addAll(compensations.undo(this))));
                            end(status, failures);
                            if (outer != null) {
                                Later later = new Later(false);
                                tellAround(later);
                                later.runAll(options.sink);
                            }
                        });
        return false;
    }

    private void end(FlowStatus status, List<Throwable> compensationFailures) {
        Alarm set = alarm;
        if (set != null) {
            guard("alarm for the deadline", NOBODY, set::cancel);
        }
        closeLease();
        finished(status, compensationFailures, Objects.requireNonNull(stopped()).cause());
        goAway(); // the run itself
    }

    private void closeLease() {
        Scheduler.Lease taken = lease;
        if (taken != null) {
            guard("lease of the scheduler", NOBODY, taken::close);
        }
    }

    /** Returns how the run ends if no other node fails. */
    final FlowStatus status() {
        Stop why = stopped();
        if (why != null && why != Stop.COMPLETE) {
            return why.status();
        }
        FlowStatus status = FlowStatus.SUCCESS;
        for (int node = 0; node < graph.size; node++) {
            if (board.hasFailed(node)) {
                if (isSink(node)) {
                    return FlowStatus.FAILED;
                }
                status = FlowStatus.DEGRADED;
            }
        }
        return status;
    }

    private boolean isSink(int node) {
        return wanted == null ? graph.sinks[node] : options.only.contains(graph.ids[node]);
    }

    // For actions.

    @Override
    final long now() {
        try {
            return time.nanoTime() - origin;
        } catch (Throwable failure) {
            options.sink.report("time source of flow \"" + graph.name + "\"", failure);
            return -1; // nobody knows; a node has ended all the same
        }
    }

    @Override
    final NodeContext<?> contextOf(int node) {
        return new Reader(this, node);
    }

    final Duration remainingOf(int node) {
        Deadline own = nodeTimes == null ? null : nodeTimes.deadline(node);
        Duration left = deadline == null ? Duration.ofNanos(Long.MAX_VALUE) : deadline.remaining();
        return own == null || own.remaining().compareTo(left) > 0 ? left : own.remaining();
    }

    /** Returns what a node gets of one of its dependencies. */
    @Nullable
    Object argument(int node, int position) {
        if (graph.is(Graph.TAKES_MUSTS, node)) {
            return board.result(graph.up[graph.upStart[node] + position]);
        }
        int dependency = graph.dependencyStart[node] + position;
        int edge = graph.dependencyEdge[dependency];
        return switch (graph.dependencyKind[dependency]) {
            case MUST -> board.result(graph.up[edge]);
            case ORDER -> null;
            case OPTIONAL -> Optional.ofNullable(board.value(graph.up[edge]));
            case AFTER -> board.outcome(graph.up[edge]);
            case ANY -> board.value(board.winner(graph.dependencyClause[dependency]));
            case AT_LEAST, ALL -> valuesOf(edge, graph.dependencyEdge[dependency + 1]);
        };
    }

    private List<@Nullable Object> valuesOf(int from, int to) {
        List<@Nullable Object> values = new ArrayList<>(to - from);
        for (int edge = from; edge < to; edge++) {
            if (board.succeeded(graph.up[edge])) {
                values.add(board.value(graph.up[edge]));
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
    protected final @Nullable EnclosingScope around() {
        return enclosing;
    }

    @Override
    public final String label() {
        return "flow \"" + graph.name + "\"";
    }

    // For the thread at home.

    final void arrive(Runner home) {
        home.thread = Thread.currentThread();
        home.now = -1;
        come();
    }

    final void depart() {
        goAway();
    }

    /** Runs what is ready in the thread at home. Returns false if there was nothing. */
    final boolean runAtHome(Runner home) {
        if (home.kept < 0 && home.finished == 0 && readyFor(HERE).isEmpty()) {
            return false;
        }
        home.now = -1;
        inContext(() -> drain(home));
        tell(home);
        runLater(home);
        return true;
    }
}
