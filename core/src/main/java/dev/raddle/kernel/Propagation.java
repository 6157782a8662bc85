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
 * What a door carries from a submitter into its tasks: the {@link TaskContext}, further contexts, and scoped values.
 *
 * @param propagators carry further contexts; installed in this order, restored in the reverse
 * @param scopedValues are bound in the task as they were bound in the submitter
 * @param sink hears of propagators that throw
 */
public record Propagation(List<ContextPropagator> propagators, List<ScopedValue<?>> scopedValues, ExceptionSink sink) {

    /** Copies the lists. */
    public Propagation {
        propagators = List.copyOf(propagators);
        scopedValues = List.copyOf(scopedValues);
    }

    /**
     * Captures the calling thread's context for a task, and what the thread is inside of.
     *
     * @param <T> the type of the value
     * @param callable the task's callable
     * @return a callable that calls the given one in the captured context; the given one itself if there is nothing to
     *     carry
     */
    public <T> Callable<? extends T> carry(Callable<? extends T> callable) {
        return carry(callable, TaskContext.current().within(EnclosingScope.innermost()));
    }

    /**
     * Captures the calling thread's context for a task.
     *
     * @param <T> the type of the value
     * @param callable the task's callable
     * @param context the task context that the task shall see
     * @return a callable that calls the given one in that context; the given one itself if there is nothing to carry
     */
    public <T> Callable<? extends T> carry(Callable<? extends T> callable, TaskContext context) {
        return capture(context).around(callable);
    }

    /**
     * Captures the calling thread's context.
     *
     * @param context the task context that goes with it
     * @return the context, to be put in force around calls
     */
    public CapturedContext capture(TaskContext context) {
        ScopedValue.Carrier bindings = bindings(context);
        return bindings == null && propagators.isEmpty()
                ? CapturedContext.NOTHING
                : new CapturedContext(bindings, captures(), sink);
    }

    /**
     * Captures the calling thread's context but for the task context, which is in force already wherever the rest will
     * be.
     *
     * @return the context, to be put in force around calls
     */
    public CapturedContext captureWithoutTaskContext() {
        ScopedValue.Carrier bindings = bindings(null);
        return bindings == null && propagators.isEmpty()
                ? CapturedContext.NOTHING
                : new CapturedContext(bindings, captures(), sink);
    }

    /**
     * Tells whether what is captured depends on the task context alone.
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
