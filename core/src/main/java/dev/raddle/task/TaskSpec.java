package dev.raddle.task;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * The plan of one task: what to call and how. Immutable; the same spec may be submitted any number of times, to any door.
 *
 * {@snippet :
 * TaskSpec<Rank> spec = TaskSpec.named("rank", () -> ranks.of(id))
 *         .priority(TaskPriority.HIGH)
 *         .retry(RetryPolicy.attempts(3))
 *         .timeout(Duration.ofMillis(200));
 * }
 *
 * @param <T> the type of the value
 * @param name what the task is called in results, messages and events
 * @param callable what to call
 * @param priority its rank among the tasks that wait with it: the higher goes first; null if that is for the door to say
 * @param cost how many slots it takes, at least 1
 * @param queueTimeout how long it may wait to be admitted, or null if that is for the door to say
 * @param retry how often it is tried, or null if that is for the door to say
 * @param timeout how long it may take from its submission on, with all its attempts, or null if there is no limit of its own
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
     * Checks the components.
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
     * Returns the plan of a task of cost 1 that leaves everything else to the door.
     *
     * @param <T> the type of the value
     * @param name what the task is called
     * @param callable what to call
     * @return the spec
     */
    public static <T> TaskSpec<T> named(String name, Callable<? extends T> callable) {
        return new TaskSpec<>(name, callable, null, 1, null, null, null);
    }

    /**
     * Returns the priority, or that of a door whose task says nothing.
     *
     * @param otherwise what holds if {@link #priority()} is null
     * @return a rank
     */
    public int priorityOr(int otherwise) {
        return priority == null ? otherwise : priority;
    }

    /**
     * Returns this plan with another priority.
     *
     * @param rank any number; the higher goes first
     * @return a new spec
     */
    public TaskSpec<T> priority(int rank) {
        return new TaskSpec<>(name, callable, rank, cost, queueTimeout, retry, timeout);
    }

    /**
     * Returns this plan with another priority.
     *
     * @param priority how urgent the task is
     * @return a new spec
     */
    public TaskSpec<T> priority(TaskPriority priority) {
        return priority(priority.rank());
    }

    /**
     * Returns this plan with another cost.
     *
     * @param slots at least 1
     * @return a new spec
     * @throws IllegalArgumentException if it is less than 1
     */
    public TaskSpec<T> cost(int slots) {
        return new TaskSpec<>(name, callable, priority, slots, queueTimeout, retry, timeout);
    }

    /**
     * Returns this plan with a bound on the time it may wait to be admitted.
     *
     * @param longest not negative
     * @return a new spec
     * @throws IllegalArgumentException if it is negative
     */
    public TaskSpec<T> queueTimeout(Duration longest) {
        Objects.requireNonNull(longest, "queueTimeout");
        return new TaskSpec<>(name, callable, priority, cost, longest, retry, timeout);
    }

    /**
     * Returns this plan with another retry policy.
     *
     * @param policy how often the task is tried
     * @return a new spec
     */
    public TaskSpec<T> retry(RetryPolicy policy) {
        Objects.requireNonNull(policy, "retry");
        return new TaskSpec<>(name, callable, priority, cost, queueTimeout, policy, timeout);
    }

    /**
     * Returns this plan with a bound on the time from the submission to the end. When it is over, the task has failed with a
     * {@link TaskTimeoutException}, and if it runs, its thread is interrupted.
     *
     * @param longest positive
     * @return a new spec
     * @throws IllegalArgumentException if it is not positive
     */
    public TaskSpec<T> timeout(Duration longest) {
        Objects.requireNonNull(longest, "timeout");
        return new TaskSpec<>(name, callable, priority, cost, queueTimeout, retry, longest);
    }
}
