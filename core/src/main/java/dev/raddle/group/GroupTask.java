package dev.raddle.group;

import java.util.Objects;
import java.util.concurrent.Callable;

/**
 * A task and the group it goes to, for {@link GroupExecutor#executeAll}.
 *
 * @param <T> the type of the value
 * @param groupKey the key of the group
 * @param taskId what the task is called in results and events; need not be unique
 * @param task what to call
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
     * Creates a task that is treated as the others of its group.
     *
     * @param groupKey the key of the group
     * @param taskId what the task is called
     * @param task what to call
     */
    public GroupTask(String groupKey, String taskId, Callable<T> task) {
        this(groupKey, taskId, task, TaskOptions.defaults());
    }

    /**
     * Returns this task with other options.
     *
     * @param other how it is to be treated
     * @return a new task
     */
    public GroupTask<T> options(TaskOptions other) {
        return new GroupTask<>(groupKey, taskId, task, other);
    }
}
