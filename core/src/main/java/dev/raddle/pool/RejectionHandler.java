package dev.raddle.pool;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ThreadPoolExecutor;

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
 * <p>It is a {@link RejectedExecutionHandler} only so that a lambda given to a constructor of {@link ThreadPool} is one of
 * these. A {@link ThreadPoolExecutor} cannot be told by it what to do with a task.
 *
 * @see ThreadPool.AbortPolicy
 * @see ThreadPool.BlockPolicy
 */
@FunctionalInterface
public interface RejectionHandler extends RejectedExecutionHandler {

    /**
     * Hears of a task that was not accepted, in the thread that submitted it and outside every lock.
     *
     * @param task what was to be run: what {@code execute} was given, or the future that {@code submit} would have returned
     * @param pool the pool that did not accept it
     * @throws RejectedExecutionException if the submitter shall hear of it; whatever is thrown leaves
     *     {@code execute}
     */
    void rejected(Runnable task, ThreadPool pool);

    /**
     * Decides for the {@link ThreadPool} behind an executor that such a pool has shown to a handler. Every other executor is told
     * that the task is rejected.
     *
     * @throws RejectedExecutionException if the executor is no view of a {@code ThreadPool}
     */
    @Override
    default void rejectedExecution(Runnable task, ThreadPoolExecutor executor) {
        if (!(executor instanceof PoolView view)) {
            throw new RejectedExecutionException("task " + task + " was rejected by " + executor + "; its handler "
                    + getClass().getName() + " is for a " + ThreadPool.class.getName());
        }
        rejected(task, view.pool());
    }

    /**
     * Makes a handler of one for {@code ThreadPoolExecutor}. It is shown an executor that does what the pool does. Of the four
     * policies of the JDK it makes the pool's own, which do the same, and end the futures that they drop if the pool was built so.
     *
     * {@snippet :
     * ThreadPool pool = ThreadPool.builder("reports")
     *         .rejection(RejectionHandler.from(new ThreadPoolExecutor.CallerRunsPolicy()))
     *         .build();
     * }
     *
     * @param handler the handler
     * @return the same handler if it is a {@code RejectionHandler}
     */
    static RejectionHandler from(RejectedExecutionHandler handler) {
        return handler instanceof RejectionHandler same ? same : new JdkRejection(handler);
    }
}
