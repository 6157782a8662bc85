package dev.raddle.group;

import dev.raddle.task.TaskSpec;
import java.util.Objects;
import java.util.concurrent.Callable;

/**
 * A task and the key of its group, for {@link GroupExecutor#executeAll}.
 *
 * @param <T> the type of the value
 * @param groupKey the key of the group
 * @param spec the task, its priority, cost, timeouts and retry policy; its name is the id in results and events
 */
public record GroupTask<T>(String groupKey, TaskSpec<T> spec) {

    /** Checks that nothing is null. */
    public GroupTask {
        Objects.requireNonNull(groupKey, "groupKey");
        Objects.requireNonNull(spec, "spec");
    }

    /**
     * Creates a task with the default options.
     *
     * @param groupKey the key of the group
     * @param taskId the id of the task in results and events; need not be unique
     * @param task the callable
     */
    public GroupTask(String groupKey, String taskId, Callable<? extends T> task) {
        this(groupKey, TaskSpec.named(Objects.requireNonNull(taskId, "taskId"), task));
    }

    /**
     * Returns the id.
     *
     * @return the id of the task
     */
    public String taskId() {
        return spec.name();
    }

    /**
     * Returns the callable.
     *
     * @return the callable of the task
     */
    public Callable<? extends T> task() {
        return spec.callable();
    }
}
