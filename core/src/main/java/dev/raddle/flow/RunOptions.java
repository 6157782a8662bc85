package dev.raddle.flow;

import dev.raddle.kernel.Draft;
import dev.raddle.kernel.Propagation;
import dev.raddle.task.CheckReturnValue;
import dev.raddle.task.ContextPropagator;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskListener;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The options of one run of a flow. Immutable; each method returns a changed copy.
 *
 * {@snippet :
 * RunOptions.timeout(Duration.ofMillis(300)).onFailure(OnFailure.FAIL_FAST).withGroups(executor::scheduler)
 * }
 */
@CheckReturnValue
public final class RunOptions {

    private static final Propagation PLAIN = Propagation.plain(true);
    private static final Propagation PLAIN_THREADS = new Propagation(false, List.of(), List.of(), PLAIN.sink());
    private static final RunOptions DEFAULTS = new RunOptions(new Values());

    /** The options that have been set. */
    static final class Values extends Draft<Values> {

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

        Propagation propagation = PLAIN; // with the sink of all exceptions

        @Nullable
        Map<String, String> savedContext; // what propagators restore; null if they capture the starter's context

        OnFailure onFailure = OnFailure.CONTINUE;
        UnneededPolicy obsolete = UnneededPolicy.FINISH;
        List<String> only = List.of();

        @Nullable
        TimeSource time;

        @Nullable
        FlowJournal journal;

        @Nullable
        String runId; // identifies the run for the journal; null if its parameter does

        List<String> again = List.of(); // the nodes to run again

        int rootsAtOnce; // the limit of nodes without dependencies that are triggered at a time; 0 for all

        private Values() {}

        /** Returns the propagation of the caller's context into a thread. */
        Propagation forThreads() {
            return propagation == PLAIN
                    ? PLAIN_THREADS
                    : new Propagation(false, List.of(), propagation.scopedValues(), propagation.sink());
        }

        /** Returns whether a run with these options has no thread, but a driver that reports the time. */
        boolean isStepped() {
            return time instanceof StepperTime;
        }

        /** Returns the options of a run whose driver reports the time. */
        Values forStepper(StepperTime clock) {
            return with(stepped -> {
                stepped.time = clock;
                stepped.inCallersThread = false;
            });
        }

        /** Returns the options with which the entries of a journal are replayed, and no node runs. */
        Values forReplay(FlowJournal entries) {
            return forStepper(new StepperTime()).with(replayed -> {
                replayed.timeout = null;
                replayed.deadline = null;
                Propagation own = replayed.propagation;
                replayed.propagation = new Propagation(true, List.of(), own.scopedValues(), own.sink());
                replayed.savedContext = null;
                replayed.journal = entries;
                replayed.again = List.of();
            });
        }

        /** Returns the propagation of the caller's context into each node, or null if there are no propagators. */
        @Nullable
        Propagation forNodes() {
            if (!propagation.hasPropagators()) {
                return null;
            }
            Propagation own = new Propagation(true, propagation.propagators(), List.of(), propagation.sink());
            return savedContext == null ? own : own.restoring(savedContext);
        }

        /**
         * Returns the options of a nested run.
         *
         * @param joiner the scheduler of its nodes; null if it is that of this run
         */
        Values forNested(OnFailure policy, TimeSource clock, int atOnce, @Nullable Scheduler joiner) {
            return with(nested -> {
                nested.timeout = null;
                nested.deadline = null;
                nested.only = List.of();
                nested.journal = null;
                nested.runId = null;
                nested.again = List.of();
                nested.savedContext = null; // the starter of the nested run has it
                nested.rootsAtOnce = atOnce;
                nested.onFailure = policy == OnFailure.CONTINUE && onFailure == OnFailure.KEEP_GOING
                        ? OnFailure.KEEP_GOING
                        : policy;
                nested.time = clock;
                nested.inCallersThread = false;
                nested.scheduler = joiner == null ? scheduler : joiner;
                nested.compute = joiner == null ? compute : joiner;
            });
        }
    }

    final Values values;

    private RunOptions(Values values) {
        this.values = values;
    }

    private RunOptions with(Consumer<Values> change) {
        return new RunOptions(values.with(change));
    }

