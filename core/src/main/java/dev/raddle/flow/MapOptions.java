package dev.raddle.flow;

import dev.raddle.task.RetryPolicy;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How a {@linkplain FlowBuilder#map(String, Dependency, MapOptions, Fn.F1) map} goes over its elements. Immutable; each method
 * returns a changed copy.
 *
 * {@snippet :
 * MapOptions.limit(8).withTimeout(Duration.ofSeconds(2)).withRetry(RetryPolicy.attempts(3))
 * }
 */
public final class MapOptions {

    private static final MapOptions DEFAULTS = new MapOptions(0, null, null);

    private final int limit; // 0 if there is none
    private final @Nullable Duration timeout;
    private final @Nullable RetryPolicy retry;

    private MapOptions(int limit, @Nullable Duration timeout, @Nullable RetryPolicy retry) {
        this.limit = limit;
        this.timeout = timeout;
        this.retry = retry;
    }

    /**
     * Returns options of which nothing is set: all elements at the same time, each once and without a timeout.
     *
     * @return the same at every call
     */
    public static MapOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Returns options with a limit and nothing else.
     *
     * @param elements see {@link #withLimit}
     * @return new options
     * @throws IllegalArgumentException if it is less than 1
     */
    public static MapOptions limit(int elements) {
        return DEFAULTS.withLimit(elements);
    }

    /**
     * Limits how many elements are worked on at the same time. The others wait without a thread, in the order of the list. An
     * element whose time is over, or that is cancelled, has its place until the node ends.
     *
     * @param elements at least 1
     * @return a changed copy
     * @throws IllegalArgumentException if it is less than 1
     */
    public MapOptions withLimit(int elements) {
        if (elements < 1) {
            throw new IllegalArgumentException("limit must be at least 1, was " + elements);
        }
        return new MapOptions(elements, timeout, retry);
    }

    /**
     * Limits how long one element may take, from the moment at which it is its turn: all its attempts and the rests between them
     * count, and waiting for its turn does not. An element that takes longer is interrupted and fails the node.
     *
     * @param length positive
     * @return a changed copy
     * @throws IllegalArgumentException if it is not positive
     */
    public MapOptions withTimeout(Duration length) {
        if (!length.isPositive()) {
            throw new IllegalArgumentException("timeout of an element must be positive, was " + length);
        }
        return new MapOptions(limit, length, retry);
    }

    /**
     * Has an element tried again after failures, as a {@linkplain Node#retry node} is.
     *
     * @param policy how often, and after which rests
     * @return a changed copy
     */
    public MapOptions withRetry(RetryPolicy policy) {
        return new MapOptions(limit, timeout, Objects.requireNonNull(policy, "retry"));
    }

    /** Returns how many elements at the same time, or 0 if that does not matter. */
    int limit() {
        return limit;
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
