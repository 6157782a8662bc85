package dev.raddle.group;

import java.util.concurrent.Callable;

/** A handler of rejected tasks, which replaces the {@link RejectionPolicy}. */
@FunctionalInterface
public interface RejectionHandler {

    /**
     * Returns the result of a rejected task. Called outside every lock, in the submitter's thread or, for a task that
     * has waited, in the thread that rejects it. The task holds no permit.
     *
     * @param <T> the type of the task's value
     * @param groupKey the key of its group
     * @param taskId the id of the task
     * @param task the callable; the handler may call it
     * @return the task's result, whose status, value, error and times become those of the handle; if it is null, or the
     *     handler throws, the task is FAILED
     */
    <T> GroupResult<T> onRejected(String groupKey, String taskId, Callable<T> task);
}
