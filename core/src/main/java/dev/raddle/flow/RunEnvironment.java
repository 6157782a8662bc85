package dev.raddle.flow;

import dev.raddle.flow.threads.JoiningThread;
import dev.raddle.flow.threads.PlacedRun;
import dev.raddle.kernel.BorrowedThread;
import dev.raddle.kernel.CapturedContext;
import dev.raddle.kernel.EnclosingScope;
import dev.raddle.kernel.OffloadExecutor;
import dev.raddle.kernel.Propagation;
import dev.raddle.kernel.Recorder;
import dev.raddle.kernel.TimerUse;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.TaskContext;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * What a run is given when it is started: the graph, the parameter, the options, the clock, and the contexts of the
 * starter. All user code of the run is called here. What becomes known of it is in {@code RunFacts}.
 */
abstract class RunEnvironment extends EnclosingScope implements PlacedRun {

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
    final TimeSource time;
    final ExceptionSink sink;
    final boolean isRecorded; // whether flight recordings include the nodes of this run
    final @Nullable JoiningThread joiner; // null unless the joining thread executes the nodes
    final @Nullable Object parameter;
    private final @Nullable EnclosingScope enclosing;
    private final RunEnvironment outermost; // of the runs that this one is nested in, or this one
    private final @Nullable ClassLoader loader; // the context class loader of the starter
    private final CapturedContext perThread;
    final @Nullable CapturedContext perNode; // null if nodes run in no other context than that of the thread
    private final @Nullable Run driver; // of the outermost run; null if this one is nested
    private volatile @Nullable Throwable lostBy; // of the outermost run: why it is lost; null if it is not

    /**
     * Creates the environment of a run.
     *
     * @param driver ends the nodes if the run is lost; null if this run is nested
     */
    @SuppressWarnings("this-escape") // the context does not use it before the run begins
    RunEnvironment(
            Graph graph,
            @Nullable Object parameter,
            RunOptions.Values options,
            @Nullable RunEnvironment outer,
            @Nullable Run driver) {
        this.graph = graph;
        this.options = options;
        this.parameter = parameter;
        sink = options.propagation.sink();
        this.driver = driver;
        outermost = outer == null ? this : outer.outermost;
        joiner = options.inCallersThread ? new JoiningThread() : null;
        loader = outer == null ? Thread.currentThread().getContextClassLoader() : outer.loader;
        TaskContext starter = options.isStepped() ? null : TaskContext.current(); // null: outside of any context
        isRecorded = starter != null && Recorder.isOn();
        enclosing = outer != null ? outer : starter == null ? null : EnclosingScope.innermost(starter);
        time = options.time != null ? options.time : clock(options.deadline, enclosing);
        TimerUse.begin(time);
        perThread =
                starter == null ? CapturedContext.NOTHING : options.forThreads().capture(starter.within(this));
        Propagation forNodes = outer == null ? options.forNodes() : null;
        perNode = outer != null
                ? outer.perNode
                : forNodes == null ? null : forNodes.capture(null); // the thread context has that
    }

    private static TimeSource clock(@Nullable Deadline given, @Nullable EnclosingScope enclosing) {
        Deadline until = given != null || enclosing == null ? given : enclosing.deadline();
        return until == null ? TimeSource.system() : until.time();
    }

    // Loss: the run belongs to another process, and with it all runs nested in it.

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
        Objects.requireNonNull(outermost.driver).stopLost();
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

    // Calls of user code.

    /** Decides what an alarm made necessary, outside its thread because callbacks are called. */
    void decide(Runnable decision) {
        new OffloadExecutor(sink, time, loader, true).execute(() -> guard("alarm", NodeEnd.NO_NODE, decision));
    }

    /** Runs an action that may take long in a thread of its own, also if the time source would run it. */
    void runElsewhere(Runnable action) {
        new OffloadExecutor(sink, TimeSource.system(), loader, false).execute(action);
    }

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
            sink.report("flow \"" + graph.name + "\", which left a scope open", leftOpen);
        } finally {
            BorrowedThread.useLoader(self, before, sink);
        }
    }

    /** Gives the calling thread, in which an action or a callback may have set another one, the starter's loader. */
    void useLoader() {
        BorrowedThread.useLoader(Thread.currentThread(), loader, sink);
    }

    /** Runs an action and reports its exception to the sink. The node is for the message, or -1. */
    void guard(String what, int node, Runnable action) {
        sink.guard(() -> source(what, node), action);
    }

    void report(String what, int node, Throwable failure) {
        sink.report(source(what, node), failure);
    }

    private String source(String what, int node) {
        String whose = node == NodeEnd.NO_NODE ? "" : " of node \"" + graph.ids[node] + "\"";
        return what + whose + " in flow \"" + graph.name + "\"";
    }

    @Override
    public String name() {
        return graph.name;
    }

    @Override
    public String idOf(int node) {
        return graph.ids[node];
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
