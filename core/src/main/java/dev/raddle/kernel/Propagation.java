package dev.raddle.kernel;

import dev.raddle.task.ContextPropagator;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.TaskContext;
import dev.raddle.time.UserCode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * What is captured in a submitter for its tasks: the {@link TaskContext}, the contexts of propagators, and scoped
 * values.
 *
 * @param propagators the propagators; their contexts are installed in this order and closed in reverse
 * @param scopedValues the scoped values that are bound in the task as they were in the submitter
 * @param sink the sink for exceptions of propagators
 */
public record Propagation(List<ContextPropagator> propagators, List<ScopedValue<?>> scopedValues, ExceptionSink sink) {

    /** Copies the lists. */
    public Propagation {
        propagators = List.copyOf(propagators);
        scopedValues = List.copyOf(scopedValues);
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
        return bindings == null && propagators.isEmpty()
                ? CapturedContext.NOTHING
                : new CapturedContext(bindings, captures(), sink);
    }

    /**
     * Returns whether only the task context is captured.
     *
     * @return true if there are no propagators and no scoped values
     */
    public boolean isPlain() {
        return propagators.isEmpty() && scopedValues.isEmpty();
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
        if (propagators.isEmpty()) {
            return List.of();
        }
        List<ContextPropagator.Captured> captured = new ArrayList<>(propagators.size());
        for (ContextPropagator propagator : propagators) {
            try {
                captured.add(propagator.capture());
            } catch (Throwable failure) {
                sink.report("capture() of context propagator " + UserCode.textOf(propagator), failure);
            }
        }
        return captured;
    }
}
