package dev.raddle.group;

import java.util.concurrent.RejectedExecutionException;

/** Thrown when a wait finds that a task was not admitted to its group. */
public final class RejectedTaskException extends RejectedExecutionException {

    private static final long serialVersionUID = 1;

    private final String groupKey;
    private final String taskId;
    private final String reason;

    /**
     * Creates an exception.
     *
     * @param groupKey the key of the group
     * @param taskId the id of the task
     * @param reason the reason of the rejection, such as {@code group-queue: 4 of 4 running, 100 of 100 waiting}
     */
    public RejectedTaskException(String groupKey, String taskId, String reason) {
        super("task \"" + taskId + "\" in group \"" + groupKey + "\" was rejected, " + reason);
        this.groupKey = groupKey;
        this.taskId = taskId;
        this.reason = reason;
    }

    /**
     * Returns the key of the group.
     *
     * @return the key
     */
    public String groupKey() {
        return groupKey;
    }

    /**
     * Returns the id of the task.
     *
     * @return the id it was submitted with
     */
    public String taskId() {
        return taskId;
    }

    /**
     * Returns the reason of the rejection. The word before the colon is one of {@code group-queue}, {@code bulkhead},
     * {@code global-queue}, {@code queue-timeout}, {@code shutdown}, {@code evicted}.
     *
     * @return the reason
     */
    public String reason() {
        return reason;
    }
}
