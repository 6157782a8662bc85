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

    /** An action that was registered to run when a token is cancelled, until this is closed. */
    interface Registration extends AutoCloseable {

        /**
         * Removes the action. Has no effect if the token was cancelled; does not wait for an action that runs, or is
         * about to. Later calls do nothing.
         */
        @Override
        void close();
    }

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
     * {@snippet :
     * try (var onCancel = server.token().whenCancelled(socket::close)) {
     *     return socket.read();
     * }
     * }
     *
     * <p>A registration that is made by a task of a {@link dev.raddle.scope.ThreadScope}, in the thread that runs it,
     * ends with the task, whatever the scope of the token. Any other refers to the action until it is closed or the
     * token is cancelled: close it if the token lives longer than what the action is for.
     *
     * @param action the action
     * @return the registration
     */
    Registration whenCancelled(Runnable action);
}
