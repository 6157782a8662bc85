package dev.raddle.task;

import dev.raddle.time.Deadline;
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

    /**
     * The scope, or the run of a flow, in which a context is in force. It bounds the time of everything that is submitted
     * inside it. Only Raddle implements this.
     */
    public interface Owner {
        /**
         * Returns the moment at which everything inside is cancelled.
         *
         * @return the moment, or null if there is none
         */
        @Nullable
        Deadline deadline();

        /**
         * Returns what this is called in messages.
         *
         * @return a text such as {@code scope "checkout"}
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
        return new TaskContext(copy, owner, member);
    }

    /**
     * Returns the scope or the run of a flow that the task of this context was submitted in.
     *
     * @return the owner, or null if there is none
     */
    public @Nullable Owner owner() {
        return owner;
    }

    /**
     * Returns whether the owner waits for the task of this context before it ends.
     *
     * @return false if the task was submitted inside the owner to something else, such as a group, or if there is no owner
     */
    public boolean isMember() {
        return member;
    }

    /**
     * Returns this context for a task that is submitted inside an owner which does not wait for it.
     *
     * @param inside the owner, whose deadline bounds the task, or null
     * @return this context if it is the same, else a new one
     */
    public TaskContext within(@Nullable Owner inside) {
        return inside == owner && !member ? this : new TaskContext(values, inside, false);
    }

    /**
     * Returns this context for a task that its owner waits for. What the task opens is nested in the owner.
     *
     * @param waiting the owner
     * @return this context if it is the same, else a new one
     */
    public TaskContext ofTask(Owner waiting) {
        return waiting == owner && member ? this : new TaskContext(values, waiting, true);
    }

    /**
     * Returns the scoped value through which contexts travel, for a thread container that binds it itself.
     *
     * @return the same key at every call
     */
    public static ScopedValue<TaskContext> scopedValue() {
        return CURRENT;
    }

    /**
     * Returns whether this context has neither values nor an owner, so that there is nothing to carry.
     *
     * @return true for the context of a thread that has set nothing
     */
    public boolean isEmpty() {
        return values.isEmpty() && owner == null;
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
