package dev.raddle.task;

/**
 * Says whether something is still wanted, to those who work on it and look from time to time.
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
     * Tells whether it was cancelled.
     *
     * @return true from then on
     */
    boolean isCancelled();

    /**
     * Throws if it was cancelled.
     *
     * @throws CancelledException with the reason
     */
    void throwIfCancelled();

    /**
     * Cancels, and everything that depends on this. Does nothing if that has happened before.
     *
     * @param reason why, for people
     */
    void cancel(String reason);

    /** Cancels as {@link #cancel(String)} does, with a reason that says only that. */
    default void cancel() {
        cancel("cancelled through its token");
    }

    /**
     * Runs an action when this is cancelled, or at once if it is. The action runs in the thread that cancels, or in one of
     * its own if an alarm does; it should return soon.
     *
     * @param action what to do
     */
    void whenCancelled(Runnable action);
}
