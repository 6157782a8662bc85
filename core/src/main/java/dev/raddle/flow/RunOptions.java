package dev.raddle.flow;

import dev.raddle.kernel.Propagation;
import dev.raddle.task.ContextPropagator;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskListener;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * How one run of a flow shall be. Immutable; each method returns a changed copy.
 *
 * {@snippet :
 * RunOptions.timeout(Duration.ofMillis(300)).onFailure(OnFailure.FAIL_FAST).withGroups(executor::scheduler)
 * }
 */
public final class RunOptions {

    private static final ExceptionSink LOG = ExceptionSink.logging();
    private static final Propagation PLAIN = new Propagation(List.of(), List.of(), LOG);
    private static final RunOptions DEFAULTS = new RunOptions();

    @Nullable
    Duration timeout;

    @Nullable
    Deadline deadline;

    Scheduler scheduler = Scheduler.detect();
    boolean inCallersThread;

    @Nullable
    Scheduler compute;

    @Nullable
    Function<String, Scheduler> groups;

    @Nullable
    TaskListener listener;

    List<ContextPropagator> propagators = List.of();
    List<ScopedValue<?>> scopedValues = List.of();
    ExceptionSink sink = LOG;
    OnFailure onFailure = OnFailure.CONTINUE;
    Obsolete obsolete = Obsolete.FINISH;
    List<String> only = List.of();

    @Nullable
    TimeSource time;

    @Nullable
    FlowJournal journal;

    @Nullable
    String work; // what the journal is for, instead of the parameter

    int rootsAtOnce; // how many nodes without dependencies are triggered at a time; 0 for all
    boolean timed = true;

    private RunOptions() {}

    private RunOptions(RunOptions from) {
        timeout = from.timeout;
        deadline = from.deadline;
        scheduler = from.scheduler;
        inCallersThread = from.inCallersThread;
        compute = from.compute;
        groups = from.groups;
        listener = from.listener;
        propagators = from.propagators;
        scopedValues = from.scopedValues;
        sink = from.sink;
        onFailure = from.onFailure;
        obsolete = from.obsolete;
        only = from.only;
        time = from.time;
        journal = from.journal;
        work = from.work;
        rootsAtOnce = from.rootsAtOnce;
        timed = from.timed;
    }

    private RunOptions copy() {
        return new RunOptions(this);
    }

    /** Returns what carries the caller's context into a thread. */
    Propagation forThreads() {
        return scopedValues.isEmpty() && sink == LOG ? PLAIN : new Propagation(List.of(), scopedValues, sink);
    }

    /** Returns what carries the caller's context into each node, or null if there is nothing to carry. */
    @Nullable
    Propagation forNodes() {
        return propagators.isEmpty() ? null : new Propagation(propagators, List.of(), sink);
    }

    /** Returns options for a run inside a run with these options. */
    RunOptions forNested(OnFailure policy, TimeSource clock, int atOnce) {
        RunOptions nested = copy();
        nested.timeout = null;
        nested.deadline = null;
        nested.only = List.of();
        nested.journal = null;
        nested.work = null;
        nested.rootsAtOnce = atOnce;
        nested.onFailure =
                policy == OnFailure.CONTINUE && onFailure == OnFailure.KEEP_GOING ? OnFailure.KEEP_GOING : policy;
        nested.time = clock;
        nested.inCallersThread = false;
        return nested;
    }

