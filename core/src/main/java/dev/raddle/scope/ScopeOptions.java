package dev.raddle.scope;

import dev.raddle.kernel.DefaultPropagators;
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

    /** A mutable copy of the settings. */
    private static final class Draft {
        private Scheduler scheduler = Scheduler.detect();
        private FailurePolicy failurePolicy = FailurePolicy.FAIL_FAST;
        private RetryPolicy retryPolicy = RetryPolicy.noRetry();
        private TaskPriority defaultPriority = TaskPriority.NORMAL;
        private int concurrencyLimit = Integer.MAX_VALUE;
        private @Nullable Duration deadline;
        private @Nullable ThreadHook hook;
        private @Nullable TaskListener listener;
        private List<ContextPropagator> propagators = DefaultPropagators.LIST;
        private List<ScopedValue<?>> scopedValues = List.of();
        private ExceptionSink sink = LOG;
        private Duration patience = Duration.ofSeconds(10);
        private @Nullable TimeSource time;
    }

    private static final ExceptionSink LOG = ExceptionSink.logging();
    private static final ScopeOptions DEFAULTS = new ScopeOptions(new Draft());

    final Scheduler scheduler;
    final FailurePolicy failurePolicy;
    final RetryPolicy retryPolicy;
    final TaskPriority defaultPriority;
    final int concurrencyLimit; // Integer.MAX_VALUE if there is none
    final @Nullable Duration deadline;
    final @Nullable ThreadHook hook;
    final @Nullable TaskListener listener;
    final List<ContextPropagator> propagators;
    final List<ScopedValue<?>> scopedValues;
    final ExceptionSink sink;
    final Duration patience;
    final @Nullable TimeSource time; // null for that of the enclosing deadline, or else real time
    final Propagation propagation;
    final int defaultRank; // of the default priority
    final @Nullable RetryPolicy defaultRetry; // the retry policy, or null for one attempt
    final boolean onVirtualThreads; // whether the scheduler is that of virtual threads

    private ScopeOptions(Draft draft) {
        scheduler = draft.scheduler;
        failurePolicy = draft.failurePolicy;
        retryPolicy = draft.retryPolicy;
        defaultPriority = draft.defaultPriority;
        concurrencyLimit = draft.concurrencyLimit;
        deadline = draft.deadline;
        hook = draft.hook;
        listener = draft.listener;
        propagators = draft.propagators;
        scopedValues = draft.scopedValues;
        sink = draft.sink;
        patience = draft.patience;
        time = draft.time;
        propagation = new Propagation(propagators, scopedValues, sink);
        defaultRank = defaultPriority.rank();
        defaultRetry = nullIfOnce(retryPolicy);
        onVirtualThreads = scheduler == Scheduler.virtualThreads();
    }

    /** Returns the given policy, or null if it allows only one attempt. */
    static @Nullable RetryPolicy nullIfOnce(RetryPolicy policy) {
        return policy.maxAttempts() > 1 ? policy : null;
    }

    private ScopeOptions copyWith(Consumer<Draft> change) {
        Draft draft = new Draft();
        draft.scheduler = scheduler;
        draft.failurePolicy = failurePolicy;
        draft.retryPolicy = retryPolicy;
        draft.defaultPriority = defaultPriority;
        draft.concurrencyLimit = concurrencyLimit;
        draft.deadline = deadline;
        draft.hook = hook;
        draft.listener = listener;
        draft.propagators = propagators;
        draft.scopedValues = scopedValues;
        draft.sink = sink;
        draft.patience = patience;
        draft.time = time;
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
        return copyWith(draft -> draft.scheduler = scheduler);
    }

    /**
     * Returns these options with another failure policy.
     *
     * @param policy the policy of a wait for several tasks when one fails
     * @return new options
     */
    public ScopeOptions withFailurePolicy(FailurePolicy policy) {
        Objects.requireNonNull(policy, "failurePolicy");
        return copyWith(draft -> draft.failurePolicy = policy);
    }

    /**
     * Returns these options with another retry policy.
     *
     * @param policy the policy of a task without one of its own
     * @return new options
     */
    public ScopeOptions withRetryPolicy(RetryPolicy policy) {
        Objects.requireNonNull(policy, "retryPolicy");
        return copyWith(draft -> draft.retryPolicy = policy);
    }

    /**
     * Returns these options with another priority.
     *
     * @param priority the priority of a task without one of its own
     * @return new options
     */
    public ScopeOptions withDefaultTaskPriority(TaskPriority priority) {
        Objects.requireNonNull(priority, "priority");
        return copyWith(draft -> draft.defaultPriority = priority);
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
        return copyWith(draft -> draft.concurrencyLimit = tasks);
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
        return copyWith(draft -> draft.deadline = length);
    }

    /**
     * Returns these options with one more hook.
     *
     * @param hook the hook to add, which is notified after those added before
     * @return new options
     */
    public ScopeOptions withHook(ThreadHook hook) {
        Objects.requireNonNull(hook, "hook");
        return copyWith(draft -> draft.hook = draft.hook == null ? hook : draft.hook.andThen(hook));
    }

    /**
     * Returns these options with another listener.
     *
     * @param listener the listener, in whose events the owner of a task is the scope's name
     * @return new options
     */
    public ScopeOptions withListener(TaskListener listener) {
        Objects.requireNonNull(listener, "listener");
        return copyWith(draft -> draft.listener = listener);
    }

    /**
     * Returns these options with one more propagator.
     *
     * @param propagator the propagator to add, which is installed after those added before and restored before them
     * @return new options
     */
    public ScopeOptions withPropagator(ContextPropagator propagator) {
        Objects.requireNonNull(propagator, "propagator");
        return copyWith(draft -> draft.propagators = with(draft.propagators, propagator));
    }

    /**
     * Returns these options with one more scoped value.
     *
     * @param value the scoped value to add, which is bound in tasks as in their submitters
     * @return new options
     */
    public ScopeOptions withScopedValue(ScopedValue<?> value) {
        Objects.requireNonNull(value, "value");
        return copyWith(draft -> draft.scopedValues = with(draft.scopedValues, value));
    }

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
        return copyWith(draft -> draft.sink = sink);
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
        return copyWith(draft -> draft.patience = length);
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
        return copyWith(draft -> draft.time = source);
    }
}
