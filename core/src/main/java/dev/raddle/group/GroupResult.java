package dev.raddle.group;

import dev.raddle.task.TaskStatus;
import dev.raddle.time.TimeSource;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How a task ended.
 *
 * @param <T> the type of the value
 * @param groupKey the key of its group
 * @param taskId what it is called
 * @param status in one word
 * @param value what it returned, which may be null; null unless it succeeded
 * @param error what it threw, or why it was cancelled; null if it succeeded or was rejected
 * @param startTimeNanos when it began to run, with every permit held; for one that never ran, when it ended
 * @param endTimeNanos when it ended
 */
public record GroupResult<T>(
        String groupKey,
        String taskId,
        TaskStatus status,
        @Nullable T value,
        @Nullable Throwable error,
        long startTimeNanos,
        long endTimeNanos) {

    /** Checks that key, id and status are not null. */
    public GroupResult {
        Objects.requireNonNull(groupKey, "groupKey");
        Objects.requireNonNull(taskId, "taskId");
        Objects.requireNonNull(status, "status");
    }

    /**
     * Returns the result of a task that returned.
     *
     * @param <T> the type of the value
     * @param groupKey the key of its group
     * @param taskId what it is called
     * @param value what it returned
     * @param startTimeNanos when it began
     * @param endTimeNanos when it ended
     * @return a result with status SUCCESS
     */
    public static <T> GroupResult<T> success(
            String groupKey, String taskId, @Nullable T value, long startTimeNanos, long endTimeNanos) {
        return new GroupResult<>(groupKey, taskId, TaskStatus.SUCCESS, value, null, startTimeNanos, endTimeNanos);
    }

    /**
     * Returns the result of a task that threw.
     *
     * @param <T> the type of the value
     * @param groupKey the key of its group
     * @param taskId what it is called
     * @param error what it threw
     * @param startTimeNanos when it began
     * @param endTimeNanos when it ended
     * @return a result with status FAILED
     */
    public static <T> GroupResult<T> failed(
            String groupKey, String taskId, Throwable error, long startTimeNanos, long endTimeNanos) {
        Objects.requireNonNull(error, "error");
        return new GroupResult<>(groupKey, taskId, TaskStatus.FAILED, null, error, startTimeNanos, endTimeNanos);
    }

    /**
     * Returns the result of a task that was cancelled.
     *
     * @param <T> the type of the value
     * @param groupKey the key of its group
     * @param taskId what it is called
     * @param error why
     * @param startTimeNanos when it began
     * @param endTimeNanos when it was cancelled
     * @return a result with status CANCELLED
     */
    public static <T> GroupResult<T> cancelled(
            String groupKey, String taskId, Throwable error, long startTimeNanos, long endTimeNanos) {
        Objects.requireNonNull(error, "error");
        return new GroupResult<>(groupKey, taskId, TaskStatus.CANCELLED, null, error, startTimeNanos, endTimeNanos);
    }

    /**
     * Returns the result of a task that was not admitted.
     *
     * @param <T> the type of the value
     * @param groupKey the key of its group
     * @param taskId what it is called
     * @return a result with status REJECTED and duration 0
     */
    public static <T> GroupResult<T> rejected(String groupKey, String taskId) {
        return rejected(groupKey, taskId, TimeSource.system().nanoTime());
    }

    static <T> GroupResult<T> rejected(String groupKey, String taskId, long nanos) {
        return new GroupResult<>(groupKey, taskId, TaskStatus.REJECTED, null, null, nanos, nanos);
    }

    /**
     * Returns how long the task ran. Waiting does not count.
     *
     * @return nanoseconds, 0 for a task that never ran
     */
    public long durationNanos() {
        return endTimeNanos - startTimeNanos;
    }
}
