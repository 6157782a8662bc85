package dev.raddle.group;

import dev.raddle.task.Rejection;
import java.util.concurrent.RejectedExecutionException;

/** Thrown when a wait finds that a task was not admitted to its group. */
public final class RejectedTaskException extends RejectedExecutionException {

    private static final long serialVersionUID = 1;

    private final String groupKey;
    private final String taskId;
    private final Rejection rejection;

    /**
     * Creates an exception.
     *
     * @param groupKey the key of the group
     * @param taskId the id of the task
     * @param rejection the reason
     */
    public RejectedTaskException(String groupKey, String taskId, Rejection rejection) {
        super("task \"" + taskId + "\" in group \"" + groupKey + "\""
                + (rejection.executor() == null ? "" : " of executor \"" + rejection.executor() + "\"")
                + " was rejected, " + rejection);
        this.groupKey = groupKey;
        this.taskId = taskId;
        this.rejection = rejection;
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
     * Returns the reason of the rejection.
     *
     * @return the rule, its numbers and the text
     */
    public Rejection rejection() {
        return rejection;
    }

    /**
     * Returns the {@linkplain Rejection#text text} of the rejection.
     *
     * @return the text, such as {@code group-queue: 4 of 4 running, 100 of 100 waiting}
     */
    public String reason() {
        return rejection.text();
    }
}