    /**
     * Returns the default options: virtual threads, only the deadline of an enclosing scope, and failures that stop
     * only the nodes that depend on the failed one.
     *
     * @return the same options at every call
     */
    public static RunOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Returns the default options with a timeout.
     *
     * @param timeout the timeout, see {@link #withTimeout}
     * @return new options
     */
    public static RunOptions timeout(Duration timeout) {
        return DEFAULTS.withTimeout(timeout);
    }

    /**
     * Limits the duration of the run, from its start. Nodes that have not ended by then are timed out.
     *
     * @param timeout the timeout; if it is not positive, no node runs
     * @return a changed copy
     */
    public RunOptions withTimeout(Duration timeout) {
        return with(changed -> {
            changed.timeout = Objects.requireNonNull(timeout, "timeout");
            changed.deadline = null;
        });
    }

    /**
     * Sets the deadline of the run. The deadline of an enclosing scope applies, too.
     *
     * @param deadline the deadline; if it has passed, no node runs
     * @return a changed copy
     */
    public RunOptions withDeadline(Deadline deadline) {
        return with(changed -> {
            changed.deadline = Objects.requireNonNull(deadline, "deadline");
            changed.timeout = null;
        });
    }

    /**
     * Sets the scheduler of actions; the default is virtual threads.
     *
     * @param scheduler the scheduler; a single thread is sufficient, since no thread waits for a node
     * @return a changed copy
     */
    public RunOptions withScheduler(Scheduler scheduler) {
        return with(changed -> {
            changed.scheduler = Objects.requireNonNull(scheduler, "scheduler");
            changed.inCallersThread = false;
        });
    }

    /**
     * Runs all actions without a group one after the other in the thread that calls {@link FlowPlan#run} or
     * {@link FlowRun#join}. A deadline interrupts the actions, but that call does not return before they do.
     *
     * @return a changed copy
     */
    public RunOptions inCallersThread() {
        return with(changed -> changed.inCallersThread = true);
    }

    /**
     * Sets the scheduler of actions that are CPU-bound; the default is the common pool.
     *
     * @param scheduler the scheduler
     * @return a changed copy
     */
    public RunOptions withComputeScheduler(Scheduler scheduler) {
        return with(changed -> changed.compute = Objects.requireNonNull(scheduler, "compute"));
    }

    /**
     * Sets the schedulers of nodes with a group.
     *
     * @param schedulers a function from the key of a group to its scheduler, such as {@code executor::scheduler} of a
     *     group executor
     * @return a changed copy
     */
    public RunOptions withGroups(Function<String, Scheduler> schedulers) {
        return with(changed -> changed.groups = Objects.requireNonNull(schedulers, "groups"));
    }

    /**
     * Adds a listener, which is notified of each node as of a task whose owner is the flow.
     *
     * @param added the listener to add
     * @return a changed copy
     */
    public RunOptions addListener(TaskListener added) {
        Objects.requireNonNull(added, "listener");
        return with(changed -> changed.listener = changed.listener == null ? added : changed.listener.and(added));
    }

    /**
     * Adds a context that is propagated from the thread that starts the run to each action and callback.
     *
     * @param propagator the propagator of the context
     * @return a changed copy
     */
    public RunOptions addPropagator(ContextPropagator propagator) {
        return with(changed -> changed.propagation = changed.propagation.with(propagator));
    }

    /**
     * Adds a scoped value whose binding is propagated from the thread that starts the run to each action and callback.
     *
     * @param value the scoped value, which may be unbound
     * @return a changed copy
     */
    public RunOptions addScopedValue(ScopedValue<?> value) {
        return with(changed -> changed.propagation = changed.propagation.with(value));
    }

    /**
     * Returns the calling thread's context as texts, as the propagators of these options {@linkplain
     * ContextPropagator#save save} it, and those that are services. What stores runs that others start keeps it with
     * the run.
     *
     * @return the texts by their names; none if no propagator saves a context
     */
    public Map<String, String> savedContext() {
        return values.propagation.save();
    }

    /**
     * Sets the context that propagators propagate to each action and callback, in place of that of the thread that
     * starts the run. A propagator that saves nothing propagates that of the thread nevertheless.
     *
     * @param saved the result of {@link #savedContext} in the thread that submitted the run
     * @return a changed copy
     */
    public RunOptions withSavedContext(Map<String, String> saved) {
        Map<String, String> copy = Map.copyOf(saved);
        return with(changed -> changed.savedContext = copy);
    }

    /**
     * Sets the sink of exceptions that are thrown by callbacks; the default is the log.
     *
     * @param sink the sink
     * @return a changed copy
     */
    public RunOptions withExceptionSink(ExceptionSink sink) {
        return with(changed -> changed.propagation = changed.propagation.with(sink));
    }

    /**
     * Sets the effect of a failure on the rest of the run; the default is {@link OnFailure#CONTINUE}.
     *
     * @param policy the policy
     * @return a changed copy
     */
    public RunOptions onFailure(OnFailure policy) {
        return with(changed -> changed.onFailure = Objects.requireNonNull(policy, "onFailure"));
    }

    /**
     * Sets the treatment of a running node that has become unneeded; the default is {@link UnneededPolicy#FINISH}.
     *
     * @param policy the policy
     * @return a changed copy
     */
    public RunOptions obsolete(UnneededPolicy policy) {
        return with(changed -> changed.obsolete = Objects.requireNonNull(policy, "obsolete"));
    }

    /**
     * Runs only the given nodes and their upstreams. All others are skipped, even essential ones. For the status of the
     * run each target counts as a sink, even one that another target depends on: the run is FAILED if any target fails
     * or times out, and DEGRADED if only their upstreams do.
     *
     * @param targets the ids of the nodes
     * @return a changed copy
     */
    public RunOptions only(String... targets) {
        return with(changed -> changed.only = List.of(targets));
    }

    /**
     * Sets the time source; the default is that of the deadline of an enclosing scope, or real time.
     *
     * @param timeSource the time source
     * @return a changed copy
     */
    public RunOptions withTimeSource(TimeSource timeSource) {
        return with(changed -> changed.time = Objects.requireNonNull(timeSource, "time"));
    }

    /**
     * Sets the journal, which stores what happens in the run, so that a later run of the same plan with an equal
     * parameter continues where this one ended. A run of another plan, or with another parameter, is refused:
     * {@code start} throws IllegalArgumentException.
     *
     * <p>A journal is for one run at a time: the next one may start when this one has ended. This is not checked.
     *
     * <p>A run that continues another which has not ended, because its process did, continues that one's time, too: the
     * timeout counts from the begin of the first process.
     *
     * <p>The end of a node that is being recorded is not changed by a timeout, the deadline or a cancel that comes
     * later, and the run ends after that record. So a run with a journal may end later than its deadline by the time
     * that a record takes.
     *
     * @param journal the journal of this run
     * @return a changed copy
     */
    public RunOptions withJournal(FlowJournal journal) {
        return with(changed -> {
            changed.journal = Objects.requireNonNull(journal, "journal");
            changed.runId = null;
        });
    }

    /**
     * Sets the journal, like {@link #withJournal(FlowJournal)}, and the id of the run, for parameters whose
     * {@code equals} does not identify the same work, or that the journal cannot store.
     *
     * {@snippet :
     * RunOptions.defaults().withJournal(journal, "order-17")
     * }
     *
     * @param journal the journal of this run
     * @param runId the id of the run; later runs with this journal must have an equal one, and their parameters are not
     *     compared
     * @return a changed copy
     */
    public RunOptions withJournal(FlowJournal journal, String runId) {
        return withJournal(journal).with(changed -> changed.runId = Objects.requireNonNull(runId, "runId"));
    }

    /**
     * Runs nodes again that an earlier run with the same journal has finished, and all nodes that depend on them,
     * directly or not. All other finished nodes keep their values. The journal forgets the nodes in one step before any
     * of them begins, so a crash never leaves values of both runs side by side. Nodes are not compensated before they
     * run again. The given nodes run even if no other node needs them; those that depend on them run if they are
     * needed.
     *
     * {@snippet :
     * plan.run(order, RunOptions.defaults().withJournal(journal, "order-17").rerun("invoice"));
     * }
     *
     * <p>The run has the whole of its timeout. Each run with these options runs the nodes again; a run that is to
     * continue after a crash must not have this option.
     *
     * @param nodes the ids of the nodes; the run must have a journal unless there are none
     * @return a changed copy
     */
    public RunOptions rerun(String... nodes) {
        return with(changed -> changed.again = List.of(nodes));
    }

    /**
     * Returns the options that are for a single run: a deadline, nodes to select, a journal, and nodes to run again.
     * What starts many runs with the same options can refuse them.
     *
     * @return the names of the methods that have set them, such as {@code withDeadline}; none if there are no such
     *     options
     */
    public List<String> ofSingleRun() {
        return Stream.of(
                        values.deadline == null ? "" : "withDeadline",
                        values.only.isEmpty() ? "" : "only",
                        values.journal == null ? "" : "withJournal",
                        values.again.isEmpty() ? "" : "rerun")
                .filter(name -> !name.isEmpty())
                .toList();
    }
}
