package dev.raddle.task;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * Values that a task sees as they were when it was submitted: a tenant, a request id, a locale. Immutable; a new value makes
 * a new context, which is in force while an action runs and no longer.
 *
 * {@snippet :
 * static final TaskContext.Key<String> TENANT = TaskContext.Key.named("tenant");
 *
 * TaskContext.current().with(TENANT, "a").run(() -> executor.submit("a", "t1", () -> TaskContext.current().get(TENANT)));
 * }
 *
 * <p>It travels from a submitter into its tasks and nowhere else: not into other threads, and not from one task to the next
 * that runs on the same thread. With nothing set and no propagator registered, carrying it costs nothing.
 */
public final class TaskContext {

    /**
     * Names a value of a context. Two keys are the same only if they are the same object.
     *
     * @param <T> the type of the value
     */
    public static final class Key<T> {
        private final String name;

        private Key(String name) {
            this.name = name;
        }

        /**
         * Creates a key.
         *
         * @param <T> the type of the value
         * @param name for people
         * @return a new key, unlike every other
         */
        public static <T> Key<T> named(String name) {
            return new Key<>(Objects.requireNonNull(name, "name"));
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private static final TaskContext EMPTY = new TaskContext(Map.of());
    private static final ScopedValue<TaskContext> CURRENT = ScopedValue.newInstance();

    private final Map<Key<?>, Object> values;

    private TaskContext(Map<Key<?>, Object> values) {
        this.values = values;
    }

    /**
     * Returns the context in force in the calling thread.
     *
     * @return the innermost one, or the empty one
     */
    public static TaskContext current() {
        return CURRENT.orElse(EMPTY);
    }

    /**
     * Returns a value.
     *
     * @param <T> its type
     * @param key its name
     * @return the value, or null if this context has none
     */
    @SuppressWarnings("unchecked") // with() puts a T under a Key<T>
    public <T> @Nullable T get(Key<T> key) {
        return (T) values.get(key);
    }

    /**
     * Returns this context with one more, or another, value.
     *
     * @param <T> its type
     * @param key its name
     * @param value the value
     * @return a new context
     */
    public <T> TaskContext with(Key<T> key, T value) {
        Map<Key<?>, Object> copy = new HashMap<>(values);
        copy.put(Objects.requireNonNull(key, "key"), Objects.requireNonNull(value, "value"));
        return new TaskContext(copy);
    }

    /**
     * Runs an action with this context in force.
     *
     * @param action what to run, in the calling thread
     */
    public void run(Runnable action) {
        ScopedValue.where(CURRENT, this).run(action);
    }

    /**
     * Calls an action with this context in force.
     *
     * @param <T> the type of the value
     * @param action what to call, in the calling thread
     * @return what it returned
     * @throws Exception what it threw
     */
    public <T> T call(Callable<? extends T> action) throws Exception {
        return ScopedValue.where(CURRENT, this).<T, Exception>call(action::call);
    }

    /**
     * Captures the calling thread's context for a task.
     *
     * @param <T> the type of the value
     * @param callable the task's callable
     * @param propagators carry further contexts; installed in this order, restored in the reverse
     * @param sink hears of propagators that throw
     * @return a callable that calls the given one in the captured context; the given one itself if there is none
     */
    public static <T> Callable<? extends T> carry(
            Callable<? extends T> callable, List<ContextPropagator> propagators, ExceptionSink sink) {
        TaskContext context = current();
        Callable<? extends T> carried = propagators.isEmpty() ? callable : propagate(callable, propagators, sink);
        return context.values.isEmpty() ? carried : () -> context.call(carried);
    }

    private static <T> Callable<? extends T> propagate(
            Callable<? extends T> callable, List<ContextPropagator> propagators, ExceptionSink sink) {
        List<ContextPropagator.Captured> captured = new ArrayList<>(propagators.size());
        for (ContextPropagator propagator : propagators) {
            try {
                captured.add(propagator.capture());
            } catch (Throwable failure) {
                sink.report("capture() of context propagator " + propagator, failure);
            }
        }
        return () -> {
            List<ContextPropagator.Installed> installed = install(captured, sink);
            try {
                return callable.call();
            } finally {
                restore(installed, sink);
            }
        };
    }

    private static List<ContextPropagator.Installed> install(
            List<ContextPropagator.Captured> captured, ExceptionSink sink) {
        List<ContextPropagator.Installed> installed = new ArrayList<>(captured.size());
        for (ContextPropagator.Captured context : captured) {
            try {
                installed.add(context.install());
            } catch (Throwable failure) {
                sink.report("install() of captured context " + context, failure);
            }
        }
        return installed;
    }

    private static void restore(List<ContextPropagator.Installed> installed, ExceptionSink sink) {
        for (ContextPropagator.Installed context : installed.reversed()) {
            try {
                context.close();
            } catch (Throwable failure) {
                sink.report("close() of installed context " + context, failure);
            }
        }
    }

    @Override
    public String toString() {
        return "task context " + values;
    }
}
