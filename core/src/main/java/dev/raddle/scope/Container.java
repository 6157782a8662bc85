package dev.raddle.scope;

/** Starts the threads of one scope. */
interface Container {

    /**
     * Starts a subtask's thread, or leaves it unstarted if this container was closed from outside. Called by the
     * scope's owner or by a thread inside the scope.
     *
     * @param subtask the subtask, already counted as pending; the caller abandons it if its thread terminates without
     *     running it
     * @param byOwner whether the caller is the owner
     * @throws RuntimeException if the thread cannot be started; the caller then abandons the subtask, as after an error
     */
    void start(ForkedSubtask<?> subtask, boolean byOwner);

    /**
     * Closes this container. Called by the owner when every subtask has ended. The owner is not interrupted. This
     * method may wait for threads to terminate.
     *
     * @throws StructureViolationException if scopes opened later are still open
     */
    void close();

    /** Returns a description of this container. */
    @Override
    String toString();
}
