package dev.raddle.group;

import java.time.Duration;
import java.util.Objects;
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
 */
public record TaskOptions(int priority, int cost, @Nullable Duration queueTimeout) {

    private static final TaskOptions DEFAULTS = new TaskOptions(0, 1, null);

    /**
     * Checks the components.
     *
     * @throws IllegalArgumentException if the cost is less than 1 or the queue timeout is negative
     */
    public TaskOptions {
        if (cost < 1) {
            throw new IllegalArgumentException("cost must be at least 1, was " + cost);
        }
        if (queueTimeout != null && queueTimeout.isNegative()) {
            throw new IllegalArgumentException("queueTimeout must not be negative, was " + queueTimeout);
        }
    }

    /**
     * Returns priority 0, cost 1, and the policy's queue timeout.
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
        return new TaskOptions(rank, cost, queueTimeout);
    }

    /**
     * Returns these options with another cost.
     *
     * @param slots at least 1
     * @return new options
     * @throws IllegalArgumentException if it is less than 1
     */
    public TaskOptions cost(int slots) {
        return new TaskOptions(priority, slots, queueTimeout);
    }

    /**
     * Returns these options with another queue timeout.
     *
     * @param longest how long the task may wait; not negative
     * @return new options
     * @throws IllegalArgumentException if it is negative
     */
    public TaskOptions queueTimeout(Duration longest) {
        return new TaskOptions(priority, cost, Objects.requireNonNull(longest, "queueTimeout"));
    }
}
