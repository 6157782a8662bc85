package dev.raddle.group;

import dev.raddle.task.RetryPolicy;
import dev.raddle.task.TaskSpec;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * How one task is to be treated unlike the others of its group.
 *
 * {@snippet :
 * executor.submit("reports", "r1", task, TaskOptions.defaults().priority(5).cost(2));
 * }
 *
 * @param priority its rank among the waiting tasks of its group: the higher goes first, equal ones in order of arrival
 * @param cost how many slots it takes, of the group and of the global cap, all at once; one that asks for more than there are
 *     takes all there are
 * @param queueTimeout how long it may wait, or null if the policy's queue timeout holds
 * @param retry how often it is tried, or null for once; it keeps its slots between attempts
 * @param timeout how long it may take from its submission on, waiting and all attempts included, or null for no limit
 */
public record TaskOptions(
        int priority,
        int cost,
        @Nullable Duration queueTimeout,
        @Nullable RetryPolicy retry,
        @Nullable Duration timeout) {

    private static final TaskOptions DEFAULTS = new TaskOptions(0, 1, null);

    /**
     * Checks the components.
     *
     * @throws IllegalArgumentException if the cost is less than 1, the queue timeout is negative, or the timeout is not
     *     positive
     */
    public TaskOptions {
        if (cost < 1) {
            throw new IllegalArgumentException("cost must be at least 1, was " + cost);
        }
        if (queueTimeout != null && queueTimeout.isNegative()) {
            throw new IllegalArgumentException("queueTimeout must not be negative, was " + queueTimeout);
        }
        if (timeout != null && !timeout.isPositive()) {
            throw new IllegalArgumentException("timeout must be positive, was " + timeout);
        }
    }

    /**
     * Creates options of a task that is tried once and has no time limit.
     *
     * @param priority its rank
     * @param cost how many slots it takes
     * @param queueTimeout how long it may wait, or null
     * @throws IllegalArgumentException if the cost is less than 1 or the queue timeout is negative
     */
    public TaskOptions(int priority, int cost, @Nullable Duration queueTimeout) {
        this(priority, cost, queueTimeout, null, null);
    }

    /**
     * Returns priority 0, cost 1, one attempt, no time limit, and the policy's queue timeout.
     *
     * @return the options of a task that was submitted with none
     */
    public static TaskOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Returns these options with another priority.
     *
     * @param rank any number; the higher goes first
     * @return new options
     */
    public TaskOptions priority(int rank) {
        return new TaskOptions(rank, cost, queueTimeout, retry, timeout);
    }

    /**
     * Returns these options with another cost.
     *
     * @param slots at least 1
     * @return new options
     * @throws IllegalArgumentException if it is less than 1
     */
    public TaskOptions cost(int slots) {
        return new TaskOptions(priority, slots, queueTimeout, retry, timeout);
    }

    /**
     * Returns these options with another queue timeout.
     *
     * @param longest how long the task may wait; not negative
     * @return new options
     * @throws IllegalArgumentException if it is negative
     */
    public TaskOptions queueTimeout(Duration longest) {
        return new TaskOptions(priority, cost, Objects.requireNonNull(longest, "queueTimeout"), retry, timeout);
    }

    /**
     * Returns these options with a retry policy.
     *
     * @param policy how often the task is tried
     * @return new options
     */
    public TaskOptions retry(RetryPolicy policy) {
        return new TaskOptions(priority, cost, queueTimeout, Objects.requireNonNull(policy, "retry"), timeout);
    }

    /**
     * Returns these options with a time limit. When it is over, the task has failed with a
     * {@link dev.raddle.task.TaskTimeoutException}; if it waits it leaves the queue, and if it runs it is interrupted.
     *
     * @param longest how long the task may take from its submission on; positive
     * @return new options
     * @throws IllegalArgumentException if it is not positive
     */
    public TaskOptions timeout(Duration longest) {
        return new TaskOptions(priority, cost, queueTimeout, retry, Objects.requireNonNull(longest, "timeout"));
    }

    <T> TaskSpec<T> specOf(String taskId, Callable<T> task) {
        return new TaskSpec<>(taskId, task, priority, cost, queueTimeout, retry, timeout);
    }
}
