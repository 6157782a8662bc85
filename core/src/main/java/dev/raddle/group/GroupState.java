package dev.raddle.group;

import dev.raddle.task.WaitReason;
import org.jspecify.annotations.Nullable;

/**
 * A group with what keeps its tasks waiting, read at one moment.
 *
 * @param stats its statistics
 * @param weight its weight at the global cap
 * @param waitingFor what its next task waits for; {@link WaitReason#NOTHING} if no task waits
 * @param oldest the waiting task that was submitted first, which need not be the next one; if the executor has no
 *     listener, the moments of submission are unknown, and it is the first of any priority; null if no task waits
 */
public record GroupState(
        GroupStats stats,
        int weight,
        WaitReason waitingFor,
        @Nullable TaskStats oldest) {}
