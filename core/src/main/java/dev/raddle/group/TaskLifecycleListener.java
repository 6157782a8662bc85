package dev.raddle.group;

/**
 * Hears of every task of an executor, in the order submitted, started, completed. It is told in the thread in which things
 * happen, outside every lock, and should return soon. What it throws changes nothing and goes to the policy's sink.
 *
 * <p>After {@code onSubmitted} comes exactly one of {@code onCompleted} and {@code onRejected}; a task that the rejection
 * policy lets its caller run counts as rejected. When waiting for a handle returns, the listener has been told.
 */
public interface TaskLifecycleListener {

    /**
     * Hears that a task was submitted, before it is decided whether there is room.
     *
     * @param groupKey the key of its group
     * @param taskId what it is called
     */
    default void onSubmitted(String groupKey, String taskId) {}

    /**
     * Hears that a task holds its permits and is about to run, in the thread that will run it.
     *
     * @param groupKey the key of its group
     * @param taskId what it is called
     */
    default void onStarted(String groupKey, String taskId) {}

    /**
     * Hears how a task ended: by itself, or because it was cancelled.
     *
     * @param groupKey the key of its group
     * @param taskId what it is called
     * @param result its result
     */
    default void onCompleted(String groupKey, String taskId, GroupResult<?> result) {}

    /**
     * Hears that a task was rejected, before the rejection policy or handler decides what that means.
     *
     * @param groupKey the key of its group
     * @param taskId what it is called
     * @param reason why, as in {@link RejectedTaskException#reason()}
     */
    default void onRejected(String groupKey, String taskId, String reason) {}

    /**
     * Called once, when an executor has been shut down: after its accepted tasks have ended, or after the rest was interrupted
     * and rejected.
     *
     * @param report whether the executor was drained, and what was taken from it otherwise
     */
    default void onShutdown(GroupShutdownReport report) {}
}
