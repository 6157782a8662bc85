package dev.raddle.task;

import dev.raddle.time.Deadline;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * The context of a task: values such as a tenant, a request id or a locale, as they were when the task was submitted.
 * Immutable: setting a value creates a new context. A context is current only while {@link #run} or {@link #call} runs.
 *
 * {@snippet :
 * static final TaskContext.Key<String> TENANT = TaskContext.Key.named("tenant");
 *
 * TaskContext.current()
 *         .with(TENANT, "a")
 *         .run(() -> executor.submit("a", "t1", () -> TaskContext.current().get(TENANT)));
 * }
 *
 * <p>A context is passed from a submitter to its tasks only: not to other threads, and not to the next task that runs
 * on the same thread. If no value is set and no propagator is registered, this costs nothing.
 */
public final class TaskContext {

    /**
     * The key of a value. Keys are compared by identity.
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
         * @param name the name, for messages
         * @return a new key, which is not equal to any other
         */
        public static <T> Key<T> named(String name) {
            return new Key<>(Objects.requireNonNull(name, "name"));
        }

        @Override
        public String toString() {
            return name;
        }
    }

    /**
     * The scope or flow run to which a context belongs. Its deadline applies to everything that is submitted inside it.
     * Only Raddle implements this interface.
     */
    public interface Owner {
        /**
         * Returns the deadline, at which everything inside this owner is cancelled.
         *
         * @return the deadline, or null if there is none
         */
        @Nullable
        Deadline deadline();

        /**
         * Returns the label of this owner in messages.
         *
         * @return the label, such as {@code scope "checkout"}
         */
        String label();
    }

    private static final TaskContext EMPTY = new TaskContext(Map.of(), null, false);
    private static final ScopedValue<TaskContext> CURRENT = ScopedValue.newInstance();

    private final Map<Key<?>, Object> values;
    private final @Nullable Owner owner;
    private final boolean member; // whether the owner waits for the task

    private TaskContext(Map<Key<?>, Object> values, @Nullable Owner owner, boolean member) {
        this.values = values;
        this.owner = owner;
        this.member = member;
    }

    /**
     * Returns the current context of the calling thread.
     *
     * @return the innermost context, or the empty context
     */
    public static TaskContext current() {
        return CURRENT.orElse(EMPTY);
    }

    /**
     * Returns a value.
     *
     * @param <T> the type of the value
     * @param key the key
     * @return the value, or null if this context has none
     */
    @SuppressWarnings("unchecked") // with() puts a T under a Key<T>
    public <T> @Nullable T get(Key<T> key) {
        return (T) values.get(key);
    }

    /**
     * Returns a copy of this context with a value added or replaced.
     *
     * @param <T> the type of the value
     * @param key the key
     * @param value the value
     * @return a new context
     */
    public <T> TaskContext with(Key<T> key, T value) {
        Map<Key<?>, Object> copy = new HashMap<>(values);
        copy.put(Objects.requireNonNull(key, "key"), Objects.requireNonNull(value, "value"));
        return new TaskContext(copy, owner, member);
    }

    /**
     * Returns the scope or flow run in which the task of this context was submitted.
     *
     * @return the owner, or null if there is none
     */
    public @Nullable Owner owner() {
        return owner;
    }

    /**
     * Returns whether the owner waits for the task of this context before it ends.
     *
     * @return false if the task was submitted inside the owner to another API, such as a group, or if there is no owner
     */
    public boolean isMember() {
        return member;
    }

    /**
     * Returns this context for a task that is submitted inside an owner which does not wait for it.
     *
     * @param inside the owner, whose deadline applies to the task, or null
     * @return this context if it has that owner already, otherwise a new one
     */
    public TaskContext within(@Nullable Owner inside) {
        return inside == owner && !member ? this : new TaskContext(values, inside, false);
    }

    /**
     * Returns this context for a task that its owner waits for. Scopes that the task opens are nested in the owner.
     *
     * @param waiting the owner
     * @return this context if it is for such a task already, otherwise a new one
     */
    public TaskContext ofTask(Owner waiting) {
        return waiting == owner && member ? this : new TaskContext(values, waiting, true);
    }

    /**
     * Returns the scoped value that holds the current context, for a thread container that binds it itself.
     *
     * @return the scoped value, always the same object
     */
    public static ScopedValue<TaskContext> scopedValue() {
        return CURRENT;
    }

    /**
     * Returns whether this context has neither values nor an owner, so that it need not be passed to tasks.
     *
     * @return true if there are no values and no owner
     */
    public boolean isEmpty() {
        return values.isEmpty() && owner == null;
    }

    /**
     * Runs an action with this context as the current one.
     *
     * @param action the action, run in the calling thread
     */
    public void run(Runnable action) {
        ScopedValue.where(CURRENT, this).run(action);
    }

    /**
     * Calls an action with this context as the current one.
     *
     * @param <T> the type of the value
     * @param action the action, called in the calling thread
     * @return the value of the action
     * @throws Exception if the action throws
     */
    public <T> T call(Callable<? extends T> action) throws Exception {
        return ScopedValue.where(CURRENT, this).<T, Exception>call(action::call);
    }

    @Override
    public String toString() {
        return "task context " + values;
    }
}
