package dev.raddle.flow;

import dev.raddle.flow.threads.JoiningThread;
import dev.raddle.flow.threads.NestedRun;
import dev.raddle.flow.threads.PlacedRun;
import dev.raddle.kernel.BorrowedThread;
import dev.raddle.kernel.CapturedContext;
import dev.raddle.kernel.EnclosingScope;
import dev.raddle.kernel.OffloadExecutor;
import dev.raddle.kernel.Propagation;
import dev.raddle.kernel.Recorder;
import dev.raddle.kernel.TimeLimit;
import dev.raddle.kernel.TimerUse;
import dev.raddle.task.TaskContext;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What the parts of a run share: the graph, the options, the states of the nodes, the clock, and the contexts of the
 * starter. It is the scope that encloses the actions, and the source of their arguments.
 */
final class RunEnvironment extends EnclosingScope implements PlacedRun {

    /** Code of a run that is called in the thread context. */
    interface Step extends Callable<Object> {

        void run();

        @Override
        default Object call() {
            run();
            return this;
        }
    }

    final Graph graph;
    final RunOptions.Values options;
    final NodeStates states;
    final RunProgress progress;
    final TimeSource time;
    final boolean isRecorded; // whether flight recordings include the nodes of this run
    final @Nullable JoiningThread joiner; // null unless the joining thread executes the nodes
    final @Nullable RunJournal journal; // null if nothing of this run is recorded
    final @Nullable TimeLimit limit;
    final @Nullable Signals signals; // of the outermost run; null if there are no nodes that wait for signals
    final @Nullable ReentrantLock beginning; // under which nodes begin, of a run that may be abandoned while it waits
    private final @Nullable Object parameter;
    private final long origin;
    private final @Nullable EnclosingScope enclosing;
    final @Nullable RunEnvironment outer; // null unless this run is nested
    final int outerNode; // the node of the outer run that this run executes
    private final RunEnvironment outermost; // of the runs that this one is nested in, or this one
    private final @Nullable ClassLoader loader; // the context class loader of the starter
    private final CapturedContext perThread;
    final @Nullable CapturedContext perNode; // null if nodes run in no other context than that of the thread
    private volatile @Nullable Throwable lostBy; // of the outermost run: why it is lost; null if it is not

    @Nullable
    Runnable onLost; // of the outermost run: ends its nodes; written by the constructor of Engine

    @Nullable
    NodeTimeouts nodeTimeouts; // null if no node has a timeout; written by the constructor of NodeTransitions

    @Nullable
    Replay replay; // null unless recorded ends are being applied; confined to the thread that starts the run

    @Nullable
    NodeWaits waits; // null if no node waits for a moment or a signal; likewise

    /**
     * Creates the environment of a run.
     *
     * @param stepped the time as reported to a stepper, which drives the run without a thread and outside of any scope;
     *     else null
     */
    @SuppressWarnings("this-escape") // the receivers do not use it before the run begins
    RunEnvironment(
            Graph graph,
            @Nullable Object parameter,
            RunOptions.Values options,
            @Nullable StepperTime stepped,
            @Nullable RunEnvironment outer,
            int outerNode) {
        boolean isStepped = stepped != null;
        this.graph = graph;
        this.options = options;
        outermost = outer == null ? this : outer.outermost;
        this.parameter = parameter;
        joiner = options.inCallersThread && !isStepped ? new JoiningThread() : null;
        isRecorded = !isStepped && Recorder.isOn();
        boolean alone = joiner != null && !graph.hasTimeouts && !graph.hasGroups && !graph.hasNested && !graph.hasWaits;
        states = new NodeStates(graph, alone || isStepped, outer == null && options.journal != null);
        progress = new RunProgress(this);
        TaskContext context = TaskContext.current();
        loader = outer == null ? Thread.currentThread().getContextClassLoader() : outer.loader;
        enclosing = isStepped ? null : outer == null ? EnclosingScope.innermost(context) : outer;
        Deadline around = enclosing == null ? null : enclosing.deadline();
        Deadline given = options.deadline;
        time = stepped != null
                ? stepped
                : options.time != null
                        ? options.time
                        : given != null ? given.time() : around != null ? around.time() : TimeSource.system();
        TimerUse.begin(time);
        long begun = isStepped ? 0 : time.nanoTime();
        journal = RunJournal.open(this, outer == null ? null : outer.journal, outer != null);
        origin = begun - (journal == null ? 0 : journal.elapsedNanos());
        beginning = outer == null && journal != null && graph.hasWaits ? new ReentrantLock() : null;
        this.outer = outer;
        this.outerNode = outerNode;
        signals = outer == null ? (graph.signals.isEmpty() ? null : new Signals(this)) : outer.signals;
        limit = isStepped && outer != null ? outer.limit : limit(given != null ? given.remaining() : options.timeout);
        perThread = isStepped ? CapturedContext.NOTHING : options.forThreads().capture(context.within(this));
        Propagation forNodes = options.forNodes();
        perNode = isStepped && outer != null
                ? outer.perNode
                : forNodes == null ? null : forNodes.capture(null); // the thread context has that
    }

