package dev.raddle.scope;

/** What starts the threads of one scope and knows which scope they belong to. */
sealed interface Container permits JdkContainer, PlainContainer, SchedulerContainer {

    /**
     * Starts a subtask's thread, or leaves it unstarted if this container was closed from outside. Called by the scope's owner
     * or by a thread inside the scope.
     *
     * @param subtask counted as unfinished already; the caller abandons it if its thread has died without running it
     * @throws RuntimeException or an error if it cannot be started; the caller then abandons it
     */
    void start(ForkedSubtask<?> subtask);

    /**
     * Closes this container; no subtask is unfinished. Called by the owner, not interrupted, and may wait for threads to end.
     *
     * @throws StructureViolationException if scopes opened later are still open
     */
    void close();

    /** Tells whether the owner is woken when the last of its threads is about to die, so that nobody else need do so. */
    default boolean wakesOwner() {
        return false;
    }

    /** Tells what starts the threads, for people. */
    @Override
    String toString();
}
