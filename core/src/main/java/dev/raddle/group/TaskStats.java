package dev.raddle.group;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A task of a group that has not ended, read at one moment.
 *
 * @param handle the handle of the task, to explain its wait or to cancel it
 * @param isWaiting whether it waits; otherwise it holds its slots
 * @param thread the thread that is inside the callable; null if the task has not begun, or was cancelled and its
 *     callable has not returned
 * @param since the time since the start of the task, or since its submission if it has not begun; null if the moment of
 *     submission is unknown, because the executor has no listener
 * @param slots the number of slots that it holds, or needs if it waits
 * @param priority its priority in the queue of its group
 * @param awaits the task of this executor for which its thread waits without a timeout, if that may keep tasks from
 *     running; else null
 */
public record TaskStats(
        TaskHandle<?> handle,
        boolean isWaiting,
        @Nullable Thread thread,
        @Nullable Duration since,
        int slots,
        int priority,
        @Nullable TaskHandle<?> awaits) {}
