package dev.raddle.scope;

import dev.raddle.kernel.Propagation;
import dev.raddle.task.ContextPropagator;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskListener;
import dev.raddle.task.TaskPriority;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a {@link ThreadScope}. Immutable: one object may be used by any number of scopes, also concurrently.
 * Each setting is checked when it is made, before a scope is opened.
 *
 * {@snippet :
 * static final ScopeOptions PAGES = ScopeOptions.defaults()
 *         .withDeadline(Duration.ofSeconds(2))
 *         .withConcurrencyLimit(32);
 *
 * try (ThreadScope scope = ThreadScope.open("page", PAGES)) {
 *     return scope.awaitAll(scope.submit(() -> header(id)), scope.submit(() -> body(id)));
 * }
 * }
 */
public final class ScopeOptions {

    /** The settings. Changed only before the options that have them are created. */
    static final class Draft implements Cloneable {
        Scheduler scheduler = Scheduler.detect();
        FailurePolicy failurePolicy = FailurePolicy.FAIL_FAST;
        RetryPolicy retryPolicy = RetryPolicy.noRetry();
        TaskPriority defaultPriority = TaskPriority.NORMAL;
        int concurrencyLimit = Integer.MAX_VALUE; // for none

        @Nullable
        Duration deadline;

        @Nullable
        ThreadHook hook;

        @Nullable
        TaskListener listener;

        List<ContextPropagator> propagators = List.of(); // besides those that are services
        List<ScopedValue<?>> scopedValues = List.of();
        ExceptionSink sink = ExceptionSink.logging();
        Duration patience = Duration.ofSeconds(10);

        @Nullable
        TimeSource time; // null for that of the enclosing deadline, or else real time

        List<@Nullable Object> values() {
            return Arrays.asList(
                    scheduler,
                    failurePolicy,
                    retryPolicy,
                    defaultPriority,
                    concurrencyLimit,
                    deadline,
                    hook,
                    listener,
                    propagators,
                    scopedValues,
                    sink,
                    patience,
                    time);
        }

        Draft copy() {
            try {
                return (Draft) clone();
            } catch (CloneNotSupportedException impossible) {
                throw new AssertionError(impossible);
            }
        }
    }

    private static final ScopeOptions DEFAULTS = new ScopeOptions(new Draft());

    final Draft all; // the settings; the following fields are derived from them
    final Propagation propagation;
    final int defaultRank; // of the default priority
    final @Nullable RetryPolicy defaultRetry; // the retry policy, or null for one attempt
    final boolean onVirtualThreads; // whether the scheduler is that of virtual threads

    private ScopeOptions(Draft draft) {
        all = draft;
        propagation = new Propagation(true, draft.propagators, draft.scopedValues, draft.sink);
        defaultRank = draft.defaultPriority.rank();
        defaultRetry = nullIfOnce(draft.retryPolicy);
        onVirtualThreads = draft.scheduler == Scheduler.virtualThreads();
    }

    /** Returns the given policy, or null if it allows only one attempt. */
    static @Nullable RetryPolicy nullIfOnce(RetryPolicy policy) {
        return policy.maxAttempts() > 1 ? policy : null;
    }

    private ScopeOptions with(Consumer<Draft> change) {
        Draft draft = all.copy();
        change.accept(draft);
        return new ScopeOptions(draft);
    }

    /**
     * Returns the settings of a scope that is opened without options: virtual threads, {@link FailurePolicy#FAIL_FAST},
     * one attempt, {@link TaskPriority#NORMAL}, no limit, no deadline, no hook, no listener, a log for exceptions, ten
     * seconds of patience, real time.
     *
     * @return the same options at every call
     */
    public static ScopeOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Returns these options with another scheduler.
     *
     * @param scheduler the scheduler of the tasks; a scope never shuts it down
     * @return new options
     */
    public ScopeOptions withScheduler(Scheduler scheduler) {
        Objects.requireNonNull(scheduler, "scheduler");
        return with(draft -> draft.scheduler = scheduler);
    }

    /**
     * Returns these options with another failure policy.
     *
     * @param policy the policy of a wait for several tasks when one fails
     * @return new options
     */
    public ScopeOptions withFailurePolicy(FailurePolicy policy) {
        Objects.requireNonNull(policy, "failurePolicy");
        return with(draft -> draft.failurePolicy = policy);
    }

    /**
     * Returns these options with another retry policy.
     *
     * @param policy the policy of a task without one of its own
     * @return new options
     */
    public ScopeOptions withRetryPolicy(RetryPolicy policy) {
        Objects.requireNonNull(policy, "retryPolicy");
        return with(draft -> draft.retryPolicy = policy);
    }

    /**
     * Returns these options with another priority.
     *
     * @param priority the priority of a task without one of its own
     * @return new options
     */
    public ScopeOptions withDefaultTaskPriority(TaskPriority priority) {
        Objects.requireNonNull(priority, "priority");
        return with(draft -> draft.defaultPriority = priority);
    }