    private @Nullable TimeLimit limit(@Nullable Duration length) {
        Duration timeout = options.timeout;
        if (journal == null || timeout == null) {
            return TimeLimit.of(time, length, enclosing);
        }
        TimeLimit left = TimeLimit.of(time, journal.remaining(timeout, time), enclosing);
        return left == null || left.enclosure() != null ? left : new TimeLimit(left.deadline(), timeout, null);
    }

    // Loss: the run belongs to another process, and with it all runs nested in it.

    /** Returns whether this run continues the compensations of an earlier process, and runs no nodes. */
    boolean isCompensatingAgain() {
        return journal != null && journal.recovered.compensating != null;
    }

    boolean isLost() {
        return outermost.lostBy != null;
    }

    /** Returns why the run is lost, or null if it is not. */
    @Nullable
    Throwable lostBy() {
        return outermost.lostBy;
    }

    void requireNotLost() {
        Throwable cause = outermost.lostBy;
        if (cause != null) {
            FencedException again =
                    new FencedException(outermost.label() + " does not belong to this process any more");
            again.initCause(cause);
            throw again;
        }
    }

    /** Marks the run as lost, so that it records and compensates nothing. */
    void markLost(Throwable cause) {
        if (outermost.lostBy == null) {
            outermost.lostBy = cause;
        }
    }

    /** Marks the run as lost and ends all nodes. */
    void lose(Throwable cause) {
        markLost(cause);
        Runnable end = outermost.onLost;
        if (end != null) {
            end.run();
        }
    }

    /** Returns the options of a run nested in this one. */
    RunOptions.Values optionsForNested(OnFailure onFailure, int rootsAtOnce) {
        return options.forNested(onFailure, time, rootsAtOnce, joiner);
    }

    /** Returns whether the joining thread of an outer run executes the nodes. */
    boolean runsInOuterJoiner() {
        return options.scheduler instanceof JoiningThread;
    }

    void wakeJoiner() {
        if (joiner != null) {
            joiner.wake();
        }
    }

    // Time.

    /**
     * Returns the time since the start of the run. While recorded ends are repeated, it is that of the end which takes
     * effect.
     */
    long now() {
        if (replay != null && replay.nanos() >= 0) {
            return replay.nanos();
        }
        return time.nanoTime() - origin;
    }

    /** Decides what an alarm made necessary, outside its thread because callbacks are called. */
    void decide(Runnable decision) {
        new OffloadExecutor(options.sink(), time, loader, true)
                .execute(() -> guard("alarm", NodeEnd.NO_NODE, decision));
    }

    /** Runs an action that may take long in a thread of its own, also if the time source would run it. */
    void runElsewhere(Runnable action) {
        new OffloadExecutor(options.sink(), TimeSource.system(), loader, false).execute(action);
    }

    @Override
    public @Nullable Deadline deadline() {
        return limit == null ? null : limit.deadline();
    }

    Duration remainingOf(int node) {
        Deadline nearer = deadlineOf(node);
        return nearer == null ? UndoCall.FOREVER : nearer.remaining();
    }

    /** Returns the nearer of the deadlines of a node and of the run, or null if there is neither. */
    @Nullable
    Deadline deadlineOf(int node) {
        Deadline ofRun = deadline();
        Deadline own = nodeTimeouts == null ? null : nodeTimeouts.deadline(node);
        boolean endsWithRun = own == null || (ofRun != null && ofRun.remaining().compareTo(own.remaining()) < 0);
        return endsWithRun ? ofRun : own;
    }

    /** Returns the nearer of the limits of a node and of the run, or null if there is neither. */
    @Nullable
    TimeLimit limitOf(int node, @Nullable Duration length) {
        Deadline until = deadlineOf(node);
        return until == null || length == null || until == deadline() ? limit : new TimeLimit(until, length, null);
    }

    // Calls of user code.

