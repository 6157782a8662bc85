package dev.raddle.scope;

import dev.raddle.task.ContextPropagator;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskListener;
import dev.raddle.time.TimeSource;
import dev.raddle.time.UserCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;

/**
 * How a {@link StructuredTaskScope} shall be. Immutable; start from {@link #defaults()}.
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
 * @param name what the scope is called in dumps and messages; null for its identity
 * @param threadFactory makes the threads of subtasks; not used with a scheduler
 * @param scheduler runs the subtasks instead, within its limits; null for a thread of its own for each
 * @param stragglerPatience how long {@code close()} waits before it tells the sink of subtasks that go on all the same
 * @param sink hears of stragglers, and of exceptions that have no other place to go
 * @param time the clock for deadlines, ages and patience
 * @param inherited scoped values that subtasks shall see although the JDK does not hand them on: with a scheduler and with plain
 *     threads. In all other cases the JDK hands on every scoped value. {@link dev.raddle.task.TaskContext} always goes along
 * @param plainThreads true to do without the JDK's own scope as a container of threads
 * @param listener is notified of each subtask that is started, as of a task whose owner is the scope; null for none
 * @param propagators carry further contexts from the thread that forks into the subtask
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

    private static final StructuredScopeOptions DEFAULTS = new StructuredScopeOptions(
            null,
            Thread.ofVirtual().factory(),
            null,
            Duration.ofSeconds(10),
            ExceptionSink.logging(),
            TimeSource.system(),
            List.of(),
            false,
            null,
            List.of());

    /** Checks what can be checked. */
    public StructuredScopeOptions {
        Objects.requireNonNull(threadFactory, "threadFactory");
        Objects.requireNonNull(stragglerPatience, "stragglerPatience");
        Objects.requireNonNull(sink, "sink");
        time = UserCode.clock(
                Objects.requireNonNull(time, "time"), failure -> sink.report("time source of a scope", failure));
        inherited = List.copyOf(inherited);
        propagators = List.copyOf(propagators);
        if (stragglerPatience.isNegative()) {
            throw new IllegalArgumentException("stragglerPatience must not be negative, was " + stragglerPatience);
        }
    }

    /**
     * Returns what a scope has if nothing is said: no name, a virtual thread for each subtask, ten seconds of patience, a sink
     * that logs, real time.
     *
     * @return the same options at every call
     */
    public static StructuredScopeOptions defaults() {
        return DEFAULTS;
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
     * Returns these options with threads made by a factory.
     *
     * @param threadFactory called once for each subtask, by the thread that forks
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
     * Returns these options with subtasks run by a scheduler, such as a group of an executor. When the scope is shut down,
     * subtasks that have not begun leave the scheduler's queue at once.
     *
     * @param scheduler where to run
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
     * @param stragglerPatience zero or more
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
     * @param sink called in the owner's thread and in those of subtasks
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
     * Returns these options with another clock.
     *
     * @param time the clock
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
     * @param inherited the keys; those not bound where a subtask is forked are left out
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
     * Returns these options without the JDK's own scope as a container. Scoped values other than the registered ones are then
     * not inherited, {@code jcmd} does not show the scope, and what only the JDK can find is no structure violation.
     *
     * @return new options
     */
    public StructuredScopeOptions withPlainThreads() {
        return new StructuredScopeOptions(
                name, threadFactory, scheduler, stragglerPatience, sink, time, inherited, true, listener, propagators);
    }

    /**
     * Returns these options with a listener. It is notified of a subtask's submission by the thread that forks, of its start in
     * the subtask's thread before any context is in force there, and of its end before the owner can see that. A subtask that
     * has not ended when the scope is shut down is cancelled.
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
     * Returns these options with one more context that is carried from the thread that forks into the subtask.
     *
     * @param propagator how to carry it
     * @return new options
     */
    public StructuredScopeOptions withPropagator(ContextPropagator propagator) {
        List<ContextPropagator> more = new ArrayList<>(propagators);
        more.add(Objects.requireNonNull(propagator, "propagator"));
        return new StructuredScopeOptions(
                name, threadFactory, scheduler, stragglerPatience, sink, time, inherited, plainThreads, listener, more);
    }
}
