package dev.raddle.group;

import java.util.Objects;
import java.util.concurrent.Callable;

/**
 * A task and the key of its group, for {@link GroupExecutor#executeAll}.
 *
 * @param <T> the type of the value
 * @param groupKey the key of the group
 * @param taskId the id of the task in results and events; need not be unique
 * @param task the callable
 * @param options its priority, cost, timeouts and retry policy
 */
public record GroupTask<T>(String groupKey, String taskId, Callable<T> task, TaskOptions options) {

    /** Checks that nothing is null. */
    public GroupTask {
        Objects.requireNonNull(groupKey, "groupKey");
        Objects.requireNonNull(taskId, "taskId");
        Objects.requireNonNull(task, "task");
        Objects.requireNonNull(options, "options");
    }

    /**
     * Creates a task with the default options.
     *
     * @param groupKey the key of the group
     * @param taskId the id of the task
     * @param task the callable
     */
    public GroupTask(String groupKey, String taskId, Callable<T> task) {
        this(groupKey, taskId, task, TaskOptions.defaults());
    }

    /**
     * Returns this task with other options.
     *
     * @param other the new options
     * @return a new task
     */
    public GroupTask<T> options(TaskOptions other) {
        return new GroupTask<>(groupKey, taskId, task, other);
    }
}
