package dev.raddle.task;

/**
 * A request to stop, which long-running code checks from time to time.
 *
 * {@snippet :
 * while (rows.next()) {
 *     scope.token().throwIfCancelled();
 *     export(rows);
 * }
 * }
 *
 * <p>Every method may be called by any thread.
 */
public interface CancellationToken {

    /**
     * Returns whether this token was cancelled.
     *
     * @return true once it was cancelled
     */
    boolean isCancelled();

    /**
     * Throws an exception if this token was cancelled.
     *
     * @throws CancelledException if this token was cancelled; its message is the reason
     */
    void throwIfCancelled();

    /**
     * Cancels this token and everything that depends on it. Later calls do nothing.
     *
     * @param reason the reason, for messages
     */
    void cancel(String reason);

    /**
     * Runs an action when this token is cancelled, or at once if it was cancelled. The action runs in the cancelling
     * thread, or in a thread of its own if an alarm cancels the token. It should return soon.
     *
     * @param action the action
     */
    void whenCancelled(Runnable action);
}
