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
     * Hears that a task was submitted, before it is decided whether it is admitted.
     *
     * @param owner what the task belongs to: the key of its group
     * @param task its name
     */
    default void onSubmitted(String owner, String task) {}

    /**
     * Hears that a task is about to run, in the thread that will call it.
     *
     * @param owner what the task belongs to
     * @param task its name
     * @param waitNanos the time from submission to now, in nanoseconds
     */
    default void onStarted(String owner, String task, long waitNanos) {}

    /**
     * Hears how a task ended. Its permits have been given back, unless it was cancelled and still runs.
     *
     * @param owner what the task belongs to
     * @param task its name
     * @param outcome how it ended
     * @param runNanos how long it ran, in nanoseconds; 0 if it did not
     */
    default void onSettled(String owner, String task, Outcome<?> outcome, long runNanos) {}
}
