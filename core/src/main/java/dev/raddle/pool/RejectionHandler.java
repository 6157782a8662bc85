package dev.raddle.pool;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ThreadPoolExecutor;

/**
 * Handles a task that a pool does not accept because it is full or has been shut down.
 *
 * {@snippet :
 * ThreadPool pool = ThreadPool.builder("reports")
 *         .queueCapacity(100)
 *         .rejection((task, full) -> spill.write(task))
 *         .build();
 * }
 *
 * <p>This interface extends {@link RejectedExecutionHandler} only so that a lambda given to a constructor of {@link
 * ThreadPool} has this type. It cannot handle the rejected tasks of a {@link ThreadPoolExecutor}.
 *
 * @see ThreadPool.AbortPolicy
 * @see ThreadPool.BlockPolicy
 */
@FunctionalInterface
public interface RejectionHandler extends RejectedExecutionHandler {

    /**
     * Called for a task that was not accepted, in the thread that submitted it and without holding any lock.
     *
     * @param task the rejected task: the argument of {@code execute}, or the future that {@code submit} would have
     *     returned
     * @param pool the pool that did not accept the task
     * @throws RejectedExecutionException if the submitter is to be notified; every exception propagates to the caller
     *     of {@code execute}
     */
    void rejected(Runnable task, ThreadPool pool);

    /**
     * Handles a task of the {@link ThreadPool} behind an executor that the pool has passed to a handler. For every
     * other executor the task is rejected.
     *
     * @throws RejectedExecutionException if the executor is not that of a {@code ThreadPool}
     */
    @Override
    default void rejectedExecution(Runnable task, ThreadPoolExecutor executor) {
        if (!(executor instanceof JdkRejectionAdapter.Rejecting rejecting)) {
            throw new RejectedExecutionException("task " + task + " was rejected by " + executor + "; its handler "
                    + getClass().getName() + " is for a " + ThreadPool.class.getName());
        }
        rejected(task, rejecting.pool());
    }

    /**
     * Returns a handler that delegates to one written for {@code ThreadPoolExecutor}. The latter receives an executor
     * that executes tasks in the pool, changes and ends it, and has its queue and, as they were at the rejection, its
     * counts. The four policies of the JDK are replaced by the pool's own, which have the same effect, and also cancel
     * the futures that they drop if the pool was built to do so.
     *
     * {@snippet :
     * ThreadPool pool = ThreadPool.builder("reports")
     *         .rejection(RejectionHandler.from(new ThreadPoolExecutor.CallerRunsPolicy()))
     *         .build();
     * }
     *
     * @param handler the handler
     * @return the new handler, or the same one if it is a {@code RejectionHandler}
     */
    static RejectionHandler from(RejectedExecutionHandler handler) {
        return handler instanceof RejectionHandler same ? same : new JdkRejectionAdapter(handler);
    }
}
