package dev.raddle.scope;

import dev.raddle.kernel.DefaultPropagators;
import dev.raddle.kernel.GuardedTime;
import dev.raddle.kernel.Recorder;
import dev.raddle.task.ContextPropagator;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskListener;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;

/**
 * The options of a {@link StructuredTaskScope}. Immutable; start from {@link #defaults()}.
 *
 * {@snippet :
 * var options = StructuredScopeOptions.defaults()
 *         .withName("checkout")
 *         .withScheduler(executor.scheduler("tenant-a"));
 * try (var scope = new StructuredTaskScope<Price>(options)) {
 *     scope.fork(() -> price(order));
 *     scope.join();
 * }
 * }
 *
 * @param name the name in dumps and messages, or null for the scope's identity
 * @param threadFactory the factory of the subtasks' threads; not used with a scheduler
 * @param scheduler the scheduler that runs the subtasks within its limits, or null for a new thread for each subtask
 * @param stragglerPatience the time after which {@code close()} reports the subtasks that still run to the sink
 * @param sink the receiver of reports about stragglers, and of exceptions that no caller can receive
 * @param time the time source for deadlines, ages and patience
 * @param inherited the scoped values that subtasks inherit with a scheduler and with plain threads. In all other cases
 *     the JDK passes on every scoped value. {@link dev.raddle.task.TaskContext} is always passed on
 * @param plainThreads true to use plain threads instead of the JDK's own scope as the container of threads
 * @param listener the listener that is notified of each started subtask, as of a task whose owner is the scope; or null
 * @param propagators the propagators of further contexts from the thread that forks to the subtask
 */
