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
 */
public record GroupTask<T>(String groupKey, String taskId, Callable<T> task) {

    /** Checks that nothing is null. */
    public GroupTask {
        Objects.requireNonNull(groupKey, "groupKey");
        Objects.requireNonNull(taskId, "taskId");
        Objects.requireNonNull(task, "task");
    }
}