    /**
     * Returns options of which nothing is set: virtual threads, no deadline but that of an enclosing scope, and failures stop
     * nothing but what depends on them.
     *
     * @return the same at every call
     */
    public static RunOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Returns options with a timeout and nothing else.
     *
     * @param length see {@link #withTimeout}
     * @return new options
     */
    public static RunOptions timeout(Duration length) {
        return DEFAULTS.withTimeout(length);
    }

    /**
     * Returns options with a deadline and nothing else.
     *
     * @param moment see {@link #withDeadline}
     * @return new options
     */
    public static RunOptions deadline(Deadline moment) {
        return DEFAULTS.withDeadline(moment);
    }

    /**
     * Limits how long the run may take, from its start. Then whatever has not ended has timed out.
     *
     * @param length if it is not positive, nothing runs
     * @return a changed copy
     */
    public RunOptions withTimeout(Duration length) {
        RunOptions changed = copy();
        changed.timeout = Objects.requireNonNull(length, "timeout");
        changed.deadline = null;
        return changed;
    }

    /**
     * Sets until when the run must have ended. The deadline of an enclosing scope holds besides.
     *
     * @param moment if it has passed, nothing runs
     * @return a changed copy
     */
    public RunOptions withDeadline(Deadline moment) {
        RunOptions changed = copy();
        changed.deadline = Objects.requireNonNull(moment, "deadline");
        changed.timeout = null;
        return changed;
    }

    /**
     * Sets where actions run; in virtual threads unless set.
     *
     * @param where a scheduler, also one with a single thread: no thread waits for a node
     * @return a changed copy
     */
    public RunOptions withScheduler(Scheduler where) {
        RunOptions changed = copy();
        changed.scheduler = Objects.requireNonNull(where, "scheduler");
        changed.inCallersThread = false;
        return changed;
    }

    /**
     * Has all actions without a group run one after the other in the thread that calls {@link FlowPlan#run} or
     * {@link FlowRun#join}. A deadline interrupts them, but does not let that call return before they do.
     *
     * @return a changed copy
     */
    public RunOptions inCallersThread() {
        RunOptions changed = copy();
        changed.inCallersThread = true;
        return changed;
    }

    /**
     * Sets where actions run that burn CPU; in the common pool unless set.
     *
     * @param where a scheduler
     * @return a changed copy
     */
    public RunOptions withComputeScheduler(Scheduler where) {
        RunOptions changed = copy();
        changed.compute = Objects.requireNonNull(where, "compute");
        return changed;
    }

    /**
     * Sets where nodes with a group run.
     *
     * @param schedulers returns the scheduler of a group's key, such as {@code executor::scheduler} of a group executor
     * @return a changed copy
     */
    public RunOptions withGroups(Function<String, Scheduler> schedulers) {
        RunOptions changed = copy();
        changed.groups = Objects.requireNonNull(schedulers, "groups");
        return changed;
    }

    /**
     * Sets who hears of each node as of a task whose owner is the flow. Set again, both hear.
     *
     * @param hears a listener
     * @return a changed copy
     */
    public RunOptions withListener(TaskListener hears) {
        RunOptions changed = copy();
        changed.listener = listener == null ? Objects.requireNonNull(hears, "listener") : listener.and(hears);
        return changed;
    }

    /**
     * Adds a context that is carried from the thread that starts the run into each action and callback.
     *
     * @param propagator how to carry it
     * @return a changed copy
     */
    public RunOptions withPropagator(ContextPropagator propagator) {
        RunOptions changed = copy();
        changed.propagators = added(propagators, Objects.requireNonNull(propagator, "propagator"));
        return changed;
    }

    /**
     * Adds a scoped value that is carried from the thread that starts the run into each action and callback.
     *
     * @param value which, if it is bound
     * @return a changed copy
     */
    public RunOptions withScopedValue(ScopedValue<?> value) {
        RunOptions changed = copy();
        changed.scopedValues = added(scopedValues, Objects.requireNonNull(value, "value"));
        return changed;
    }

    private static <X> List<X> added(List<X> list, X one) {
        List<X> more = new ArrayList<>(list);
        more.add(one);
        return List.copyOf(more);
    }

    /**
     * Sets where exceptions of callbacks go; to the log unless set.
     *
     * @param target hears of them
     * @return a changed copy
     */
    public RunOptions withExceptionSink(ExceptionSink target) {
        RunOptions changed = copy();
        changed.sink = Objects.requireNonNull(target, "sink");
        return changed;
    }

    /**
     * Sets what a failure means for the rest of the run; nothing unless set.
     *
     * @param policy whether to go on
     * @return a changed copy
     */
    public RunOptions onFailure(OnFailure policy) {
        RunOptions changed = copy();
        changed.onFailure = Objects.requireNonNull(policy, "onFailure");
        return changed;
    }

    /**
     * Sets what becomes of a running node that nobody needs any more; it finishes unless set.
     *
     * @param policy whether to interrupt it
     * @return a changed copy
     */
    public RunOptions obsolete(Obsolete policy) {
        RunOptions changed = copy();
        changed.obsolete = Objects.requireNonNull(policy, "obsolete");
        return changed;
    }

    /**
     * Runs only some nodes and what they need. All others are skipped, essential or not. For the status of the run each of the
     * targets counts as a sink, also one that another target depends on: the run is FAILED if any of them fails or times out, and
     * DEGRADED if that happens only to what they need.
     *
     * @param targets ids of nodes
     * @return a changed copy
     */
    public RunOptions only(String... targets) {
        RunOptions changed = copy();
        changed.only = List.of(targets);
        return changed;
    }

    /**
     * Sets what knows the time; real time unless set, or the time of an enclosing scope's deadline.
     *
     * @param source a clock
     * @return a changed copy
     */
    public RunOptions withTimeSource(TimeSource source) {
        RunOptions changed = copy();
        changed.time = Objects.requireNonNull(source, "time");
        return changed;
    }

    /**
     * Has the run not look at the clock for each node: for flows of very many very short nodes. Its result then has no times of
     * nodes, and so no timeline and no critical path. A run with a listener, or one that a flight recording asks for, looks all the
     * same: they are told how long nodes ran.
     *
     * @return a changed copy
     */
    public RunOptions withoutTimes() {
        RunOptions changed = copy();
        changed.timed = false;
        return changed;
    }

    /**
     * Sets what keeps the values of finished nodes, so that a later run of the same plan with an equal parameter need not run them
     * again. A run of another plan, or with another parameter, is refused: {@code start} throws IllegalArgumentException.
     *
     * @param book for this run
     * @return a changed copy
     */
    public RunOptions withJournal(FlowJournal book) {
        RunOptions changed = copy();
        changed.journal = Objects.requireNonNull(book, "journal");
        changed.work = null;
        return changed;
    }

    /**
     * Sets what keeps the values of finished nodes, as {@link #withJournal(FlowJournal)} does, for parameters that are not equal
     * when they mean the same, or that the journal cannot keep.
     *
     * {@snippet :
     * RunOptions.defaults().withJournal(journal, "order-17")
     * }
     *
     * @param book for this run
     * @param key what the run is about; later runs with this journal have to give the same, and their parameters are not compared
     * @return a changed copy
     */
    public RunOptions withJournal(FlowJournal book, String key) {
        RunOptions changed = withJournal(book);
        changed.work = Objects.requireNonNull(key, "key");
        return changed;
    }
}
