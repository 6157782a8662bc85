package dev.raddle.scope;

import dev.raddle.kernel.DefaultPropagators;
import dev.raddle.kernel.Propagation;
import dev.raddle.kernel.Recorder;
import dev.raddle.task.ContextPropagator;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskListener;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;
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
 */
public final class StructuredScopeOptions {

    /** The settings. Changed only before the options that have them are created. */
    static final class Draft implements Cloneable {
        @Nullable
        String name; // null for the scope's identity

        ThreadFactory threadFactory = Thread.ofVirtual().factory();

        @Nullable
        Scheduler scheduler; // null for a new thread for each subtask

        Duration patience = Duration.ofSeconds(10);
        ExceptionSink sink = LOG;
        TimeSource time = TimeSource.system();
        List<ScopedValue<?>> scopedValues = List.of();
        boolean plainThreads; // whether to use them instead of the JDK's own scope

        @Nullable
        TaskListener listener;

        List<ContextPropagator> propagators = DefaultPropagators.LIST;

        Draft copy() {
            try {
                return (Draft) clone();
            } catch (CloneNotSupportedException impossible) {
                throw new AssertionError(impossible);
            }
        }
    }

    private static final ExceptionSink LOG = ExceptionSink.logging();
    private static final StructuredScopeOptions DEFAULTS = new StructuredScopeOptions(new Draft());

    final Draft all;
    final @Nullable Propagation propagation; // null if there is nothing to propagate

    private StructuredScopeOptions(Draft draft) {
        all = draft;
        propagation = draft.propagators.isEmpty() ? null : new Propagation(draft.propagators, List.of(), draft.sink);
    }

    private StructuredScopeOptions with(Consumer<Draft> change) {
        Draft draft = all.copy();
        change.accept(draft);
        return new StructuredScopeOptions(draft);
    }

    /**
     * Returns the default options: no name, a virtual thread for each subtask, ten seconds of patience, a log for
     * exceptions, real time.
     *
     * @return the same options at every call
     */
    public static StructuredScopeOptions defaults() {
        return DEFAULTS;
    }

    /** Returns whether a listener, a propagator or a recording needs a view of each subtask. */
    boolean isObserved() {
        return all.listener != null || propagation != null || Recorder.isOn();
    }

    /**
     * Returns these options with another name.
     *
     * @param name the name in dumps and messages, or null for the scope's identity
     * @return new options
     */
    public StructuredScopeOptions withName(@Nullable String name) {
        return with(draft -> draft.name = name);
    }

    /**
     * Returns these options with another thread factory, which is not used with a scheduler.
     *
     * @param threadFactory the factory, called once for each subtask by the thread that forks
     * @return new options
     */
    public StructuredScopeOptions withThreadFactory(ThreadFactory threadFactory) {
        Objects.requireNonNull(threadFactory, "threadFactory");
        return with(draft -> draft.threadFactory = threadFactory);
    }

    /**
     * Returns these options with subtasks run by a scheduler, such as a group of an executor. When the scope is shut
     * down, subtasks that have not begun leave the scheduler's queue at once.
     *
     * @param scheduler the scheduler that runs the subtasks
     * @return new options
     */
    public StructuredScopeOptions withScheduler(Scheduler scheduler) {
        Objects.requireNonNull(scheduler, "scheduler");
        return with(draft -> draft.scheduler = scheduler);
    }

    /**
     * Returns these options with another patience.
     *
     * @param length the interval at which {@code close()} reports the subtasks that delay it, positive
     * @return new options
     * @throws IllegalArgumentException if the length is not positive
     */
    public StructuredScopeOptions withPatience(Duration length) {
        Duration patience = ScopeOptions.requirePatience("a scope", length);
        return with(draft -> draft.patience = patience);
    }

    /**
     * Returns these options with another sink.
     *
     * @param sink the receiver of exceptions that must not change a subtask, and of reports about subtasks that delay
     *     {@code close()}; called by the owner and by the threads of subtasks
     * @return new options
     */
    public StructuredScopeOptions withExceptionSink(ExceptionSink sink) {
        Objects.requireNonNull(sink, "sink");
        return with(draft -> draft.sink = sink);
    }

    /**
     * Returns these options with another time source.
     *
     * @param source the time source for deadlines, ages and patience
     * @return new options
     */
    public StructuredScopeOptions withTimeSource(TimeSource source) {
        Objects.requireNonNull(source, "time");
        return with(draft -> draft.time = source);
    }

    /**
     * Returns these options with one more scoped value that subtasks inherit with a scheduler and with plain threads.
     * In all other cases the JDK passes on every scoped value. {@link dev.raddle.task.TaskContext} is always passed on.
     *
     * @param value the scoped value to add, which is bound in subtasks as where they are forked
     * @return new options
     */
    public StructuredScopeOptions addScopedValue(ScopedValue<?> value) {
        Objects.requireNonNull(value, "value");
        return with(draft -> draft.scopedValues = ScopeOptions.with(draft.scopedValues, value));
    }

    /**
     * Returns these options with plain threads instead of the JDK's own scope. Scoped values other than the added ones
     * are then not inherited, {@code jcmd} does not show the scope, and structure violations that only the JDK can
     * detect are not reported.
     *
     * @return new options
     */
    public StructuredScopeOptions withPlainThreads() {
        return with(draft -> draft.plainThreads = true);
    }

    /**
     * Returns these options with one more listener. It is notified of a subtask's submission by the thread that forks,
     * of its start in the subtask's thread before any context is installed there, and of its end before the owner can
     * see the end. The owner of a subtask is the scope. A subtask that has not ended when the scope is shut down is
     * reported as cancelled.
     *
     * @param listener the listener to add
     * @return new options
     */
    public StructuredScopeOptions addListener(TaskListener listener) {
        Objects.requireNonNull(listener, "listener");
        return with(draft -> draft.listener = draft.listener == null ? listener : draft.listener.and(listener));
    }

    /**
     * Returns these options with one more propagator, which carries a context from the thread that forks to the
     * subtask.
     *
     * @param propagator the propagator to add
     * @return new options
     */
    public StructuredScopeOptions addPropagator(ContextPropagator propagator) {
        Objects.requireNonNull(propagator, "propagator");
        return with(draft -> draft.propagators = ScopeOptions.with(draft.propagators, propagator));
    }
}
