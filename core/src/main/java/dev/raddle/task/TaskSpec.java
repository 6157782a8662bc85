package dev.raddle.task;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * A callable and the options of its execution. Immutable; a spec may be submitted any number of times, to any API.
 *
 * {@snippet :
 * TaskSpec<Rank> spec = TaskSpec.named("rank", () -> ranks.of(id))
 *         .priority(TaskPriority.HIGH)
 *         .retry(RetryPolicy.attempts(3))
 *         .timeout(Duration.ofMillis(200));
 * }
 *
 * @param <T> the type of the value
 */
@CheckReturnValue
public final class TaskSpec<T> {

    private final String name;
    private final Callable<? extends T> callable;

    private final @Nullable Integer priority; // null, like the other three, for the default of the API
    private final int cost;
    private final @Nullable Duration queueTimeout;
    private final @Nullable RetryPolicy retry;
    private final @Nullable Duration timeout;

    private TaskSpec(
            String name,
            Callable<? extends T> callable,
            @Nullable Integer priority,
            int cost,
            @Nullable Duration queueTimeout,
            @Nullable RetryPolicy retry,
            @Nullable Duration timeout) {
        this.name = Objects.requireNonNull(name, "name");
        this.callable = Objects.requireNonNull(callable, "callable");
        this.priority = priority;
        this.cost = cost;
        this.queueTimeout = queueTimeout;
        this.retry = retry;
        this.timeout = timeout;
    }

    /**
     * Returns a spec of cost 1 with the defaults of the API for all other options.
     *
     * @param <T> the type of the value
     * @param name the name of the task in results, messages and events
     * @param callable the callable
     * @return a new spec
     */
    public static <T> TaskSpec<T> named(String name, Callable<? extends T> callable) {
        return new TaskSpec<>(name, callable, null, 1, null, null, null);
    }

    /**
     * Returns a spec of a task without a value, of cost 1 with the defaults of the API for all other options.
     *
     * @param name the name of the task in results, messages and events
     * @param action the action
     * @return a new spec
     */
    public static TaskSpec<Void> named(String name, Runnable action) {
        return new TaskSpec<>(name, callable(action), null, 1, null, null, null);
    }

    /**
     * Returns a callable that runs an action and returns null.
     *
     * @param action the action
     * @return the callable
     */
    @SuppressWarnings("NullAway") // Void is null
    public static Callable<Void> callable(Runnable action) {
        Objects.requireNonNull(action, "action");
        return () -> {
            action.run();
            return null;
        };
    }

    /**
     * Returns this spec with another priority.
     *
     * @param rank the priority, any number; of the waiting tasks those of a higher priority run first, equal ones in
     *     order of arrival
     * @return a new spec
     */
    public TaskSpec<T> priority(int rank) {
        return new TaskSpec<>(name, callable, rank, cost, queueTimeout, retry, timeout);
    }

    /**
     * Returns this spec with another priority.
     *
     * @param priority the priority
     * @return a new spec
     */
    public TaskSpec<T> priority(TaskPriority priority) {
        return priority(priority.rank());
    }

    /**
     * Returns this spec with another cost. A group takes that many slots for the task, of the group and of the global
     * cap, all at once; if the cost exceeds a limit, the task takes all slots of that limit. It takes as many permits
     * of a permit source as slots, and the whole cost of the rates of its group and of all groups: if that exceeds a
     * burst, the task starts when a whole burst could, and delays the tasks after it. Scopes ignore the cost.
     *
     * @param slots the cost, at least 1
     * @return a new spec
     * @throws IllegalArgumentException if the cost is less than 1
     */
    public TaskSpec<T> cost(int slots) {
        if (slots < 1) {
            throw new IllegalArgumentException("cost of task \"" + name + "\" must be at least 1, was " + slots);
        }
        return new TaskSpec<>(name, callable, priority, slots, queueTimeout, retry, timeout);
    }

    /**
     * Returns this spec with a maximum time to wait for admission to a group. Scopes ignore it.
     *
     * @param longest the maximum time, not negative
     * @return a new spec
     * @throws IllegalArgumentException if the time is negative
     */
    public TaskSpec<T> queueTimeout(Duration longest) {
        if (longest.isNegative()) {
            throw new IllegalArgumentException(
                    "queueTimeout of task \"" + name + "\" must not be negative, was " + longest);
        }
        return new TaskSpec<>(name, callable, priority, cost, longest, retry, timeout);
    }

    /**
     * Returns this spec with another retry policy. The task keeps its slots between attempts.
     *
     * @param policy the retry policy
     * @return a new spec
     */
    public TaskSpec<T> retry(RetryPolicy policy) {
        Objects.requireNonNull(policy, "retry");
        return new TaskSpec<>(name, callable, priority, cost, queueTimeout, policy, timeout);
    }

    /**
     * Returns this spec with a timeout, which spans the time from the submission to the end, waiting and all attempts
     * included. When it passes, the task fails with a {@link TaskTimeoutException}; a waiting task leaves the queue,
     * and a running one is interrupted.
     *
     * @param longest the timeout, positive
     * @return a new spec
     * @throws IllegalArgumentException if the timeout is not positive
     */
    public TaskSpec<T> timeout(Duration longest) {
        if (!longest.isPositive()) {
            throw new IllegalArgumentException("timeout of task \"" + name + "\" must be positive, was " + longest);
        }
        return new TaskSpec<>(name, callable, priority, cost, queueTimeout, retry, longest);
    }

    /**
     * Returns the name.
     *
     * @return the name of the task
     */
    public String name() {
        return name;
    }

    /**
     * Returns the callable.
     *
     * @return the callable, which may be called any number of times
     */
    public Callable<? extends T> callable() {
        return callable;
    }

    /**
     * Returns the priority.
     *
     * @param otherwise the default if this spec has none
     * @return the priority
     */
    public int priorityOr(int otherwise) {
        return priority == null ? otherwise : priority;
    }

    /**
     * Returns the cost.
     *
     * @return the number of slots, at least 1
     */
    public int cost() {
        return cost;
    }

    /**
     * Returns the queue timeout.
     *
     * @return the maximum time to wait for admission; null for the default of the API
     */
    public @Nullable Duration queueTimeout() {
        return queueTimeout;
    }

    /**
     * Returns the retry policy.
     *
     * @return the retry policy; null for the default of the API
     */
    public @Nullable RetryPolicy retry() {
        return retry;
    }

    /**
     * Returns the timeout.
     *
     * @return the maximum time from the submission to the end; null for no timeout of its own
     */
    public @Nullable Duration timeout() {
        return timeout;
    }

    private List<@Nullable Object> values() {
        return Arrays.asList(name, callable, priority, cost, queueTimeout, retry, timeout);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof TaskSpec<?> spec && values().equals(spec.values());
    }

    @Override
    public int hashCode() {
        return values().hashCode();
    }

    @Override
    public String toString() {
        return "TaskSpec[name=" + name + ", callable=" + callable + ", priority=" + priority + ", cost=" + cost
                + ", queueTimeout=" + queueTimeout + ", retry=" + retry + ", timeout=" + timeout + "]";
    }
}
