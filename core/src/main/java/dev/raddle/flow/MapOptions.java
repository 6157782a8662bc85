package dev.raddle.flow;

import dev.raddle.task.CheckReturnValue;
import dev.raddle.task.RetryPolicy;
import java.time.Duration;
import java.util.Objects;

/**
 * The options of a {@linkplain FlowBuilder#map(String, Dependency, MapOptions, CheckedFunction.F1) map} over a
 * collection. Immutable; each method returns a changed copy.
 *
 * {@snippet :
 * MapOptions.limit(8).withTimeout(Duration.ofSeconds(2)).withRetry(RetryPolicy.attempts(3))
 * }
 */
@CheckReturnValue
public final class MapOptions {

    private static final MapOptions DEFAULTS = new MapOptions(0, NodeOptions.NONE);

    final int limit; // 0 if there is none
    final NodeOptions each;

    private MapOptions(int limit, NodeOptions each) {
        this.limit = limit;
        this.each = each;
    }

    /**
     * Returns the default options: all elements concurrently, each with one attempt and without a timeout.
     *
     * @return the same options at every call
     */
    public static MapOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Returns options that limit the number of elements that are processed concurrently. The others wait without a
     * thread, in the order of the collection. An element that has timed out or was cancelled counts until the node
     * ends.
     *
     * @param limit the limit, at least 1
     * @return new options
     * @throws IllegalArgumentException if it is less than 1
     */
    public static MapOptions limit(int limit) {
        if (limit < 1) {
            throw new IllegalArgumentException("limit must be at least 1, was " + limit);
        }
        return new MapOptions(limit, NodeOptions.NONE);
    }

    /**
     * Limits the duration of each element, from its start: all its attempts and the pauses between them are included,
     * the wait for its start is not. An element that takes longer is interrupted and fails the node.
     *
     * @param timeout the timeout, positive
     * @return a changed copy
     * @throws IllegalArgumentException if it is not positive
     */
    public MapOptions withTimeout(Duration timeout) {
        if (!timeout.isPositive()) {
            throw new IllegalArgumentException("timeout of an element must be positive, was " + timeout);
        }
        return new MapOptions(limit, each.with(own -> own.timeout = timeout));
    }

    /**
     * Sets the retry policy of each element, like that of a {@linkplain Node#retry node}.
     *
     * @param policy the number of attempts and the pauses between them
     * @return a changed copy
     */
    public MapOptions withRetry(RetryPolicy policy) {
        return new MapOptions(limit, each.with(own -> own.retry = Objects.requireNonNull(policy, "retry")));
    }

    @Override
    public String toString() {
        return "map options with " + (limit == 0 ? "no limit" : "limit " + limit)
                + (each.timeout == null ? "" : ", timeout " + each.timeout)
                + (each.retry == null ? "" : ", " + each.retry);
    }
}