public record StructuredScopeOptions(
        @Nullable String name,
        ThreadFactory threadFactory,
        @Nullable Scheduler scheduler,
        Duration stragglerPatience,
        ExceptionSink sink,
        TimeSource time,
        List<ScopedValue<?>> inherited,
        boolean plainThreads,
        @Nullable TaskListener listener,
        List<ContextPropagator> propagators) {

    static final StructuredScopeOptions DEFAULTS = new StructuredScopeOptions(
            null,
            Thread.ofVirtual().factory(),
            null,
            Duration.ofSeconds(10),
            ExceptionSink.logging(),
            TimeSource.system(),
            List.of(),
            false,
            null,
            DefaultPropagators.LIST);

    /** Checks the arguments. */
    public StructuredScopeOptions {
        Objects.requireNonNull(threadFactory, "threadFactory");
        Objects.requireNonNull(stragglerPatience, "stragglerPatience");
        Objects.requireNonNull(sink, "sink");
        time = GuardedTime.guard(
                GuardedTime.unguarded(Objects.requireNonNull(time, "time")),
                failure -> sink.report("time source of a scope", failure)); // the sink of these options
        inherited = List.copyOf(inherited);
        propagators = List.copyOf(propagators);
        if (stragglerPatience.isNegative()) {
            throw new IllegalArgumentException("stragglerPatience must not be negative, was " + stragglerPatience);
        }
    }

    /**
     * Returns the default options: no name, a virtual thread for each subtask, ten seconds of patience, a sink that
     * logs, real time.
     *
     * @return the same options at every call
     */
    public static StructuredScopeOptions defaults() {
        return DEFAULTS;
    }

    /** Returns whether a listener, a propagator or a recording needs a view of each subtask. */
    boolean isObserved() {
        return listener != null || !propagators.isEmpty() || Recorder.isOn();
    }

    /**
     * Returns these options with another name.
     *
     * @param name the name, or null for the scope's identity
     * @return new options
     */
    public StructuredScopeOptions withName(@Nullable String name) {
        return new StructuredScopeOptions(
                name,
                threadFactory,
                scheduler,
                stragglerPatience,
                sink,
                time,
                inherited,
                plainThreads,
                listener,
                propagators);
    }

    /**
     * Returns these options with another thread factory.
     *
     * @param threadFactory the factory, called once for each subtask by the thread that forks
     * @return new options
     */
    public StructuredScopeOptions withThreadFactory(ThreadFactory threadFactory) {
        return new StructuredScopeOptions(
                name,
                threadFactory,
                scheduler,
                stragglerPatience,
                sink,
                time,
                inherited,
                plainThreads,
                listener,
                propagators);
    }

    /**
     * Returns these options with subtasks run by a scheduler, such as a group of an executor. When the scope is shut
     * down, subtasks that have not begun leave the scheduler's queue at once.
     *
     * @param scheduler the scheduler that runs the subtasks
     * @return new options
     */
    public StructuredScopeOptions withScheduler(Scheduler scheduler) {
        return new StructuredScopeOptions(
                name,
                threadFactory,
                Objects.requireNonNull(scheduler, "scheduler"),
                stragglerPatience,
                sink,
                time,
                inherited,
                plainThreads,
                listener,
                propagators);
    }

    /**
     * Returns these options with another patience.
     *
     * @param stragglerPatience the time after which {@code close()} reports running subtasks, zero or more
     * @return new options
     */
    public StructuredScopeOptions withStragglerPatience(Duration stragglerPatience) {
        return new StructuredScopeOptions(
                name,
                threadFactory,
                scheduler,
                stragglerPatience,
                sink,
                time,
                inherited,
                plainThreads,
                listener,
                propagators);
    }

    /**
     * Returns these options with another sink.
     *
     * @param sink the sink, called by the owner and by the threads of subtasks
     * @return new options
     */
    public StructuredScopeOptions withSink(ExceptionSink sink) {
        return new StructuredScopeOptions(
                name,
                threadFactory,
                scheduler,
                stragglerPatience,
                sink,
                time,
                inherited,
                plainThreads,
                listener,
                propagators);
    }

    /**
     * Returns these options with another time source.
     *
     * @param time the time source
     * @return new options
     */
    public StructuredScopeOptions withTimeSource(TimeSource time) {
        return new StructuredScopeOptions(
                name,
                threadFactory,
                scheduler,
                stragglerPatience,
                sink,
                time,
                inherited,
                plainThreads,
                listener,
                propagators);
    }

    /**
     * Returns these options with other registered scoped values.
     *
     * @param inherited the scoped values; those not bound where a subtask is forked are ignored
     * @return new options
     */
    public StructuredScopeOptions withInherited(ScopedValue<?>... inherited) {
        return new StructuredScopeOptions(
                name,
                threadFactory,
                scheduler,
                stragglerPatience,
                sink,
                time,
                List.of(inherited),
                plainThreads,
                listener,
                propagators);
    }

    /**
     * Returns these options with plain threads instead of the JDK's own scope. Scoped values other than the registered
     * ones are then not inherited, {@code jcmd} does not show the scope, and structure violations that only the JDK can
     * detect are not reported.
     *
     * @return new options
     */
    public StructuredScopeOptions withPlainThreads() {
        return new StructuredScopeOptions(
                name, threadFactory, scheduler, stragglerPatience, sink, time, inherited, true, listener, propagators);
    }

    /**
     * Returns these options with a listener. It is notified of a subtask's submission by the thread that forks, of its
     * start in the subtask's thread before any context is installed there, and of its end before the owner can see the
     * end. A subtask that has not ended when the scope is shut down is reported as cancelled.
     *
     * @param listener the listener; if there is one already, both are notified
     * @return new options
     */
    public StructuredScopeOptions withListener(TaskListener listener) {
        Objects.requireNonNull(listener, "listener");
        return new StructuredScopeOptions(
                name,
                threadFactory,
                scheduler,
                stragglerPatience,
                sink,
                time,
                inherited,
                plainThreads,
                this.listener == null ? listener : this.listener.and(listener),
                propagators);
    }

    /**
     * Returns these options with one more propagator, which carries a context from the thread that forks to the
     * subtask.
     *
     * @param propagator the propagator to add
     * @return new options
     */
    public StructuredScopeOptions withPropagator(ContextPropagator propagator) {
        List<ContextPropagator> more = new ArrayList<>(propagators);
        more.add(Objects.requireNonNull(propagator, "propagator"));
        return new StructuredScopeOptions(
                name, threadFactory, scheduler, stragglerPatience, sink, time, inherited, plainThreads, listener, more);
    }
}
