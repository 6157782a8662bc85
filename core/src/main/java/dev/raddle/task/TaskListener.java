package dev.raddle.task;

/**
 * Receives notifications of all tasks of an API. It is the extension point for metrics, traces and logs. A notification
 * is delivered in the thread in which the event happens, outside of every lock. The notifications of a task are
 * delivered in the order submitted, started, settled. A method should return soon. Its exceptions do not affect the
 * task; they go to the {@link ExceptionSink}.
 *
 * <p>Each task is submitted once and settled once. It is started at most once, and not if it was rejected, or cancelled
 * while it waited. When a caller's wait for a task returns, the listener has been notified of its end.
 */
public interface TaskListener {

    /**
     * Called when a task is submitted, in the submitter's thread, before the task is admitted or rejected. A node of a
     * flow is submitted when all its inputs are available, or when it ends without them: in the thread that detects
     * this, and in the context of the thread that started the run.
     *
     * @param task the task
     */
    default void onSubmitted(TaskIdentity task) {}

    /**
     * Called when a task is about to run, in the thread that will run it, before the task's context is installed there.
     *
     * @param task the task
     * @param waitNanos the time from submission to now, in nanoseconds
     */
    default void onStarted(TaskIdentity task, long waitNanos) {}

    /**
     * Called when a task has ended.
     *
     * @param task the task
     * @param outcome the outcome of the task
     * @param runNanos the time that the task ran, in nanoseconds; 0 if it did not run
     */
    default void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {}

    /**
     * Called when a limit of an owner of tasks was changed, in the thread that has changed it. The limits with which an
     * owner begins are no change, and neither is a call that leaves everything as it was. If several threads change the
     * same limit, their calls may come in another order than the changes.
     *
     * @param change the change
     */
    default void onChanged(OwnerChange change) {}

    /**
     * Returns a listener that notifies this one and then another one. If one of them throws, the other is notified all
     * the same.
     *
     * {@snippet :
     * GroupPolicy policy = GroupPolicy.builder().addListener(meters.and(tracing)).build();
     * }
     *
     * @param next the listener to notify second
     * @return a new listener
     */
    @CheckReturnValue
    default TaskListener and(TaskListener next) {
        return new TwoListeners(this, next);
    }
}
