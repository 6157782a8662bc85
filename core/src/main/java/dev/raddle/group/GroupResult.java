package dev.raddle.group;

import dev.raddle.task.CancelledException;
import dev.raddle.task.Rejection;
import dev.raddle.task.TaskExecutionException;
import dev.raddle.task.TaskStatus;
import dev.raddle.time.TimeSource;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The result of a task.
 *
 * {@snippet :
 * String rate = executor.submit("rates", "EUR", () -> client.rate("EUR")).await().orElseThrow();
 * }
 *
 * @param <T> the type of the value
 * @param groupKey the key of its group
 * @param taskId the id of the task
 * @param status the status
 * @param value the returned value, which may be null; null unless the task succeeded
 * @param error the exception that the task threw, or the cause of its cancellation; null if it succeeded or was
 *     rejected
 * @param startTimeNanos the moment at which it began to run, with every permit held; for a task that never ran, the
 *     moment of its end
 * @param endTimeNanos the moment of its end
 * @param rejection the reason why it was not admitted; null unless it was rejected
 */
public record GroupResult<T>(
        String groupKey,
        String taskId,
        TaskStatus status,
        @Nullable T value,
        @Nullable Throwable error,
        long startTimeNanos,
        long endTimeNanos,
        @Nullable Rejection rejection) {

    private static final Rejection WITHOUT_REASON =
            new Rejection(Rejection.Reason.OTHER, "no reason given", null, null, null, null);

    /** Checks that key, id and status are not null, and that there is a rejection only if the task was rejected. */
    public GroupResult {
        Objects.requireNonNull(groupKey, "groupKey");
        Objects.requireNonNull(taskId, "taskId");
        Objects.requireNonNull(status, "status");
        if (status != TaskStatus.REJECTED) {
            rejection = null;
        } else if (rejection == null) {
            rejection = WITHOUT_REASON;
        }
    }

    /**
     * Creates a result without a reason for a rejection.
     *
     * @param groupKey the key of its group
     * @param taskId the id of the task
     * @param status the status
     * @param value the returned value, or null
     * @param error the error, or null
     * @param startTimeNanos the moment of its start
     * @param endTimeNanos the moment of its end
     */
    public GroupResult(
            String groupKey,
            String taskId,
            TaskStatus status,
            @Nullable T value,
            @Nullable Throwable error,
            long startTimeNanos,
            long endTimeNanos) {
        this(groupKey, taskId, status, value, error, startTimeNanos, endTimeNanos, null);
    }

    /**
     * Returns the result of a task that returned.
     *
     * @param <T> the type of the value
     * @param groupKey the key of its group
     * @param taskId the id of the task
     * @param value the returned value, or null
     * @param startTimeNanos the moment of its start
     * @param endTimeNanos the moment of its end
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
     * @param taskId the id of the task
     * @param error the exception that it threw
     * @param startTimeNanos the moment of its start
     * @param endTimeNanos the moment of its end
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
     * @param taskId the id of the task
     * @param error the cause of the cancellation
     * @param startTimeNanos the moment of its start
     * @param endTimeNanos the moment of the cancellation
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
     * @param taskId the id of the task
     * @return a result with status REJECTED and duration 0
     */
    public static <T> GroupResult<T> rejected(String groupKey, String taskId) {
        return rejected(groupKey, taskId, null, TimeSource.system().nanoTime());
    }

    static <T> GroupResult<T> rejected(String groupKey, String taskId, @Nullable Rejection reason, long nanos) {
        return new GroupResult<>(groupKey, taskId, TaskStatus.REJECTED, null, null, nanos, nanos, reason);
    }

    /**
     * Returns whether the task returned a value, which may be null.
     *
     * @return true if the status is SUCCESS
     */
    public boolean isSuccess() {
        return status == TaskStatus.SUCCESS;
    }

    /**
     * Returns whether the task threw, or could not be started.
     *
     * @return true if the status is FAILED
     */
    public boolean isFailed() {
        return status == TaskStatus.FAILED;
    }

    /**
     * Returns whether the task was cancelled, or a wait for it ended before the task ended.
     *
     * @return true if the status is CANCELLED
     */
    public boolean isCancelled() {
        return status == TaskStatus.CANCELLED;
    }

    /**
     * Returns whether the task was not admitted, and so never ran.
     *
     * @return true if the status is REJECTED
     */
    public boolean isRejected() {
        return status == TaskStatus.REJECTED;
    }

    /**
     * Returns the value of a task that succeeded, or throws for every other status. An unchecked exception or an
     * {@link Error} of the task is thrown without a wrapper.
     *
     * @return the value, which is null if the task returned null
     * @throws TaskExecutionException if the task threw a checked exception, which is the cause
     * @throws CancelledException if it was cancelled; the cause is the {@link #error()}
     * @throws RejectedTaskException if it was rejected
     * @throws IllegalStateException if it was skipped
     */
    @SuppressWarnings("NullAway") // the caller's T determines whether the value may be null
    public T orElseThrow() {
        return switch (status) {
            case SUCCESS -> value;
            case FAILED -> throw failure();
            case CANCELLED -> throw new CancelledException(label() + " was cancelled: " + error, error);
            case REJECTED -> throw new RejectedTaskException(groupKey, taskId, Objects.requireNonNull(rejection));
            case SKIPPED -> throw new IllegalStateException(label() + " was skipped");
        };
    }

    private RuntimeException failure() {
        if (error instanceof Error fatal) {
            throw fatal;
        }
        return error instanceof RuntimeException unchecked
                ? unchecked
                : new TaskExecutionException(label() + " failed: " + error, Objects.requireNonNull(error));
    }

    private String label() {
        return "task \"" + taskId + "\" in group \"" + groupKey + "\"";
    }

    /**
     * Returns how long the task ran. The time for which it waited does not count.
     *
     * @return the duration in nanoseconds, 0 for a task that never ran
     */
    public long durationNanos() {
        return endTimeNanos - startTimeNanos;
    }
}
