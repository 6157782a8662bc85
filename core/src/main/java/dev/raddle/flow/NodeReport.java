package dev.raddle.flow;

import org.jspecify.annotations.Nullable;

/**
 * The report of one node in one run.
 *
 * @param id the id of the node
 * @param state the state in which it ended
 * @param value its result, or its default if it did not succeed; see {@code via}
 * @param via the source of the value
 * @param cause the reason why it did not succeed; null if it did, or was skipped
 * @param startNanos the time when it began, or was ready to begin if it has a group; -1 if it never did
 * @param endNanos the time when it ended
 * @param <T> the type of the value
 */
public record NodeReport<T>(
        String id,
        NodeState state,
        @Nullable T value,
        ValueSource via,
        @Nullable Throwable cause,
        long startNanos,
        long endNanos) {}
