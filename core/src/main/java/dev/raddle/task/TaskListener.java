package dev.raddle.task;

/**
 * Hears of every task of a door: the socket for metrics, traces and logs. It is told in the thread in which things happen,
 * outside every lock, in the order submitted, started, settled for each task; it should return soon. What it throws changes
 * nothing and goes to the {@link ExceptionSink}.
 *
 * <p>Each task is submitted once and settled once; it is started at most once, and not if it was rejected or cancelled while
 * it waited. When a caller's wait for a task returns, the listener has been told that it settled.
 */
public interface TaskListener {

    /**
     * Hears that a task was submitted, in the submitter's thread, before it is decided whether it is admitted. A node of a flow is
     * submitted when all that it waits for is there, or when it ends without: in the thread that found that, and in the context
     * of the one that started the run.
     *
     * @param task which one
     */
    default void onSubmitted(TaskIdentity task) {}

    /**
     * Hears that a task is about to run, in the thread that will call it, before its context is in force there.
     *
     * @param task which one
     * @param waitNanos the time from submission to now, in nanoseconds
     */
    default void onStarted(TaskIdentity task, long waitNanos) {}

    /**
     * Hears how a task ended.
     *
     * @param task which one
     * @param outcome how it ended
     * @param runNanos how long it ran, in nanoseconds; 0 if it did not
     */
    default void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {}

    /**
     * Returns a listener that tells this one and then another one. If one throws, the other is told all the same.
     *
     * {@snippet :
     * GroupPolicy policy = GroupPolicy.builder().taskListener(meters.and(tracing)).build();
     * }
     *
     * @param next hears second
     * @return a new listener
     */
    default TaskListener and(TaskListener next) {
        return new TwoListeners(this, next);
    }
}
