package dev.raddle.task;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * The plan of one task: what to call and how. Immutable; the same spec may be submitted any number of times.
 *
 * {@snippet :
 * TaskSpec<Rank> spec = TaskSpec.named("rank", () -> ranks.of(id)).priority(5).queueTimeout(Duration.ofMillis(200));
 * }
 *
 * @param <T> the type of the value
 * @param name what the task is called in results, messages and events
 * @param callable what to call
 * @param priority its rank among the tasks that wait with it: the higher goes first
 * @param cost how many slots it takes, at least 1
 * @param queueTimeout how long it may wait to be admitted, or null if that is for others to decide
 */
public record TaskSpec<T>(
        String name,
        Callable<? extends T> callable,
        int priority,
        int cost,
        @Nullable Duration queueTimeout) {

    /**
     * Checks the components.
     *
     * @throws IllegalArgumentException if the cost is less than 1 or the queue timeout is negative
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
    }

    /**
     * Returns the plan of a task with priority 0, cost 1 and no queue timeout of its own.
     *
     * @param <T> the type of the value
     * @param name what the task is called
     * @param callable what to call
     * @return the spec
     */
    public static <T> TaskSpec<T> named(String name, Callable<? extends T> callable) {
        return new TaskSpec<>(name, callable, 0, 1, null);
    }

    /**
     * Returns this plan with another priority.
     *
     * @param rank any number; the higher goes first
     * @return a new spec
     */
    public TaskSpec<T> priority(int rank) {
        return new TaskSpec<>(name, callable, rank, cost, queueTimeout);
    }

    /**
     * Returns this plan with another cost.
     *
     * @param slots at least 1
     * @return a new spec
     * @throws IllegalArgumentException if it is less than 1
     */
    public TaskSpec<T> cost(int slots) {
        return new TaskSpec<>(name, callable, priority, slots, queueTimeout);
    }

    /**
     * Returns this plan with a bound on the time it may wait to be admitted.
     *
     * @param longest not negative
     * @return a new spec
     * @throws IllegalArgumentException if it is negative
     */
    public TaskSpec<T> queueTimeout(Duration longest) {
        return new TaskSpec<>(name, callable, priority, cost, Objects.requireNonNull(longest, "queueTimeout"));
    }
}
