package dev.raddle.scope;

import dev.raddle.task.CheckReturnValue;
import dev.raddle.task.ContextPropagator;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskListener;
import dev.raddle.task.TaskPriority;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;

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
@CheckReturnValue
public final class ScopeOptions {

    private static final ScopeOptions DEFAULTS = new ScopeOptions(new ScopeSettings());

    final ScopeSettings settings;

    ScopeOptions(ScopeSettings settings) {
        this.settings = settings;
    }

    private ScopeOptions with(Consumer<ScopeSettings> change) {
        return new ScopeOptions(settings.with(change));
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
        return with(all -> all.scheduler = scheduler);
    }

    /**
     * Returns these options with another failure policy.
     *
     * @param policy the policy of a wait for several tasks when one fails
     * @return new options
     */
    public ScopeOptions withFailurePolicy(FailurePolicy policy) {
        Objects.requireNonNull(policy, "failurePolicy");
        return with(all -> all.failurePolicy = policy);
    }

    /**
     * Returns these options with another retry policy.
     *
     * @param policy the policy of a task without one of its own
     * @return new options
     */
    public ScopeOptions withRetryPolicy(RetryPolicy policy) {
        Objects.requireNonNull(policy, "retryPolicy");
        return with(all -> all.retry = ScopeSettings.nullIfUnneeded(policy));
    }

    /**
     * Returns these options with another priority.
     *
     * @param priority the priority of a task without one of its own
     * @return new options
     */
    public ScopeOptions withDefaultTaskPriority(TaskPriority priority) {
        Objects.requireNonNull(priority, "priority");
        return with(all -> all.priority = priority);
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
        return with(all -> all.concurrencyLimit = tasks);
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
        return with(all -> all.deadline = length);
    }

    /**
     * Returns these options with one more hook.
     *
     * @param hook the hook to add, which is notified after those added before
     * @return new options
     */
    public ScopeOptions addHook(ThreadHook hook) {
        Objects.requireNonNull(hook, "hook");
        return with(all -> all.hook = all.hook == null ? hook : all.hook.andThen(hook));
    }

    /**
     * Returns these options with one more listener.
     *
     * @param listener the listener to add, in whose events the owner of a task is the scope's name
     * @return new options
     */
    public ScopeOptions addListener(TaskListener listener) {
        return new ScopeOptions(settings.and(listener));
    }

    /**
     * Returns these options with one more propagator.
     *
     * @param propagator the propagator to add, which is installed after those added before and restored before them
     * @return new options
     */
    public ScopeOptions addPropagator(ContextPropagator propagator) {
        return with(all -> all.propagation = all.propagation.with(propagator));
    }

    /**
     * Returns these options with one more scoped value.
     *
     * @param value the scoped value to add, which is bound in tasks as in their submitters
     * @return new options
     */
    public ScopeOptions addScopedValue(ScopedValue<?> value) {
        return with(all -> all.propagation = all.propagation.with(value));
    }

    /**
     * Returns these options with another sink.
     *
     * @param sink the receiver of exceptions that must not change a task, and of reports about tasks that delay
     *     {@link ThreadScope#close()}
     * @return new options
     */
    public ScopeOptions withExceptionSink(ExceptionSink sink) {
        return with(all -> all.propagation = all.propagation.with(sink));
    }

    /**
     * Returns these options with another patience.
     *
     * @param length the interval at which {@link ThreadScope#close()} reports the tasks that delay it, positive
     * @return new options
     * @throws IllegalArgumentException if the length is not positive
     */
    public ScopeOptions withPatience(Duration length) {
        return new ScopeOptions(settings.withPatience("a scope", length));
    }

    /**
     * Returns these options with another time source. If a scope is opened inside a scope with a deadline, its time
     * source must be that of the deadline; otherwise the opening throws.
     *
     * @param source the time source
     * @return new options
     */
    public ScopeOptions withTimeSource(TimeSource source) {
        return new ScopeOptions(settings.on(source));
    }

    @Override
    public String toString() {
        ScopeSettings all = settings;
        String limit = all.concurrencyLimit == Integer.MAX_VALUE ? "none" : "" + all.concurrencyLimit;
        return "ScopeOptions[scheduler=" + all.scheduler + ", failurePolicy=" + all.failurePolicy + ", retryPolicy="
                + (all.retry == null ? RetryPolicy.noRetry() : all.retry) + ", defaultPriority=" + all.priority
                + ", concurrencyLimit=" + limit + ", deadline=" + all.deadline + ", hook=" + all.hook
                + ", scopedValues=" + all.propagation.scopedValues() + all.shared();
    }
}
