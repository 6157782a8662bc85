package dev.raddle.task;

import java.time.Duration;
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
 * @param name the name of the task in results, messages and events
 * @param callable the callable
 * @param priority the priority among the waiting tasks, of which higher ones run first; null for the default of the API
 * @param cost the number of slots that the task takes while it runs, at least 1
 * @param queueTimeout the maximum time to wait for admission; null for the default of the API
 * @param retry the retry policy; null for the default of the API
 * @param timeout the maximum time from the submission to the end, including all attempts; null for no timeout of its
 *     own
 */
public record TaskSpec<T>(
        String name,
        Callable<? extends T> callable,
        @Nullable Integer priority,
        int cost,
        @Nullable Duration queueTimeout,
        @Nullable RetryPolicy retry,
        @Nullable Duration timeout) {

    /**
     * Creates a spec.
     *
     * @throws IllegalArgumentException if the cost is less than 1, the queue timeout is negative, or the timeout is not
     *     positive
     */
    public TaskSpec {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(callable, "callable");
        if (cost < 1) {
            throw new IllegalArgumentException("cost of task \"" + name + "\" must be at least 1, was " + cost);
        }
        if (queueTimeout != null && queueTimeout.isNegative()) {
            throw new IllegalArgumentException(
                    "queueTimeout of task \"" + name + "\" must not be negative, was " + queueTimeout);
        }
        if (timeout != null && !timeout.isPositive()) {
            throw new IllegalArgumentException("timeout of task \"" + name + "\" must be positive, was " + timeout);
        }
    }

    /**
     * Returns a spec of cost 1 with the defaults of the API for all other options.
     *
     * @param <T> the type of the value
     * @param name the name of the task
     * @param callable the callable
     * @return a new spec
     */
    public static <T> TaskSpec<T> named(String name, Callable<? extends T> callable) {
        return new TaskSpec<>(name, callable, null, 1, null, null, null);
    }

    /**
     * Returns the priority, or a default if this spec has none.
     *
     * @param otherwise the default if {@link #priority()} is null
     * @return the priority
     */
    public int priorityOr(int otherwise) {
        return priority == null ? otherwise : priority;
    }

    /**
     * Returns this spec with another priority.
     *
     * @param rank the priority; tasks of a higher priority run first
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
     * Returns this spec with another cost.
     *
     * @param slots the number of slots that the task takes while it runs, at least 1
     * @return a new spec
     * @throws IllegalArgumentException if the cost is less than 1
     */
    public TaskSpec<T> cost(int slots) {
        return new TaskSpec<>(name, callable, priority, slots, queueTimeout, retry, timeout);
    }

    /**
     * Returns this spec with a maximum time to wait for admission.
     *
     * @param longest the maximum time, not negative
     * @return a new spec
     * @throws IllegalArgumentException if the time is negative
     */
    public TaskSpec<T> queueTimeout(Duration longest) {
        Objects.requireNonNull(longest, "queueTimeout");
        return new TaskSpec<>(name, callable, priority, cost, longest, retry, timeout);
    }

    /**
     * Returns this spec with another retry policy.
     *
     * @param policy the retry policy
     * @return a new spec
     */
    public TaskSpec<T> retry(RetryPolicy policy) {
        Objects.requireNonNull(policy, "retry");
        return new TaskSpec<>(name, callable, priority, cost, queueTimeout, policy, timeout);
    }

    /**
     * Returns this spec with a timeout, which spans the time from the submission to the end. A task that exceeds it
     * fails with a {@link TaskTimeoutException}, and if it is running, its thread is interrupted.
     *
     * @param longest the timeout, positive
     * @return a new spec
     * @throws IllegalArgumentException if the timeout is not positive
     */
    public TaskSpec<T> timeout(Duration longest) {
        Objects.requireNonNull(longest, "timeout");
        return new TaskSpec<>(name, callable, priority, cost, queueTimeout, retry, longest);
    }
}
