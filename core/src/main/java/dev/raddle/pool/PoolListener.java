package dev.raddle.pool;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Is notified of what only a pool has: the {@link Runnable}s that it accepts, runs, rejects and hands back, the threads
 * that run them, and tasks that are stuck. It is notified of every task, also of those of other APIs that the pool
 * runs. Names, outcomes and spans are for a {@link dev.raddle.task.TaskListener}, which every API has. The methods are
 * called in the thread in which the event occurs, without holding any lock, and should return quickly. An exception
 * that they throw has no effect on the task and is passed to that thread's uncaught exception handler.
 *
 * <p>An accepted task is started and ends, or is handed back, or is removed from the queue by another caller. A
 * rejected task may be accepted later, if the pool's handler submits it again. Since a task may start before its
 * submitter continues, {@link #started} and {@link #accepted} of one task may occur in either order.
 */
public interface PoolListener {

    /**
     * The end of a task.
     *
     * @param task the task that ran
     * @param thread the thread that ran it
     * @param waited the time from acceptance to start; zero for a user-supplied queue, which records no acceptance time
     * @param ran the time from start to end
     * @param failure the exception thrown by the task, or null; always null for a future, which catches what its
     *     callable throws
     */
    record Ended(
            Runnable task,
            Thread thread,
            Duration waited,
            Duration ran,
            @Nullable Throwable failure) {}

    /**
     * A task that has run for longer than the pool's {@code stuckAfter}.
     *
     * @param task the running task
     * @param thread the thread that runs it
     * @param ranFor the time since its start
     * @param stack the stack of the thread, the innermost frame first
     */
    record Stuck(Runnable task, Thread thread, Duration ranFor, List<StackTraceElement> stack) {}

    /**
     * Called in the submitter's thread after a task was accepted.
     *
     * @param task the accepted task
     */
    default void accepted(Runnable task) {}

    /**
     * Called before a task runs, in the thread that will run it.
     *
     * @param task the task that will run
     * @param thread the current thread
     */
    default void started(Runnable task, Thread thread) {}

    /**
     * Called after a task has ended, in the thread that ran it.
     *
     * @param event the end of the task
     */
    default void ended(Ended event) {}

    /**
     * Called for a task that was not accepted, when the pool's {@link RejectionHandler} has returned or thrown, and
     * before that runs the task by a {@link ThreadPool.CallerRunsPolicy} or submits it again. Not called for a task
     * that a {@link ThreadPool.BlockPolicy} has the pool accept.
     *
     * @param task the rejected task, which does not run unless the handler runs it
     */
    default void rejected(Runnable task) {}

    /**
     * Called for an accepted task that this pool will not run, because the pool was stopped before it started. The pool
     * terminates after these calls, so this method must not wait for that.
     *
     * @param task the task that did not run
     */
    default void handedBack(Runnable task) {}

    /**
     * Called for a task that runs for longer than {@code stuckAfter}, once in each such interval, in a separate thread.
     *
     * @param event the task and its stack
     */
    default void stuck(Stuck event) {}
}
