package dev.raddle.scope;

import dev.raddle.kernel.Draft;
import dev.raddle.task.CheckReturnValue;
import dev.raddle.task.ContextPropagator;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.TaskListener;
import dev.raddle.time.TimeSource;
import java.time.Duration;
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
 *         .withPatience(Duration.ofSeconds(5));
 * try (var scope = new StructuredTaskScope<Price>(options)) {
 *     scope.fork(() -> price(order));
 *     scope.join();
 * }
 * }
 */
@CheckReturnValue
public final class StructuredScopeOptions {

    private static final StructuredScopeOptions DEFAULTS = new StructuredScopeOptions(new ScopeSettings());

    final ScopeSettings settings;

    private StructuredScopeOptions(ScopeSettings settings) {
        this.settings = settings;
    }

    private StructuredScopeOptions with(Consumer<ScopeSettings> change) {
        return new StructuredScopeOptions(settings.with(change));
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

    /**
     * Returns these options with another name.
     *
     * @param name the name in dumps and messages, or null for the scope's identity
     * @return new options
     */
    public StructuredScopeOptions withName(@Nullable String name) {
        return with(all -> all.name = name);
    }

    /**
     * Returns these options with another thread factory.
     *
     * @param threadFactory the factory, called once for each subtask by the thread that forks
     * @return new options
     */
    public StructuredScopeOptions withThreadFactory(ThreadFactory threadFactory) {
        Objects.requireNonNull(threadFactory, "threadFactory");
        return with(all -> all.threadFactory = threadFactory);
    }

    /**
     * Returns these options with another patience.
     *
     * @param length the interval at which {@code close()} reports the subtasks that delay it, positive
     * @return new options
     * @throws IllegalArgumentException if the length is not positive
     */
    public StructuredScopeOptions withPatience(Duration length) {
        return new StructuredScopeOptions(settings.withPatience("a scope", length));
    }

    /**
     * Returns these options with another sink.
     *
     * @param sink the receiver of exceptions that must not change a subtask, and of reports about subtasks that delay
     *     {@code close()}; called by the owner and by the threads of subtasks
     * @return new options
     */
    public StructuredScopeOptions withExceptionSink(ExceptionSink sink) {
        return with(all -> all.propagation = all.propagation.with(sink));
    }

    /**
     * Returns these options with another time source.
     *
     * @param source the time source for deadlines, ages and patience
     * @return new options
     */
    public StructuredScopeOptions withTimeSource(TimeSource source) {
        return new StructuredScopeOptions(settings.on(source));
    }

    /**
     * Returns these options with one more scoped value that subtasks inherit also in plain threads, which are used if
     * this JDK has no suitable scope. Otherwise the JDK passes on every scoped value.
     * {@link dev.raddle.task.TaskContext} is always passed on.
     *
     * @param value the scoped value to add, which is bound in subtasks as where they are forked
     * @return new options
     */
    public StructuredScopeOptions addScopedValue(ScopedValue<?> value) {
        return with(all -> all.inherited = Draft.added(all.inherited, value, "value"));
    }

    /** Returns these options with plain threads instead of the JDK's own scope. */
    StructuredScopeOptions withPlainThreads() {
        return with(all -> all.plainThreads = true);
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
        return new StructuredScopeOptions(settings.and(listener));
    }

    /**
     * Returns these options with one more propagator, which carries a context from the thread that forks to the
     * subtask.
     *
     * @param propagator the propagator to add
     * @return new options
     */
    public StructuredScopeOptions addPropagator(ContextPropagator propagator) {
        return with(all -> all.propagation = all.propagation.with(propagator));
    }

    @Override
    public String toString() {
        return "StructuredScopeOptions[name=" + settings.name + ", threadFactory=" + settings.threadFactory
                + ", scopedValues=" + settings.inherited + settings.shared();
    }
}
