package dev.raddle.task;

import java.util.HashMap;
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

    private static final TaskContext EMPTY = new TaskContext(Map.of(), null, false);
    private static final ScopedValue<TaskContext> CURRENT = ScopedValue.newInstance();

    private final Map<Key<?>, Object> values;
    private final @Nullable Enclosure enclosure;
    private final boolean member; // whether the enclosure waits for the task

    private TaskContext(Map<Key<?>, Object> values, @Nullable Enclosure enclosure, boolean member) {
        this.values = values;
        this.enclosure = enclosure;
        this.member = member;
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
        return new TaskContext(copy, enclosure, member);
    }

    /**
     * Returns the enclosure of the task that this context belongs to.
     *
     * @return what the task is inside of, or null
     */
    @Nullable
    Enclosure enclosure() {
        return enclosure;
    }

    /**
     * Returns whether the task that this context belongs to is one of its enclosure's own, which the enclosure waits for.
     *
     * @return false if the task was only submitted inside the enclosure, or there is none
     */
    boolean isMember() {
        return member;
    }

    /**
     * Returns this context inside an enclosure, for a task that is submitted there and that the enclosure does not wait for.
     *
     * @param inside the enclosure whose time bounds the task, or null
     * @return this context if it says so already, else a new one
     */
    public TaskContext within(@Nullable Enclosure inside) {
        return inside == enclosure && !member ? this : new TaskContext(values, inside, false);
    }

    /**
     * Returns this context for a task of an enclosure's own: the enclosure ends no earlier than the task, so what the task
     * opens is nested in the enclosure.
     *
     * @param owner the enclosure that waits for the task
     * @return this context if it says so already, else a new one
     */
    public TaskContext ofTask(Enclosure owner) {
        return owner == enclosure && member ? this : new TaskContext(values, owner, true);
    }

    /**
     * Returns the scoped value through which contexts travel, for doors that rebind it themselves in threads of their own.
     *
     * @return the same key at every call
     */
    public static ScopedValue<TaskContext> scopedValue() {
        return CURRENT;
    }

    boolean isEmpty() {
        return values.isEmpty() && enclosure == null;
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

    @Override
    public String toString() {
        return "task context " + values;
    }
}
