package dev.raddle.group;

/**
 * A listener that is notified of every task of an executor, in the order submitted, started, completed. Its methods are
 * called in the thread that causes the event, outside every lock, and should return quickly. An exception that they
 * throw does not affect the task and is reported to the policy's sink.
 *
 * <p>After {@code onSubmitted}, exactly one of {@code onCompleted} and {@code onRejected} is called; a task that is
 * called by its submitter under {@link RejectionPolicy#CALLER_RUNS} counts as rejected. When a wait for a handle
 * returns, the listener has been notified.
 */
public interface TaskLifecycleListener {

    /**
     * Called when a task is submitted, before it is admitted or rejected.
     *
     * @param groupKey the key of its group
     * @param taskId the id of the task
     */
    default void onSubmitted(String groupKey, String taskId) {}

    /**
     * Called when a task holds its permits and is about to run, in the thread that runs it.
     *
     * @param groupKey the key of its group
     * @param taskId the id of the task
     */
    default void onStarted(String groupKey, String taskId) {}

    /**
     * Called when a task has ended, by itself or because it was cancelled.
     *
     * @param groupKey the key of its group
     * @param taskId the id of the task
     * @param result its result
     */
    default void onCompleted(String groupKey, String taskId, GroupResult<?> result) {}

    /**
     * Called when a task is rejected, before the rejection policy or handler is applied.
     *
     * @param groupKey the key of its group
     * @param taskId the id of the task
     * @param reason the reason, as in {@link RejectedTaskException#reason()}
     */
    default void onRejected(String groupKey, String taskId, String reason) {}

    /**
     * Called when an adaptive limit has changed, by the thread that ended a task of the group.
     *
     * @param change the change
     */
    default void onLimitChanged(LimitChange change) {}

    /**
     * Called once when an executor has been shut down, after its accepted tasks have ended or the remaining ones were
     * interrupted and rejected.
     *
     * @param report the report of the shutdown
     */
    default void onShutdown(GroupShutdownReport report) {}
}