    /**
     * Returns these options with a limit. Further tasks wait, without a thread and without blocking their submitter.
     *
     * @param tasks the maximum number of running tasks of one scope, at least 1
     * @return new options
     * @throws IllegalArgumentException if the limit is less than 1
     */
    public ScopeOptions withConcurrencyLimit(int tasks) {
        if (tasks < 1) {
            throw new IllegalArgumentException("concurrency limit must be at least 1, was " + tasks);
        }
        return with(draft -> draft.concurrencyLimit = tasks);
    }

    /**
     * Returns these options with a deadline. A scope inside another has no more time than the outer scope has left. If
     * the length is zero or negative, the scope is opened and its tasks are cancelled at once.
     *
     * @param length the time from the opening of a scope to its deadline
     * @return new options
     */
    public ScopeOptions withDeadline(Duration length) {
        Objects.requireNonNull(length, "deadline");
        return with(draft -> draft.deadline = length);
    }

    /**
     * Returns these options with one more hook.
     *
     * @param hook the hook to add, which is notified after those added before
     * @return new options
     */
    public ScopeOptions addHook(ThreadHook hook) {
        Objects.requireNonNull(hook, "hook");
        return with(draft -> draft.hook = draft.hook == null ? hook : draft.hook.andThen(hook));
    }

    /**
     * Returns these options with one more listener.
     *
     * @param listener the listener to add, in whose events the owner of a task is the scope's name
     * @return new options
     */
    public ScopeOptions addListener(TaskListener listener) {
        Objects.requireNonNull(listener, "listener");
        return with(draft -> draft.listener = draft.listener == null ? listener : draft.listener.and(listener));
    }

    /**
     * Returns these options with one more propagator.
     *
     * @param propagator the propagator to add, which is installed after those added before and restored before them
     * @return new options
     */
    public ScopeOptions addPropagator(ContextPropagator propagator) {
        Objects.requireNonNull(propagator, "propagator");
        return with(draft -> draft.propagators = with(draft.propagators, propagator));
    }

    /**
     * Returns these options with one more scoped value.
     *
     * @param value the scoped value to add, which is bound in tasks as in their submitters
     * @return new options
     */
    public ScopeOptions addScopedValue(ScopedValue<?> value) {
        Objects.requireNonNull(value, "value");
        return with(draft -> draft.scopedValues = with(draft.scopedValues, value));
    }

    /** Returns a list with one more element. */
    private static <E> List<E> with(List<E> all, E one) {
        List<E> more = new ArrayList<>(all);
        more.add(one);
        return List.copyOf(more);
    }

    /**
     * Returns these options with another sink.
     *
     * @param sink the receiver of exceptions that must not change a task, and of reports about tasks that delay
     *     {@link ThreadScope#close()}
     * @return new options
     */
    public ScopeOptions withExceptionSink(ExceptionSink sink) {
        Objects.requireNonNull(sink, "sink");
        return with(draft -> draft.sink = sink);
    }

    /**
     * Returns these options with another patience.
     *
     * @param length the interval at which {@link ThreadScope#close()} reports the tasks that delay it, positive
     * @return new options
     * @throws IllegalArgumentException if the length is not positive
     */
    public ScopeOptions withPatience(Duration length) {
        return withPatienceOf("a scope", length);
    }

    /** Returns these options with another patience. The text names the scope if the length is refused. */
    ScopeOptions withPatienceOf(String scope, Duration length) {
        if (!length.isPositive()) {
            throw new IllegalArgumentException("patience of " + scope + " must be positive, was " + length);
        }
        return with(draft -> draft.patience = length);
    }

    /**
     * Returns these options with another time source. If a scope is opened inside a scope with a deadline, its time
     * source must be that of the deadline; otherwise the opening throws.
     *
     * @param source the time source
     * @return new options
     */
    public ScopeOptions withTimeSource(TimeSource source) {
        Objects.requireNonNull(source, "time");
        return with(draft -> draft.time = source);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ScopeOptions options && all.values().equals(options.all.values());
    }

    @Override
    public int hashCode() {
        return all.values().hashCode();
    }

    @Override
    public String toString() {
        String limit = all.concurrencyLimit == Integer.MAX_VALUE ? "none" : "" + all.concurrencyLimit;
        return "ScopeOptions[scheduler=" + all.scheduler + ", failurePolicy=" + all.failurePolicy + ", retryPolicy="
                + all.retryPolicy + ", defaultPriority=" + all.defaultPriority + ", concurrencyLimit=" + limit
                + ", deadline=" + all.deadline + ", hook=" + all.hook + shared() + "]";
    }

    /** Returns the text of the settings that a {@link StructuredScopeOptions} has, too. */
    String shared() {
        return ", listener=" + all.listener + ", propagators=" + all.propagators + ", scopedValues=" + all.scopedValues
                + ", sink=" + all.sink + ", patience=" + all.patience + ", time=" + all.time;
    }
}
