package dev.raddle.kernel;

import dev.raddle.task.ContextPropagator;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.TaskContext;
import dev.raddle.time.UserCode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What is captured in a submitter for its tasks: the {@link TaskContext}, the contexts of propagators, and scoped
 * values.
 *
 * @param withServices whether to use the propagators that are services, too, before the others
 * @param propagators the propagators; their contexts are installed in this order and closed in reverse
 * @param scopedValues the scoped values that are bound in the task as they were in the submitter
 * @param sink the sink for exceptions of propagators
 */
public record Propagation(
        boolean withServices,
        List<ContextPropagator> propagators,
        List<ScopedValue<?>> scopedValues,
        ExceptionSink sink) {

    /** Copies the lists. */
    public Propagation {
        propagators = List.copyOf(propagators);
        scopedValues = List.copyOf(scopedValues);
    }

    /**
     * Returns a propagation without propagators and scoped values, and with the log as its sink.
     *
     * @param withServices whether to use the propagators that are services
     * @return a new propagation
     */
    public static Propagation plain(boolean withServices) {
        return new Propagation(withServices, List.of(), List.of(), ExceptionSink.logging());
    }

    /**
     * Returns a propagation with one more propagator.
     *
     * @param propagator the propagator to add, whose context is installed after the others
     * @return a changed copy
     */
    public Propagation with(ContextPropagator propagator) {
        return new Propagation(withServices, Draft.added(propagators, propagator, "propagator"), scopedValues, sink);
    }

    /**
     * Returns a propagation with one more scoped value.
     *
     * @param value the scoped value to add
     * @return a changed copy
     */
    public Propagation with(ScopedValue<?> value) {
        return new Propagation(withServices, propagators, Draft.added(scopedValues, value, "value"), sink);
    }

    /**
     * Returns a propagation with another sink.
     *
     * @param other the sink for exceptions of propagators
     * @return a changed copy
     */
    public Propagation with(ExceptionSink other) {
        return new Propagation(withServices, propagators, scopedValues, Objects.requireNonNull(other, "sink"));
    }

    /**
     * Captures the calling thread's context for a task, with the thread's innermost scope as its owner.
     *
     * @param <T> the type of the value
     * @param callable the task's callable
     * @return a callable that calls the given one in the captured context; the given one itself if the context is empty
     */
    public <T> Callable<? extends T> carry(Callable<? extends T> callable) {
        TaskContext context = TaskContext.current();
        return carry(callable, context, EnclosingScope.innermost(context));
    }

    /**
     * Captures the calling thread's context for a task that is submitted inside a scope.
     *
     * @param <T> the type of the value
     * @param callable the task's callable
     * @param context the current task context
     * @param inside the scope, which does not wait for the task, or null
     * @return a callable that calls the given one in the captured context; the given one itself if the context is empty
     */
    public <T> Callable<? extends T> carry(
            Callable<? extends T> callable, TaskContext context, @Nullable EnclosingScope inside) {
        boolean isEmpty = isPlain() && inside == null && context.isEmpty();
        return isEmpty ? callable : capture(context.within(inside)).around(callable);
    }

    /**
     * Captures the calling thread's context.
     *
     * @param context the task context to include; null for calls in which that is bound already
     * @return the captured context
     */
    public CapturedContext capture(@Nullable TaskContext context) {
        ScopedValue.Carrier bindings = bindings(context);
        return bindings == null && !hasPropagators()
                ? CapturedContext.NOTHING
                : new CapturedContext(bindings, captures(), sink);
    }

    /**
     * Returns whether only the task context is captured.
     *
     * @return true if there are no propagators and no scoped values
     */
    public boolean isPlain() {
        return !hasPropagators() && scopedValues.isEmpty();
    }

    /**
     * Returns whether there are propagators.
     *
     * @return false if there are none, and no services if those are used
     */
    public boolean hasPropagators() {
        return !propagators.isEmpty() || !services().isEmpty();
    }

    /**
     * Returns the calling thread's context as texts, from which {@link #restoring} makes it again.
     *
     * @return the texts of all propagators
     */
    public Map<String, String> save() {
        Map<String, String> saved = new HashMap<>();
        for (ContextPropagator propagator : all()) {
            try {
                saved.putAll(Map.copyOf(propagator.save())); // without nulls
            } catch (Throwable failure) {
                sink.report("save() of context propagator " + UserCode.textOf(propagator), failure);
            }
        }
        return Map.copyOf(saved);
    }

    /**
     * Returns a propagation that captures a saved context instead of the calling thread's.
     *
     * @param saved the texts of all propagators
     * @return a changed copy
     */
    public Propagation restoring(Map<String, String> saved) {
        List<ContextPropagator> restored = all().stream()
                .<ContextPropagator>map(each -> new Restored(each, saved))
                .toList();
        return new Propagation(false, restored, scopedValues, sink);
    }

    /** A propagator with the saved context in place of the calling thread's. */
    private record Restored(ContextPropagator of, Map<String, String> saved) implements ContextPropagator {
        @Override
        public Captured capture() {
            return of.restore(saved);
        }

        @Override
        public String toString() {
            return UserCode.textOf(of);
        }
    }

    private List<ContextPropagator> all() {
        return Stream.concat(services().stream(), propagators.stream()).toList();
    }

    private List<ContextPropagator> services() {
        return withServices ? DefaultPropagators.list() : List.of();
    }

    private ScopedValue.@Nullable Carrier bindings(@Nullable TaskContext context) {
        ScopedValue.Carrier bindings =
                context == null || context.isEmpty() ? null : ScopedValue.where(TaskContext.scopedValue(), context);
        for (ScopedValue<?> key : scopedValues) {
            bindings = rebind(bindings, key);
        }
        return bindings;
    }

    private static <V> ScopedValue.@Nullable Carrier rebind(
            ScopedValue.@Nullable Carrier bindings, ScopedValue<V> key) {
        if (!key.isBound()) {
            return bindings;
        }
        return bindings == null ? ScopedValue.where(key, key.get()) : bindings.where(key, key.get());
    }

    private List<ContextPropagator.Captured> captures() {
        List<ContextPropagator> services = services();
        if (services.isEmpty() && propagators.isEmpty()) {
            return List.of();
        }
        List<ContextPropagator.Captured> captured = new ArrayList<>(services.size() + propagators.size());
        capture(services, captured);
        capture(propagators, captured);
        return captured;
    }

    private void capture(List<ContextPropagator> from, List<ContextPropagator.Captured> captured) {
        for (ContextPropagator propagator : from) {
            try {
                captured.add(propagator.capture());
            } catch (Throwable failure) {
                sink.report("capture() of context propagator " + UserCode.textOf(propagator), failure);
            }
        }
    }
}
