package dev.raddle.flow;

import org.jspecify.annotations.Nullable;

/**
 * What became of one node in one run.
 *
 * @param id which
 * @param state how it ended
 * @param value what readers see: its result, or its default if it did not succeed; see {@code via}
 * @param via where the value comes from
 * @param cause why it did not succeed; null if it did, or was skipped
 * @param startNanos when it began, or was ready to begin if it has a group; -1 if it never did
 * @param endNanos when it ended
 * @param <T> the value's type
 */
public record NodeReport<T>(
        String id,
        NodeState state,
        @Nullable T value,
        Via via,
        @Nullable Throwable cause,
        long startNanos,
        long endNanos) {}
