package dev.raddle.group;

import dev.raddle.task.RetryPolicy;
import dev.raddle.task.TaskSpec;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Options of one task.
 *
 * {@snippet :
 * executor.submit("reports", "r1", task, TaskOptions.defaults().priority(5).cost(2));
 * }
 *
 * @param priority its rank among the waiting tasks of its group: higher priorities start first, equal ones in order of
 *     arrival
 * @param cost the number of slots that it takes, of the group and of the global cap, all at once; if it exceeds a
 *     limit, the task takes all slots of that limit. It takes as many permits of a permit source as slots, and the
 *     whole cost of the rates of its group and of all groups: if that exceeds a burst, the task starts when a whole
 *     burst could, and delays the tasks after it
 * @param queueTimeout the longest time that it may wait, or null if the policy's queue timeout holds
 * @param retry the retry policy, or null for one attempt; the task keeps its slots between attempts
 * @param timeout the time limit from its submission on, which includes waiting and all attempts, or null for no limit
 */
public record TaskOptions(
        int priority,
        int cost,
        @Nullable Duration queueTimeout,
        @Nullable RetryPolicy retry,
        @Nullable Duration timeout) {

    static final TaskOptions DEFAULTS = new TaskOptions(0, 1, null);

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
     * Creates options with one attempt and no time limit.
     *
     * @param priority its rank
     * @param cost the number of slots that it takes
     * @param queueTimeout the longest time that it may wait, or null
     * @throws IllegalArgumentException if the cost is less than 1 or the queue timeout is negative
     */
    public TaskOptions(int priority, int cost, @Nullable Duration queueTimeout) {
        this(priority, cost, queueTimeout, null, null);
    }

    /**
     * Returns the default options: priority 0, cost 1, one attempt, no time limit, and the policy's queue timeout.
     *
     * @return the options of a task that is submitted without options
     */
    public static TaskOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Returns these options with another priority.
     *
     * @param rank the priority, any number; higher ones start first
     * @return new options
     */
    public TaskOptions priority(int rank) {
        return new TaskOptions(rank, cost, queueTimeout, retry, timeout);
    }

    /**
     * Returns these options with another cost, of slots, permits and rates.
     *
     * @param slots the cost, at least 1
     * @return new options
     * @throws IllegalArgumentException if it is less than 1
     */
    public TaskOptions cost(int slots) {
        return new TaskOptions(priority, slots, queueTimeout, retry, timeout);
    }

    /**
     * Returns these options with another queue timeout.
     *
     * @param maxWait the longest time that the task may wait; not negative
     * @return new options
     * @throws IllegalArgumentException if it is negative
     */
    public TaskOptions queueTimeout(Duration maxWait) {
        return new TaskOptions(priority, cost, Objects.requireNonNull(maxWait, "queueTimeout"), retry, timeout);
    }

    /**
     * Returns these options with a retry policy.
     *
     * @param policy the retry policy
     * @return new options
     */
    public TaskOptions retry(RetryPolicy policy) {
        return new TaskOptions(priority, cost, queueTimeout, Objects.requireNonNull(policy, "retry"), timeout);
    }

    /**
     * Returns these options with a time limit. When it passes, the task fails with a
     * {@link dev.raddle.task.TaskTimeoutException}; a waiting task leaves the queue, and a running one is interrupted.
     *
     * @param limit the time limit from the submission on; positive
     * @return new options
     * @throws IllegalArgumentException if it is not positive
     */
    public TaskOptions timeout(Duration limit) {
        return new TaskOptions(priority, cost, queueTimeout, retry, Objects.requireNonNull(limit, "timeout"));
    }

    /** Returns the options of a task that is described by a plan. */
    static TaskOptions of(TaskSpec<?> spec) {
        return new TaskOptions(spec.priorityOr(0), spec.cost(), spec.queueTimeout(), spec.retry(), spec.timeout());
    }
}
