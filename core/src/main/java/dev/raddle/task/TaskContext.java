package dev.raddle.task;

import dev.raddle.time.Deadline;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
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

    private static final TaskContext EMPTY = new TaskContext(Map.of(), null, false, null);
    private static final ScopedValue<TaskContext> CURRENT = ScopedValue.newInstance();

    /** The fencing number of the task that the thread runs; bound outside of the contexts that this task installs. */
    private static final ScopedValue<Long> FENCE = ScopedValue.newInstance();

    private final Map<Key<?>, Object> values;
    private final @Nullable Owner owner;
    private final boolean member; // whether the owner waits for the task
    private final @Nullable Long fence; // of the submitter

    private TaskContext(Map<Key<?>, Object> values, @Nullable Owner owner, boolean member, @Nullable Long fence) {
        this.values = values;
        this.owner = owner;
        this.member = member;
        this.fence = fence;
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
    @CheckReturnValue
    public <T> TaskContext with(Key<T> key, T value) {
        Map<Key<?>, Object> copy = new HashMap<>(values);
        copy.put(Objects.requireNonNull(key, "key"), Objects.requireNonNull(value, "value"));
        return new TaskContext(copy, owner, member, fence);
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
    @CheckReturnValue
    public TaskContext within(@Nullable Owner inside) {
        return inside == owner && !member ? this : new TaskContext(values, inside, false, fence);
    }

    /**
     * Returns this context for a task that its owner waits for. Scopes that the task opens are nested in the owner.
     *
     * @param waiting the owner
     * @return this context if it is for such a task already, otherwise a new one
     */
    @CheckReturnValue
    public TaskContext ofTask(Owner waiting) {
        return waiting == owner && member ? this : new TaskContext(values, waiting, true, fence);
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
     * Returns whether this context has neither values nor an owner nor a fencing number, so that it need not be passed
     * to tasks.
     *
     * @return true if there is nothing to pass
     */
    public boolean isEmpty() {
        return values.isEmpty() && owner == null && fence == null;
    }

    /**
     * Returns the fencing number of the permit with which the calling task runs, if it runs in a group whose permits
     * come from a permit source. A resource that refuses numbers smaller than the largest one that it has seen is
     * protected from tasks that go on after their permits were lost. A task with several permits has the largest of
     * their numbers. The number is that of the grant, also after the permit was lost.
     *
     * {@snippet :
     * long fence = TaskContext.current().fence().orElseThrow();
     * update("UPDATE report SET text = ?, fence = ? WHERE id = ? AND fence <= ?", text, fence, id, fence);
     * }
     *
     * <p>Tasks that the calling task submits or forks have its number, too, unless they run with a permit of their own.
     * A task that was placed in such a group by a scope or flow has the number, but does not pass it on.
     *
     * @return the number; empty outside of such tasks
     */
    public OptionalLong fence() {
        Long own = FENCE.isBound() ? FENCE.get() : fence;
        return own == null ? OptionalLong.empty() : OptionalLong.of(own);
    }

    /**
     * Calls the callable of a task that runs with a permit of a permit source. Only Raddle calls this method.
     *
     * @param <T> the type of the value
     * @param fence the fencing number of the permit
     * @param action the action, called in the calling thread
     * @return the value of the action
     * @throws Exception if the action throws
     */
    public static <T> T callWithFence(long fence, Callable<? extends T> action) throws Exception {
        return ScopedValue.where(FENCE, fence)
                .where(CURRENT, current().withFence(fence))
                .<T, Exception>call(action::call);
    }

    /**
     * Returns a callable that calls an action in the current context, with the fencing number of the task that calls
     * it. It is called inside {@link #callWithFence} and a context that was captured before. Only Raddle calls this
     * method.
     *
     * @param <T> the type of the value
     * @param action the action
     * @return the callable
     */
    public static <T> Callable<T> withOwnFence(Callable<? extends T> action) {
        return () -> FENCE.isBound() ? current().withFence(FENCE.get()).call(action) : action.call();
    }

    private TaskContext withFence(long number) {
        return new TaskContext(values, owner, member, number);
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
