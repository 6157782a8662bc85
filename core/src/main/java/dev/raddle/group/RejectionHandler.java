package dev.raddle.group;

import java.util.concurrent.Callable;

/** Decides what becomes of tasks for which there is no room. Takes the place of a {@link RejectionPolicy}. */
@FunctionalInterface
public interface RejectionHandler {

    /**
     * Decides about one task. Called in the submitter's thread, or in that of whoever rejects a task that waits, outside
     * every lock. The task holds no permit.
     *
     * @param <T> the type of the task's value
     * @param groupKey the key of its group
     * @param taskId what it is called
     * @param task the task; the handler may call it
     * @return the task's result: its status, value, error and times become those of the handle; if it is null, or the
     *     handler throws, the task is FAILED
     */
    <T> GroupResult<T> onRejected(String groupKey, String taskId, Callable<T> task);
}
