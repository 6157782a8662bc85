package dev.raddle.flow;

import dev.raddle.task.Attempts;
import dev.raddle.task.CancelledException;
import dev.raddle.task.CapturedContext;
import dev.raddle.task.Elsewhere;
import dev.raddle.task.Enclosure;
import dev.raddle.task.Outcome;
import dev.raddle.task.Propagation;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskContext;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import dev.raddle.task.TaskTimeoutException;
import dev.raddle.task.TimeLimit;
import dev.raddle.time.Alarm;
import dev.raddle.time.Deadline;
import dev.raddle.time.Signal;
import dev.raddle.time.TimeSource;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One run of a flow, from its start to the end of its last node. {@linkplain #join() Join} it, or {@linkplain #get() get} its
 * value; close it in any case.
 *
 * <p>What its nodes open inside, such as scopes, has no more time than the run.
 *
 * @param <R> the type of the value that it returns
 */
public final class FlowRun<R> extends Enclosure implements AutoCloseable {

    /*
     * Overview. How a node stands is in the Board; this is who moves it.
     *
     * A runner is a thread that runs one node after the other. When a node has ended, its runner does this, in this order:
     *
     *   1. one step ends the node, state and value together (Board);
     *   2. its result callback is called;
     *   3. its edges are gone over: counters go down, and other nodes are decided (failed, skipped) or triggered. Those that are
     *      decided go through 2 and 3 themselves, from a list, not by recursion;
     *   4. when nobody is left to tell, triggered nodes are handed to the scheduler, but for one, which the runner runs next.
     *
     * Who decides nodes from outside (a deadline, a cancel) does 1 for all of them, then 2 to 4. So a skip is in force before the
     * node that caused it begins, callbacks come before dependants, and a node is told of once: by who made its step.
     *
     * `remaining` counts nodes of which somebody is still to be told, and the begin of the run. A runner tells it in portions. What
     * it has not told, when it is held up inside a node, goes to who ends that node from outside. Who brings it to zero completes the run:
     * undoes what is to be undone, finds the status and sets `done`.
     *
     * `stop` is set once, by the deadline, a cancel, the first failure under FAIL_FAST, or the completion, which forbids the others.
     * Then all nodes that have not ended are ended. While that goes on others may still move theirs; each node ends once all the
     * same, and nothing begins after all have ended.
     *
     * `inside` counts threads that are in here. close() waits for zero: an action that goes on after its node was ended is inside.
     *
     * A run in its caller's thread has a Home, where nodes arrive that were triggered elsewhere; the caller serves it while it joins.
     */

    private static final VarHandle REMAINING;
    private static final VarHandle INSIDE;
    private static final VarHandle STOP;
    private static final VarHandle SPARE;
    private static final VarHandle COMPLETED;
    private static final VarHandle TOP;
    private static final VarHandle TOP_COMPUTING;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            REMAINING = lookup.findVarHandle(FlowRun.class, "remaining", int.class);
            INSIDE = lookup.findVarHandle(FlowRun.class, "inside", int.class);
            STOP = lookup.findVarHandle(FlowRun.class, "stop", Stop.class);
            SPARE = lookup.findVarHandle(FlowRun.class, "spare", Runner.class);
            TOP = lookup.findVarHandle(FlowRun.class, "top", int.class);
            TOP_COMPUTING = lookup.findVarHandle(FlowRun.class, "topComputing", int.class);
            COMPLETED = lookup.findVarHandle(FlowRun.class, "completed", Completed.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    /** Why the rest of the run did not run. */
    private record Stop(FlowStatus status, @Nullable Throwable cause, int from) {
        static final Stop COMPLETE = new Stop(FlowStatus.SUCCESS, null, NOBODY);
    }

    /** A node that can be undone, in a list, the last to complete first. */
    private record Completed(int node, @Nullable Completed earlier) {}

    /** A node of this run, for the listener. */
    private static final class Identity implements TaskIdentity {
        private final FlowRun<?> run;
        private final int node;
        final AtomicBoolean isSubmitted = new AtomicBoolean(); // whether the listener has heard of it, or does now
        volatile long submitted; // when

        Identity(FlowRun<?> run, int node) {
            this.run = run;
            this.node = node;
        }

        @Override
        public String owner() {
            return run.graph.name;
        }

        @Override
        public String name() {
            return run.graph.ids[node];
        }

        @Override
        public String toString() {
            return "node \"" + name() + "\" of " + run.label();
        }
    }

    /** What a node with a timeout has its tasks know. */
    private static final class NodeTime extends Enclosure {
        private final FlowRun<?> run;
        private final int node;
        private final Deadline deadline;

        NodeTime(FlowRun<?> run, int node, Deadline own) {
            this.run = run;
            this.node = node;
            Deadline around = run.deadline;
            deadline = around != null && around.remaining().compareTo(own.remaining()) < 0 ? around : own;
        }

        @Override
        public Deadline deadline() {
            return deadline;
        }

        @Override
        public String label() {
            return "node \"" + run.graph.ids[node] + "\" of " + run.label();
        }

        @Override
        protected Enclosure around() {
            return run;
        }
    }

    /** Where nodes of a run in its caller's thread arrive. */
    private static final class Home implements Scheduler {
        private final ConcurrentLinkedQueue<Runnable> arrived = new ConcurrentLinkedQueue<>();
        private volatile @Nullable Thread thread; // the one that serves it

        @Override
        public void execute(Runnable task) {
            arrived.add(task);
            LockSupport.unpark(thread);
        }

        boolean isHere() {
            return thread == Thread.currentThread();
        }
    }

    private static final int NOBODY = Settled.NOBODY;
    private static final byte HERE = 0;
    private static final byte COMPUTING = 1;
    private static final byte GROUPED = 2;

    private final Board board;
    private final Graph graph;
    private final FlowPlan.Returns returns;
    private final @Nullable Object parameter;
    private final RunOptions options;
    private final @Nullable FlowRun<?> outer; // of a nested run
    private final int outerNode; // whose place it takes there
    private final TimeSource time;
    private final long origin;
    private final @Nullable Enclosure enclosing;
    private final @Nullable Deadline deadline;
    private final @Nullable TimeLimit limit;
    private final CapturedContext perThread;
    private final @Nullable CapturedContext perNode;
    private final @Nullable Home home;
    private final Identity @Nullable [] identities; // for the listener, if there is one
    private final boolean plain; // whether there is nobody to tell of each node
    private final Signal done = new Signal();
    private final @Nullable Alarm @Nullable [] alarms; // of nodes with a timeout; written by who triggers the node
    private final @Nullable Deadline @Nullable [] deadlines; // of those nodes, likewise

    private @Nullable Alarm alarm; // written by the starter before anything runs
    private Scheduler.@Nullable Lease lease; // written by the starter before anything runs
    private @Nullable BitSet wanted; // of a run of some nodes only; written by the starter
    private @Nullable FlowResult<R> result; // written before `done` is set
    private @Nullable List<Throwable> compensationFailures; // written by who undoes, before `done` is set

    @SuppressWarnings("UnusedVariable") // by REMAINING
    private volatile int remaining;

    private volatile int inside;
    private volatile int top = NOBODY; // of the stack of ready nodes

    @SuppressWarnings("UnusedVariable") // by TOP_COMPUTING
    private volatile int topComputing = NOBODY; // of those that burn CPU

    private @Nullable Call
            call; // for threads for ready nodes, if one can be used again; a race makes two, and either will do
    private volatile @Nullable Stop stop;
    private volatile @Nullable Completed completed;
    private volatile @Nullable Thread closer;

    private @Nullable Runner homeRunner; // of a run in its caller's thread; written by the starter
    private final ConcurrentLinkedQueue<Runnable> late = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean lateServed = new AtomicBoolean(); // whether a thread takes what is late

    @SuppressWarnings("UnusedVariable") // by SPARE
    private volatile @Nullable Runner spare; // one that nobody uses

    FlowRun(
            Graph graph,
            FlowPlan.Returns returns,
            @Nullable Object parameter,
            RunOptions options,
            @Nullable FlowRun<?> outer,
            int outerNode) {
        this.graph = graph;
        this.outer = outer;
        this.outerNode = outerNode;
        this.board = new Board(graph);
        this.returns = returns;
        this.parameter = parameter;
        this.options = options;
        enclosing = outer == null ? Enclosure.innermost() : outer;
        Deadline around = enclosing == null ? null : enclosing.deadline();
        TimeSource set = options.time;
        Deadline given = options.deadline;
        time = set != null ? set : given != null ? given.time() : around != null ? around.time() : TimeSource.system();
        origin = time.nanoTime();
        Duration length = given != null ? given.remaining() : options.timeout;
        limit = TimeLimit.of(time, length, enclosing);
        deadline = limit == null ? null : limit.deadline();
        TaskContext context = TaskContext.current().within(this);
        perThread = new Propagation(List.of(), options.scopedValues, options.sink).capture(context);
        perNode = options.propagators.isEmpty()
                ? null
                : new Propagation(options.propagators, List.of(), options.sink).capture(TaskContext.current());
        home = options.inCallersThread ? new Home() : null;
        plain = perNode == null && options.listener == null && options.journal == null;
        identities = options.listener == null ? null : identities();
        boolean timed = graph.hasTimeouts;
        alarms = timed ? new Alarm[graph.size] : null;
        deadlines = timed ? new Deadline[graph.size] : null;
        remaining = graph.size + 1;
    }

    private Identity[] identities() {
        Identity[] all = new Identity[graph.size];
        Arrays.setAll(all, node -> new Identity(this, node));
        return all;
    }

    RunOptions optionsForNested(OnFailure onFailure) {
        RunOptions nested = options.copy();
        nested.timeout = null;
        nested.deadline = null;
        nested.only = List.of();
        nested.journal = null;
        nested.onFailure = onFailure;
        nested.time = time;
        if (home != null) {
            nested.scheduler = home;
            nested.inCallersThread = false;
        }
        return nested;
    }

    // Beginning.

    void begin() {
        ensureGroups();
        if (!options.only.isEmpty()) {
            wanted = wanted(options.only);
        }
        FlowJournal.@Nullable Recorded @Nullable [] recorded = recorded();
        lease = options.scheduler.lease();
        Runner starter = new Runner();
        starter.place = home == null ? Runner.NOWHERE : HERE;
        starter.isHome = home != null;
        starter.finished = 1;
        homeRunner = home == null ? null : starter;
        if (limit != null) {
            if (limit.deadline().hasPassed()) {
                outOfTime();
            } else {
                alarm = limit.deadline().alarm(() -> elsewhere(this::outOfTime));
            }
        }
        if (recorded != null || wanted != null) {
            inContext(() -> {
                restore(starter, recorded);
                leaveOut(starter);
                settleAll(starter);
            });
        }
        triggerRoots(starter);
        handOver(starter);
        tell(starter);
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
                noteCompleted(node);
                by.addEnded(node);
                letGo(by, node);
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
        for (int root : graph.roots) {
            trigger(by, root);
        }
    }

    // Running.

    /** Runs a node whose group has given a permit, and nothing else: the permit is for this node. */
    void runGrouped(Handoff handoff) {
        work(GROUPED, handoff.node, handoff);
    }

    /** Runs ready nodes, and what follows in the same thread, until there are none. */
    void runReady(byte place) {
        int node = pop(place);
        if (node >= 0) {
            work(place, node, unbegun(node));
        }
    }

    private void work(byte place, int first, @Nullable Object from) {
        come();
        try {
            Runner idle = (Runner) SPARE.getAndSet(this, (Runner) null);
            Runner runner = idle == null ? new Runner() : idle;
            runner.thread = Thread.currentThread();
            runner.place = place;
            runner.now = -1;
            inContext(() -> go(runner, first, from));
            tell(runner);
            runner.thread = null;
            spare = runner;
        } finally {
            if (home == null || !home.isHere()) {
                Thread.interrupted(); // whatever an action left, the next task of this thread shall not see it
            }
            goAway();
        }
    }

    private void go(Runner runner, int first, @Nullable Object from) {
        perform(runner, first, from);
        settleAll(runner);
        handOver(runner);
        drain(runner);
    }

    private void drain(Runner runner) {
        while (!(runner.isHome && Thread.currentThread().isInterrupted())) {
            int node = runner.takeReady();
            if (node < 0) {
                node = runner.place == GROUPED ? NOBODY : pop(runner.place);
                if (node < 0) {
                    return;
                }
            }
            perform(runner, node, unbegun(node));
            settleAll(runner);
            handOver(runner);
        }
    }

    private @Nullable Object unbegun(int node) {
        return graph.chooses[node] ? Mark.Plain.READY : null;
    }

    // Ready nodes that wait for a thread lie in a stack for each place. Each is pushed once, so a compare-and-set is
    // all it takes.

    private void push(byte place, int node) {
        VarHandle top = place == COMPUTING ? TOP_COMPUTING : TOP;
        int below;
        do {
            below = (int) top.getVolatile(this);
            board.link(node, below);
        } while (!top.compareAndSet(this, below, node));
    }

    private int pop(byte place) {
        VarHandle top = place == COMPUTING ? TOP_COMPUTING : TOP;
        int node;
        do {
            node = (int) top.getVolatile(this);
        } while (node >= 0 && !top.compareAndSet(this, node, board.below(node)));
        return node;
    }

    private void come() {
        for (FlowRun<?> each = this; each != null; each = each.outer) {
            INSIDE.getAndAdd(each, 1);
        }
    }

    private void goAway() {
        for (FlowRun<?> each = this; each != null; each = each.outer) {
            if ((int) INSIDE.getAndAdd(each, -1) == 1) {
                LockSupport.unpark(each.closer);
            }
        }
    }

    private void inContext(Runnable action) {
        try {
            perThread.call(() -> {
                action.run();
                return this;
            });
        } catch (Exception leftOpen) {
            options.sink.report("flow \"" + graph.name + "\", which left a scope open", leftOpen);
        }
    }

    private void perform(Runner runner, int node, @Nullable Object from) {
        if (!board.step(node, from, runner)) {
            return; // somebody has decided it
        }
        board.began(node, runner.now < 0 ? now() : runner.now);
        if (plain && graph.plain[node]) {
            performPlain(runner, node);
            return;
        }
        Object value;
        try {
            NodeOptions own = graph.optionsOf(node);
            value = carry(runner, node, own);
            if (value instanceof Mark) {
                return; // it has ended, or goes on elsewhere
            }
        } catch (Throwable failure) {
            threw(runner, node, failure);
            return;
        }
        succeeded(runner, node, runner, value == null ? Board.NULL : value);
    }

    /** Runs a node without options in a run without anybody to tell. */
    private void performPlain(Runner runner, int node) {
        Object value;
        try {
            value = graph.bodies[node].call(this, node);
        } catch (Throwable failure) {
            threw(runner, node, failure);
            return;
        }
        if (left(runner, node, runner, value == null ? Board.NULL : value)) {
            runner.now = now();
            board.ended(node, runner.now);
            follow(runner, node, true);
            runner.finished++;
        }
    }

    private void threw(Runner runner, int node, Throwable failure) {
        if (runner.isHome && failure instanceof InterruptedException && board.get(node) == runner) {
            Thread.currentThread().interrupt(); // it was for the thread that joins
        }
        failed(runner, node, runner, failure);
    }

    /** Runs a node with options, in its context. Returns its value, or a mark or an end if there is nothing more to do. */
    private Object carry(Runner runner, int node, NodeOptions own) throws Exception {
        CapturedContext context = perNode;
        return context == null ? enter(runner, node, own) : context.call(() -> enter(runner, node, own));
    }

    private Object enter(Runner runner, int node, NodeOptions own) throws Exception {
        if (own.condition() != null && !isMet(runner, node, own.condition())) {
            return Mark.Plain.ENDING;
        }
        if (own.begin() != null) {
            if (!begun(runner, node, own.begin())) {
                return Mark.Plain.ENDING;
            }
        } else if (board.get(node) != runner) {
            lost(runner, node); // while its condition was asked or its context installed
            board.hasNotBegun(node);
            return Mark.Plain.ENDING;
        }
        TaskListener listener = options.listener;
        if (listener != null) {
            Identity told = identity(node);
            guard("listener", node, () -> listener.onStarted(told, Math.max(0, now() - told.submitted)));
        }
        if (graph.bodies[node] instanceof Body.Nested nested) {
            return openNested(runner, node, nested);
        }
        Deadline until = deadlines == null ? null : deadlines[node];
        if (until == null) {
            return attempt(runner, node, own);
        }
        NodeTime inner = new NodeTime(this, node, until);
        return TaskContext.current().within(inner).call(() -> attempt(runner, node, own));
    }

    /** Asks the condition; ends the node if it must not run. */
    private boolean isMet(Runner runner, int node, Predicate<? super NodeContext<?>> condition) {
        NodeState otherwise = NodeState.SKIPPED;
        Throwable cause = null;
        try {
            if (condition.test(contextOf(node))) {
                return true;
            }
        } catch (Throwable failure) {
            otherwise = NodeState.FAILED;
            cause = failure;
        }
        if (end(runner, node, runner, otherwise, cause, Settled.Reason.CONDITION, NOBODY, true)) {
            board.hasNotBegun(node);
        }
        return false;
    }

    /** Calls the begin callback. Returns false if the node was decided before. */
    private boolean begun(Runner runner, int node, Consumer<? super NodeContext<?>> callback) {
        Mark.Beginning beginning = new Mark.Beginning(runner, new Signal());
        if (!board.step(node, runner, beginning)) {
            lost(runner, node);
            board.hasNotBegun(node);
            return false;
        }
        callEach("begin callback", node, callback, contextOf(node));
        board.set(node, runner);
        beginning.over().set();
        return true;
    }

    private Object attempt(Runner runner, int node, NodeOptions own) throws Exception {
        Body body = graph.bodies[node];
        RetryPolicy retry = own.retry();
        if (retry == null || retry.maxAttempts() == 1) {
            return body.call(this, node);
        }
        Duration length = own.timeout();
        Deadline until = deadlines == null ? null : deadlines[node];
        TimeLimit bound = until != null && length != null ? new TimeLimit(until, length, null) : limit;
        Attempts<Object> attempts = new Attempts<>(
                () -> body.call(this, node), retry, () -> board.get(node) != runner, time, graph.ids[node], bound);
        runner.attempts = attempts;
        try {
            return attempts.call();
        } finally {
            runner.attempts = null;
        }
    }

    private Object openNested(Runner runner, int node, Body.Nested body) throws Exception {
        FlowRun<?> inner = body.open(this, node);
        Mark.Nested mark = new Mark.Nested(inner);
        if (board.step(node, runner, mark)) {
            runner.now = -1;
            inner.begin();
        } else {
            lost(runner, node);
        }
        return mark;
    }

    /** Hears that the run in a node's place has ended. */
    void nestedEnded(int node, FlowRun<?> inner) {
        if (!(board.get(node) instanceof Mark.Nested mark) || mark.run() != inner) {
            return; // it was decided from outside
        }
        asDecider(by -> {
            FlowResult<?> ended = Objects.requireNonNull(inner.result);
            Object value;
            try {
                value = ended.value();
            } catch (FlowFailedException failure) {
                Throwable cause = failure.getCause();
                failed(by, node, mark, cause == null ? failure : cause);
                return;
            }
            if (ended.status() == FlowStatus.FAILED || ended.status() == FlowStatus.CANCELLED) {
                failed(by, node, mark, ended.failure());
            } else {
                succeeded(by, node, mark, value == null ? Board.NULL : value);
            }
        });
    }

    // Ending a node.

    private void succeeded(Runner runner, int node, Object from, Object value) {
        FlowJournal journal = options.journal;
        if (journal != null) {
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
        runner.now = now();
        board.ended(node, runner.now);
        if (graph.options[node] != null) {
            noteCompleted(node);
        }
        runner.addEnded(node);
    }

    private void noteCompleted(int node) {
        if (graph.optionsOf(node).compensation() == null) {
            return;
        }
        Completed before;
        do {
            before = completed;
        } while (!COMPLETED.compareAndSet(this, before, new Completed(node, before)));
    }

    private void failed(Runner runner, int node, Object from, Throwable failure) {
        Fn.F1<Throwable, ?> fallback = graph.optionsOf(node).fallback();
        Throwable cause = failure;
        if (fallback != null && board.get(node) == from) {
            try {
                Object value = fallback.apply(failure);
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
    private boolean left(Runner runner, int node, Object from, Object to) {
        while (!board.step(node, from, to)) {
            if (board.get(node) == Mark.Plain.INTERRUPTING) {
                Thread.onSpinWait(); // the next task of this thread shall not be hit by it
            } else if (board.get(node) != from) {
                if (from == runner) {
                    lost(runner, node);
                }
                return false;
            }
        }
        return true;
    }

    /** Hears that the node that the runner is in was ended by somebody else, who has taken over what it had not told. */
    private void lost(Runner runner, int node) {
        while (board.get(node) == Mark.Plain.INTERRUPTING) {
            Thread.onSpinWait();
        }
        Thread.interrupted();
        runner.finished = 0;
        runner.now = -1;
    }

    /**
     * Ends a node that has not succeeded, unless somebody has. The caller still has to settle all.
     *
     * @param from what stands in its slot
     * @param by for the node that this is due to, or -1
     */
    private boolean end(
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
        board.ended(node, now);
        if (from == runner) {
            runner.now = now;
        }
        runner.addEnded(node);
        if (from == null && (stop == null || stop == Stop.COMPLETE)) {
            letGo(runner, node);
        }
    }

    private static Settled withDefault(
            Supplier<?> otherwise,
            NodeState state,
            @Nullable Throwable cause,
            Settled.Reason reason,
            int by,
            long now) {
        try {
            return new Settled(state, Via.DEFAULT, otherwise.get(), cause, reason, by, now);
        } catch (Throwable failure) {
            if (cause != null) {
                withSuppressed(cause, failure);
            }
            return new Settled(state, Via.NONE, null, cause, reason, by, now);
        }
    }

    // What follows from an end.

    /** Tells of all that has ended, and finds what ends or becomes ready by that, until there is nothing more to tell. */
    private void settleAll(Runner runner) {
        for (int node; (node = runner.nextEnded()) >= 0; ) {
            callBack(node);
            follow(runner, node, board.succeeded(node));
            runner.finished++;
        }
        int failed = runner.failed;
        if (failed >= 0) {
            runner.failed = NOBODY;
            stopForFailure(runner, failed);
            settleAll(runner);
        }
    }

    private void callBack(int node) {
        if (alarms != null) {
            Alarm set = alarms[node];
            if (set != null) {
                set.cancel();
            }
        }
        NodeOptions own = graph.options[node];
        if (own != null && own.result() != null && board.via(node) != Via.JOURNAL) {
            Consumer<? super NodeReport<?>> callback = own.result();
            inNodeContext(() -> callEach("result callback", node, callback, board.report(node)));
        }
        TaskListener listener = options.listener;
        if (listener != null) {
            tellSubmitted(listener, node);
            guard("listener", node, () -> listener.onSettled(identity(node), outcomeOf(node), ranNanos(node)));
        }
    }

    /** Has the listener hear of a node, unless it has. */
    private void tellSubmitted(TaskListener listener, int node) {
        Identity told = identity(node);
        if (told.isSubmitted.compareAndSet(false, true)) {
            told.submitted = now();
            guard("listener", node, () -> listener.onSubmitted(told));
        }
    }

    private void inNodeContext(Runnable action) {
        CapturedContext context = perNode;
        if (context == null) {
            action.run();
            return;
        }
        try {
            context.call(() -> {
                action.run();
                return this;
            });
        } catch (Exception failure) {
            options.sink.report("context of flow \"" + graph.name + "\"", failure);
        }
    }

    @SuppressWarnings("unchecked") // two callbacks hear the same
    private <X> void callEach(String what, int node, Consumer<? super X> callback, X heard) {
        if (callback instanceof NodeOptions.Both<?> both) {
            callEach(what, node, (Consumer<? super X>) both.first(), heard);
            callEach(what, node, (Consumer<? super X>) both.second(), heard);
        } else {
            guard(what, node, () -> callback.accept(heard));
        }
    }

    private void guard(String what, int node, Runnable foreign) {
        try {
            foreign.run();
        } catch (Throwable failure) {
            options.sink.report(what + " of node \"" + graph.ids[node] + "\" in flow \"" + graph.name + "\"", failure);
        }
    }

    private void follow(Runner runner, int node, boolean success) {
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

    private void trigger(Runner runner, int node) {
        if (graph.chooses[node]) {
            if (!board.step(node, null, Mark.Plain.READY)) {
                return;
            }
            letGo(runner, node);
        } else if (board.get(node) != null) {
            return;
        }
        NodeOptions own = graph.options[node];
        if (own != null && own.timeout() != null) {
            arm(node, own.timeout());
        }
        TaskListener listener = options.listener;
        if (listener != null) {
            tellSubmitted(listener, node);
        }
        runner.addReady(node);
    }

    private void arm(int node, Duration length) {
        Deadline until = Deadline.after(time, length);
        Objects.requireNonNull(deadlines)[node] = until;
        Objects.requireNonNull(alarms)[node] = until.alarm(() -> elsewhere(() -> nodeOutOfTime(node, length)));
    }

    /** Decides a node one of whose musts has ended without success: as the first of those in the order of declaration. */
    private void failMust(Runner runner, int node) {
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
    private void letGo(Runner runner, int decided) {
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
            if (slot instanceof Handoff || (slot == null && !isTriggered(node))) {
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

    /** Tells of a node with an empty slot whether it is ready: one that does not choose is when all its upstreams have ended. */
    private boolean isTriggered(int node) {
        for (int edge = graph.upStart[node]; edge < graph.upStart[node + 1]; edge++) {
            if (!Board.isEnd(board.get(graph.up[edge]))) {
                return false;
            }
        }
        return !graph.chooses[node];
    }

    private void withdraw(@Nullable Object slot) {
        if (slot instanceof Handoff handoff) {
            guard("withdraw() from the group", handoff.node, handoff::withdraw);
        }
    }

    // Going on.

    /** Hands ready nodes over, but for one that this runner runs itself, or all of them if it is at home. */
    private void handOver(Runner runner) {
        int count = runner.readyCount();
        if (count == 0 || (count == 1 && isFor(runner, runner.ready(0)))) {
            return;
        }
        int own = NOBODY;
        int calls = 0;
        int callsForComputing = 0;
        for (int each = count - 1; each >= 0; each--) { // the first comes to lie on top, or is run here
            int node = runner.ready(each);
            byte place = placeOf(node);
            if (place == GROUPED) {
                placeInGroup(node);
                continue;
            }
            if (place == runner.place) {
                int kept = own;
                own = node;
                node = kept;
            }
            if (node >= 0) {
                push(place, node);
                calls += place == HERE ? 1 : 0;
                callsForComputing += place == COMPUTING ? 1 : 0;
            }
        }
        runner.forgetReady();
        if (own >= 0) {
            runner.addReady(own);
        }
        call(runner, HERE, calls);
        call(runner, COMPUTING, callsForComputing);
    }

    /** Calls for as many threads as nodes were pushed. */
    private void call(Runner runner, byte place, int times) {
        if (times > 0 && home != null) {
            if (!runner.isHome) {
                LockSupport.unpark(home.thread); // it looks for nodes by itself
            }
            return;
        }
        Scheduler scheduler = times == 0 ? options.scheduler : schedulerOf(place);
        Call shared = times > 0 && scheduler.isAsynchronous() ? callFor(place) : null;
        for (int each = 0; each < times; each++) {
            try {
                Call call = shared == null ? new Call(this, place) : shared;
                runner.hasPostponed |= call.place(scheduler);
            } catch (Throwable refusal) {
                neverRunsReady(place, refusal);
            }
        }
    }

    private Call callFor(byte place) {
        Call known = place == HERE ? call : null;
        if (known == null) {
            known = new Call(this, place);
            call = place == HERE ? known : call;
        }
        return known;
    }

    private boolean isFor(Runner runner, int node) {
        return runner.place == placeOf(node) && runner.place != GROUPED;
    }

    private byte placeOf(int node) {
        NodeOptions own = graph.options[node];
        if (own == null) {
            return HERE;
        }
        return own.group() != null ? GROUPED : own.has(NodeOptions.COMPUTE) && home == null ? COMPUTING : HERE;
    }

    private Scheduler schedulerOf(byte place) {
        Scheduler compute = options.compute;
        return place == HERE ? options.scheduler : compute == null ? Scheduler.commonPool() : compute;
    }

    private void placeInGroup(int node) {
        Handoff handoff = new Handoff(this, node);
        try {
            String key = Objects.requireNonNull(graph.optionsOf(node).group()).apply(contextOf(node));
            Scheduler group = Objects.requireNonNull(options.groups).apply(key);
            if (!board.step(node, unbegun(node), handoff)) {
                return;
            }
            handoff.place(group);
            if (Board.isEnd(board.get(node))) {
                handoff.withdraw(); // who ended it may not have seen its place
            }
        } catch (Throwable refusal) {
            neverRuns(node, handoff, refusal);
        }
    }

    /** Hears that a call for a thread was refused: one of the ready nodes will not have one. */
    void neverRunsReady(byte place, Throwable refusal) {
        int node = pop(place);
        if (node >= 0) {
            neverRuns(node, null, refusal);
        }
    }

    /** Hears that a node will not have a thread. */
    void neverRuns(int node, @Nullable Handoff handoff, Throwable refusal) {
        asDecider(by -> {
            for (Object slot = board.get(node);
                    slot == null || slot == Mark.Plain.READY || slot == handoff;
                    slot = board.get(node)) {
                if (end(by, node, slot, NodeState.FAILED, refusal, Settled.Reason.PLACING, NOBODY, false)) {
                    return;
                }
            }
        });
    }

    /** Does something to nodes in a thread that runs none, tells of it, and hands over what follows. */
    private void asDecider(Consumer<Runner> action) {
        Runner decider = new Runner();
        decider.place = Runner.NOWHERE;
        inContext(() -> {
            action.accept(decider);
            settleAll(decider);
        });
        handOver(decider);
        tell(decider);
    }

    /** Tells the run how many nodes this runner has finished, and completes it if those were the last. */
    private void tell(Runner runner) {
        int finished = runner.finished;
        runner.finished = 0;
        if (finished > 0 && (int) REMAINING.getAndAdd(this, -finished) == finished) {
            complete();
        }
        if (runner.hasPostponed) {
            runner.hasPostponed = false;
            if (runner.place == Runner.NOWHERE) {
                runReady(HERE);
                runReady(COMPUTING);
            }
        }
    }

    // Stopping.

    /**
     * Cancels what has not ended. Running actions are interrupted. A run that has ended stays as it is.
     *
     * @param reason why, for people
     */
    public void cancel(String reason) {
        stop(new Stop(
                FlowStatus.CANCELLED,
                new CancelledException("flow \"" + graph.name + "\" was cancelled: " + reason),
                NOBODY));
    }

    private void outOfTime() {
        Duration length = limit == null ? Duration.ZERO : limit.budget();
        String text = "flow \"" + graph.name + "\" ran out of time after " + TimeLimit.text(length);
        stop(new Stop(FlowStatus.TIMED_OUT, new TaskTimeoutException(text, graph.name, length, 0), NOBODY));
    }

    private void stop(Stop why) {
        if (STOP.compareAndSet(this, (Stop) null, why)) {
            asDecider(by -> endAll(by, why));
        }
    }

    private void stopForFailure(Runner runner, int failed) {
        Throwable cause = board.cause(failed);
        Stop why = new Stop(FlowStatus.FAILED, cause, failed);
        if (STOP.compareAndSet(this, (Stop) null, why)) {
            endAll(runner, why);
        }
    }

    private void endAll(Runner by, Stop why) {
        boolean late = why.status() == FlowStatus.TIMED_OUT;
        NodeState state = late ? NodeState.TIMED_OUT : NodeState.CANCELLED;
        Throwable cause = why.status() == FlowStatus.FAILED
                ? new CancelledException(
                        "flow \"" + graph.name + "\" was stopped: node \"" + graph.ids[why.from()] + "\" failed",
                        why.cause())
                : why.cause();
        for (int node = 0; node < graph.size; node++) {
            endFromOutside(by, node, state, cause, Settled.Reason.RUN_ENDED, why.from());
        }
    }

    private void nodeOutOfTime(int node, Duration length) {
        String text = "node \"" + graph.ids[node] + "\" of flow \"" + graph.name + "\" ran out of time after "
                + TimeLimit.text(length) + " (its timeout)";
        TaskTimeoutException cause = new TaskTimeoutException(text, graph.ids[node], length, 1);
        asDecider(by -> endFromOutside(by, node, NodeState.TIMED_OUT, cause, Settled.Reason.OUT_OF_TIME, NOBODY));
    }

    /** Ends a node wherever it is, unless it has ended. The caller still has to settle all. */
    private void endFromOutside(
            Runner by, int node, NodeState state, @Nullable Throwable cause, Settled.Reason reason, int from) {
        while (true) {
            Object slot = board.get(node);
            boolean over = switch (slot) {
                case null -> end(by, node, null, state, cause, reason, from, false);
                case Mark.Plain.READY -> end(by, node, slot, state, cause, reason, from, false);
                case Mark.Plain.INTERRUPTING -> {
                    Thread.onSpinWait();
                    yield false;
                }
                case Handoff _ -> {
                    boolean ended = end(by, node, slot, state, cause, reason, from, false);
                    if (ended) {
                        withdraw(slot);
                    }
                    yield ended;
                }
                case Runner runner -> endRunning(by, node, runner, state, cause, reason, from);
                case Mark.Nested nested -> {
                    boolean ended = end(by, node, slot, state, cause, reason, from, false);
                    if (ended) {
                        nested.run().cancel("its node in flow \"" + graph.name + "\" was ended");
                    }
                    yield ended;
                }
                case Mark.Beginning beginning -> {
                    beginning
                            .over()
                            .whenSet(() -> elsewhere(
                                    () -> asDecider(later -> endFromOutside(later, node, state, cause, reason, from))));
                    yield true;
                }
                default -> true;
            };
            if (over) {
                return;
            }
        }
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
        Object slot = runner;
        if (!graph.optionsOf(node).has(NodeOptions.NO_INTERRUPT)) {
            if (!board.step(node, runner, Mark.Plain.INTERRUPTING)) {
                return false;
            }
            slot = Mark.Plain.INTERRUPTING;
            if (thread != null) {
                guard("interrupt() of the thread", node, thread::interrupt);
            }
        }
        if (!end(by, node, slot, state, cause, reason, from, false)) {
            return false;
        }
        by.finished += held;
        Attempts<?> resting = runner.attempts;
        if (slot == runner && resting != null) {
            resting.endRest(); // nobody interrupts it
        }
        return true;
    }

    /** Does what an alarm is for in a thread that no action can keep from running. */
    private void elsewhere(Runnable action) {
        late.add(action);
        if (lateServed.compareAndSet(false, true)) {
            try {
                Thread.ofPlatform().daemon().name("raddle-flow-alarm").start(this::serveLate);
            } catch (Throwable noThread) {
                options.sink.report("start of a thread for alarms of flow \"" + graph.name + "\"", noThread);
                new Elsewhere(options.sink).execute(this::serveLate);
            }
        }
    }

    private void serveLate() {
        do {
            for (Runnable action; (action = late.poll()) != null; ) {
                action.run();
            }
            lateServed.set(false);
        } while (!late.isEmpty() && lateServed.compareAndSet(false, true));
    }

    // Completing.

    private void complete() {
        STOP.compareAndSet(this, (Stop) null, Stop.COMPLETE);
        FlowStatus status = status();
        if (completed == null || status == FlowStatus.SUCCESS || status == FlowStatus.DEGRADED) {
            finish(status);
            return;
        }
        Runnable undoing = () -> {
            inContext(this::undo);
            finish(status);
        };
        try {
            (home == null ? options.scheduler : home).execute(undoing);
        } catch (Throwable refusal) {
            options.sink.report(
                    "scheduler of flow \"" + graph.name + "\"; compensation runs where the flow ended", refusal);
            undoing.run();
        }
    }

    private FlowStatus status() {
        Stop why = Objects.requireNonNull(stop);
        if (why != Stop.COMPLETE) {
            return why.status();
        }
        FlowStatus status = FlowStatus.SUCCESS;
        for (int node = 0; node < graph.size; node++) {
            if (board.state(node).isFailure()) {
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

    private void undo() {
        List<Throwable> failures = new ArrayList<>();
        for (Completed each = completed; each != null; each = each.earlier()) {
            int node = each.node();
            try {
                Objects.requireNonNull(graph.optionsOf(node).compensation()).accept(valueForUndoing(node));
                if (options.journal != null) {
                    options.journal.undone(graph.ids[node]);
                }
            } catch (Throwable failure) {
                failures.add(failure);
            }
        }
        compensationFailures = failures;
    }

    @SuppressWarnings("NullAway") // null is a value
    private Object valueForUndoing(int node) {
        return board.value(node);
    }

    private void finish(FlowStatus status) {
        if (alarm != null) {
            alarm.cancel();
        }
        Scheduler.Lease taken = lease;
        if (taken != null) {
            guard("lease of the scheduler", 0, taken::close);
        }
        List<Throwable> failures = compensationFailures;
        result = new FlowResult<>(
                board,
                returns,
                status,
                now(),
                failures == null ? List.of() : failures,
                Objects.requireNonNull(stop).cause());
        done.set();
        if (home != null) {
            LockSupport.unpark(home.thread);
        }
        if (outer != null) {
            outer.nestedEnded(outerNode, this);
        }
    }

    // Waiting.

    /**
     * Waits for the end of the run: of all nodes, their callbacks and compensations. An action that was timed out or cancelled
     * may go on nevertheless; {@link #close()} waits for it.
     *
     * <p>If the run was started {@linkplain RunOptions#inCallersThread() in its caller's thread}, this is where it runs, and only
     * one thread may join.
     *
     * @return what became of it
     * @throws InterruptedException if the caller was interrupted; the run goes on, and one may join again
     */
    public FlowResult<R> join() throws InterruptedException {
        if (home != null) {
            serve(home);
        }
        done.await();
        return Objects.requireNonNull(result);
    }

    private void serve(Home mine) throws InterruptedException {
        mine.thread = Thread.currentThread();
        come();
        try {
            Runner runner = Objects.requireNonNull(homeRunner);
            runner.thread = Thread.currentThread();
            runner.now = -1;
            inContext(() -> drain(runner));
            tell(runner);
            while (!done.isSet()) {
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                Runnable arrived = mine.arrived.poll();
                if (arrived != null) {
                    arrived.run();
                } else if (runner.readyCount() > 0 || top >= 0) {
                    inContext(() -> drain(runner));
                    tell(runner);
                } else {
                    LockSupport.park(this);
                }
            }
        } finally {
            mine.thread = null;
            goAway();
        }
    }

    /**
     * Waits for the end of the run and returns its value.
     *
     * @return the value of the plan's output, or its default, null if the plan has no output
     * @throws FlowFailedException if the output has no value
     * @throws InterruptedException if the caller was interrupted; the run goes on
     */
    public R get() throws InterruptedException {
        return join().value();
    }

    /**
     * Tells whether the run has ended.
     *
     * @return true if {@link #join()} does not wait
     */
    public boolean isDone() {
        return done.isSet();
    }

    /**
     * Returns how a node stands.
     *
     * @param id which
     * @return its state now
     * @throws IllegalArgumentException if there is no such node
     */
    public NodeState state(String id) {
        return board.state(graph.indexOf(id));
    }

    /**
     * Cancels what has not ended, and waits until every action has returned. An interrupt does not end the waiting; the interrupt
     * status is kept. Closed again, this does nothing. One thread at a time may call this.
     *
     * @throws IllegalStateException if an action of this run calls it, which would wait for itself
     */
    @Override
    public void close() {
        if (Enclosure.isInside(this)) {
            throw new IllegalStateException("an action of flow \"" + graph.name
                    + "\" closes its own run and would wait for itself; call cancel, or close it where it was started");
        }
        cancel("it was closed before its end");
        boolean interrupted = false;
        closer = Thread.currentThread();
        while (!done.isSet() || inside > 0) {
            Runnable arrived = home == null ? null : home.arrived.poll();
            if (arrived != null) {
                arrived.run();
            } else if (!done.isSet() && home == null) {
                interrupted |= awaitDone();
            } else {
                LockSupport.park(this);
                interrupted |= Thread.interrupted();
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean awaitDone() {
        try {
            done.await();
            return false;
        } catch (InterruptedException interrupt) {
            return true;
        }
    }

    @Override
    public @Nullable Deadline deadline() {
        return deadline;
    }

    @Override
    protected @Nullable Enclosure around() {
        return enclosing;
    }

    @Override
    public String label() {
        return "flow \"" + graph.name + "\"";
    }

    @Override
    public String toString() {
        return "run of " + label() + (isDone() ? ", ended" : "");
    }

    // For actions.

    private long now() {
        return time.nanoTime() - origin;
    }

    private long ranNanos(int node) {
        return board.startNanos(node) < 0 ? 0 : board.endNanos(node) - board.startNanos(node);
    }

    private Identity identity(int node) {
        Identity[] all = Objects.requireNonNull(identities);
        return all[node];
    }

    NodeContext<?> contextOf(int node) {
        return new Reader(this, node);
    }

    Board board() {
        return board;
    }

    @Nullable
    Object parameter() {
        return parameter;
    }

    Duration remainingOf(int node) {
        Deadline own = deadlines == null ? null : deadlines[node];
        Duration left = deadline == null ? Duration.ofNanos(Long.MAX_VALUE) : deadline.remaining();
        return own == null || own.remaining().compareTo(left) > 0 ? left : own.remaining();
    }

    /** Returns what a node gets of one of its dependencies. */
    @Nullable
    Object argument(int node, int position) {
        int dependency = graph.dependencyStart[node] + position;
        int edge = graph.dependencyEdge[dependency];
        return switch (graph.dependencyKind[dependency]) {
            case MUST -> board.result(graph.up[edge]);
            case ORDER -> null;
            case OPTIONAL -> Optional.ofNullable(board.value(graph.up[edge]));
            case AFTER -> outcomeOf(graph.up[edge]);
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

    Outcome<?> outcomeOf(int node) {
        return board.outcome(node);
    }
}