    /**
     * Calls a function of the user in the context that was captured when the run was started, in addition to the thread
     * context.
     */
    @Override
    public <T> T callInStarterContext(Callable<? extends T> action) throws Exception {
        return perNode == null ? action.call() : perNode.call(action);
    }

    /** Runs code of a run in the thread context that was captured when the run was started. */
    void inContext(Step step) {
        Thread self = Thread.currentThread();
        ClassLoader before = self.getContextClassLoader();
        useLoader();
        try {
            perThread.call(step);
        } catch (Throwable leftOpen) {
            options.sink().report("flow \"" + graph.name + "\", which left a scope open", leftOpen);
        } finally {
            BorrowedThread.useLoader(self, before, options.sink());
        }
    }

    /** Gives the calling thread, in which an action or a callback may have set another one, the starter's loader. */
    void useLoader() {
        BorrowedThread.useLoader(Thread.currentThread(), loader, options.sink());
    }

    /** Runs an action and reports its exception to the sink. The node is for the message, or -1. */
    void guard(String what, int node, Runnable action) {
        try {
            action.run();
        } catch (Throwable failure) {
            report(what, node, failure);
        }
    }

    void report(String what, int node, Throwable failure) {
        String whose = node == NodeEnd.NO_NODE ? "" : " of node \"" + graph.ids[node] + "\"";
        options.sink().report(what + whose + " in flow \"" + graph.name + "\"", failure);
    }

    // Inputs of nodes.

    @Nullable
    Object parameter() {
        return parameter;
    }

    /** Returns the context that the functions of a node receive. */
    NodeContext<?> contextOf(int node) {
        return new RunNodeContext(this, node, null);
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
            case OPTIONAL -> Optional.ofNullable(seen(node, graph.up[edge]));
            case AFTER -> states.outcome(graph.up[edge]);
            case ANY -> states.value(states.winner(graph.dependencyClause[dependency]));
            case AT_LEAST, ALL -> valuesOf(node, edge, graph.dependencyEdge[dependency + 1]);
        };
    }

    private @Nullable Object seen(int node, int upstream) {
        return states.isVisible(upstream, node) ? states.value(upstream) : null;
    }

    private List<@Nullable Object> valuesOf(int node, int from, int to) {
        List<@Nullable Object> values = new ArrayList<>(to - from);
        for (int edge = from; edge < to; edge++) {
            if (states.isVisible(graph.up[edge], node) && states.succeeded(graph.up[edge])) {
                values.add(states.value(graph.up[edge]));
            }
        }
        return values;
    }

    // Waits.

    /** Returns the box of the signal that a node waits for, or null if it waits for none. */
    @Nullable
    SignalBox signalBox(int node) {
        return graph.signalTypeOf(node) == null
                ? null
                : Objects.requireNonNull(signals).box(path(node));
    }

    /** Returns the journal of the outermost run, in which the waits of all runs are recorded, or null. */
    @Nullable
    RunJournal outermostJournal() {
        return outermost.journal;
    }

    /** Returns whether a node that waits for a signal has ended, or the node in whose nested run it is. */
    boolean hasEnded(String signal) {
        Graph.Address address = graph.addressOf(signal);
        Object slot = states.get(address.node());
        return NodeStates.isEnd(slot)
                || (address.inner() != null && slot instanceof NestedRun nested && nested.hasEnded(address.inner()));
    }

    @Override
    public String name() {
        return graph.name;
    }

    @Override
    public String idOf(int node) {
        return graph.ids[node];
    }

    /** Returns the path of the node that this run executes, with a slash; empty for the outermost run. */
    String path() {
        Deque<String> ids = new ArrayDeque<>();
        for (RunEnvironment inner = this; inner.outer != null; inner = inner.outer) {
            ids.push(inner.outer.graph.ids[inner.outerNode] + "/");
        }
        return String.join("", ids);
    }

    /** Returns the id of a node after those of the nodes of outer runs in which it is. */
    String path(int node) {
        return path() + graph.ids[node];
    }

    /** Returns a run in the place of a node, without its nodes, so that its compensations can be called. */
    RunEnvironment nested(int node) throws Exception {
        return callInStarterContext(() -> {
            NestedPlan plan = (NestedPlan) graph.bodies[node].call(this, node);
            RunOptions.Values nested = optionsForNested(plan.onFailure(), plan.rootsAtOnce());
            return new RunEnvironment(plan.graph(), plan.parameter(), nested, null, this, node);
        });
    }

    // As a scope.

    @Override
    public @Nullable EnclosingScope enclosing() {
        return enclosing;
    }

    @Override
    public String label() {
        return "flow \"" + graph.name + "\"";
    }
}
