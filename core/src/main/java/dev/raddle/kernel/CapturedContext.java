package dev.raddle.kernel;

import dev.raddle.task.ContextPropagator;
import dev.raddle.task.ExceptionSink;
import dev.raddle.time.UserCode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * The context of a submitter, for calls in other threads. Immutable.
 *
 * @param bindings the scoped values, or null if there are none
 * @param captured the contexts of propagators
 * @param sink the sink for exceptions of propagators
 */
public record CapturedContext(
        ScopedValue.@Nullable Carrier bindings, List<ContextPropagator.Captured> captured, ExceptionSink sink) {

    /** A context without contents. */
    public static final CapturedContext NOTHING = new CapturedContext(null, List.of(), ExceptionSink.logging());

    /**
     * Calls an action in this context: binds scoped values, then installs the propagators' contexts in their order.
     * These are closed in reverse order afterwards.
     *
     * @param <T> the type of the value
     * @param action the action, which is called in the calling thread
     * @return the value of the action
     * @throws Exception if the action throws it
     */
    public <T> T call(Callable<? extends T> action) throws Exception {
        Callable<? extends T> installed = captured.isEmpty() ? action : () -> install(action);
        return bindings == null ? installed.call() : bindings.<T, Exception>call(new Operation<>(installed));
    }

    private record Operation<T>(Callable<? extends T> action) implements ScopedValue.CallableOp<T, Exception> {
        @Override
        public T call() throws Exception {
            return action.call();
        }
    }

    /**
     * Returns a callable that calls an action in this context.
     *
     * @param <T> the type of the value
     * @param action the action
     * @return the callable; the action itself if this context is empty
     */
    public <T> Callable<T> around(Callable<T> action) {
        return this == NOTHING ? action : new InContext<>(this, action);
    }

    private record InContext<T>(CapturedContext context, Callable<T> action) implements Callable<T> {
        @Override
        public T call() throws Exception {
            return context.call(action);
        }
    }

    private <T> T install(Callable<? extends T> action) throws Exception {
        List<ContextPropagator.Installed> installed = new ArrayList<>(captured.size());
        for (ContextPropagator.Captured context : captured) {
            try {
                installed.add(context.install());
            } catch (Throwable failure) {
                sink.report("install() of captured context " + UserCode.textOf(context), failure);
            }
        }
        try {
            return action.call();
        } finally {
            restore(installed);
        }
    }

    private void restore(List<ContextPropagator.Installed> installed) {
        for (ContextPropagator.Installed context : installed.reversed()) {
            try {
                context.close();
            } catch (Throwable failure) {
                sink.report("close() of installed context " + UserCode.textOf(context), failure);
            }
        }
    }
}
