package dev.raddle.flow;

import dev.raddle.task.RetryPolicy;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The options of a {@linkplain FlowBuilder#map(String, Dependency, MapOptions, CheckedFunction.F1) map} over a
 * collection. Immutable; each method returns a changed copy.
 *
 * {@snippet :
 * MapOptions.limit(8).withTimeout(Duration.ofSeconds(2)).withRetry(RetryPolicy.attempts(3))
 * }
 */
public final class MapOptions {

    private static final MapOptions DEFAULTS = new MapOptions(0, null, null);

    final int limit; // 0 if there is none
    private final @Nullable Duration timeout;
    private final @Nullable RetryPolicy retry;

    private MapOptions(int limit, @Nullable Duration timeout, @Nullable RetryPolicy retry) {
        this.limit = limit;
        this.timeout = timeout;
        this.retry = retry;
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
        return new MapOptions(limit, null, null);
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
        return new MapOptions(limit, timeout, retry);
    }

    /**
     * Sets the retry policy of each element, like that of a {@linkplain Node#retry node}.
     *
     * @param policy the number of attempts and the pauses between them
     * @return a changed copy
     */
    public MapOptions withRetry(RetryPolicy policy) {
        return new MapOptions(limit, timeout, Objects.requireNonNull(policy, "retry"));
    }

    void applyTo(Node<?> element) {
        if (timeout != null) {
            element.timeout(timeout);
        }
        if (retry != null) {
            element.retry(retry);
        }
    }

    @Override
    public String toString() {
        return "map options with " + (limit == 0 ? "no limit" : "limit " + limit)
                + (timeout == null ? "" : ", timeout " + timeout) + (retry == null ? "" : ", " + retry);
    }
}
