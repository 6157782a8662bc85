package dev.raddle.pool;

/**
 * Decides what becomes of a task that a pool does not accept, because it is full or has been shut down.
 *
 * {@snippet :
 * ThreadPool pool = ThreadPool.builder("reports")
 *         .queueCapacity(100)
 *         .rejection((task, full) -> spill.write(task))
 *         .build();
 * }
 *
 * @see ThreadPool.AbortPolicy
 * @see ThreadPool.BlockPolicy
 */
@FunctionalInterface
public interface RejectionHandler {

    /**
     * Hears of a task that was not accepted, in the thread that submitted it and outside every lock.
     *
     * @param task what was to be run: what {@code execute} was given, or the future that {@code submit} would have returned
     * @param pool the pool that did not accept it
     * @throws java.util.concurrent.RejectedExecutionException if the submitter shall hear of it; whatever is thrown leaves
     *     {@code execute}
     */
    void rejected(Runnable task, ThreadPool pool);
}
