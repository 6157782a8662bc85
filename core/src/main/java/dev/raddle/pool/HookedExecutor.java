package dev.raddle.pool;

import java.util.concurrent.AbstractExecutorService;
import org.jspecify.annotations.Nullable;

/** The methods of a {@link ThreadPool} that its workers call, for subclasses to override. */
abstract class HookedExecutor extends AbstractExecutorService {

    /**
     * Called in a worker's thread before each task. If this method throws, the task is skipped, and cancelled if it is
     * a future. Then {@link #afterExecute} is called with the exception, unless the pool was created by a constructor
     * that {@code ThreadPoolExecutor} has as well: then it is not called, as in the JDK. This implementation does
     * nothing.
     *
     * @param thread the thread that will run the task
     * @param task the task that will run
     */
    protected void beforeExecute(Thread thread, Runnable task) {}

    /**
     * Called in a worker's thread after each task. This implementation does nothing. A future catches what its callable
     * throws, so {@code failure} is null for a task that was submitted; the future holds the exception.
     *
     * @param task the task that has run
     * @param failure the exception thrown by the task or by {@link #beforeExecute}, or null if there was none
     */
    protected void afterExecute(Runnable task, @Nullable Throwable failure) {}

    /**
     * Called once, in the thread that completes the termination, before {@link #awaitTermination} returns. This
     * implementation does nothing.
     */
    protected void terminated() {}
}
