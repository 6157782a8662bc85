package dev.raddle.pool;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Hears what becomes of every task of a pool. It is told in the thread in which things happen, outside every lock, and should
 * return soon. What it throws changes nothing and goes to that thread's uncaught exception handler.
 *
 * <p>An accepted task is started and ends, or is handed back, or was taken out of the queue by somebody. A rejected one may be
 * accepted later, if the pool's handler submits it again. Since a task may start before its submitter goes on,
 * {@link #started} and {@link #accepted} of one task may come in either order.
 */
public interface PoolListener {

    /**
     * How a task ended.
     *
     * @param task what ran
     * @param thread the thread that ran it
     * @param waited the time from acceptance to start; zero if the pool's queue is not its own, which keeps no such moment
     * @param ran the time from start to end
     * @param failure what it threw, or null; futures keep what their callable throws, so theirs is null
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
     * @param task what runs
     * @param thread the thread that runs it
     * @param ranFor the time since its start
     * @param stack where it is, the innermost frame first
     */
    record Stuck(Runnable task, Thread thread, Duration ranFor, List<StackTraceElement> stack) {}

    /**
     * Hears that a task was accepted, in the submitter's thread.
     *
     * @param task what will run
     */
    default void accepted(Runnable task) {}

    /**
     * Hears that a task is about to run, in the thread that will run it.
     *
     * @param task what will run
     * @param thread the current thread
     */
    default void started(Runnable task, Thread thread) {}

    /**
     * Hears that a task has ended, in the thread that ran it.
     *
     * @param event how
     */
    default void ended(Ended event) {}

    /**
     * Hears that a task was not accepted, before the pool's {@link RejectionHandler} decides what becomes of it.
     *
     * @param task what will not run, unless the handler runs it
     */
    default void rejected(Runnable task) {}

    /**
     * Hears that a task which had been accepted will not be run by this pool, because the pool was stopped before.
     *
     * @param task what did not run
     */
    default void handedBack(Runnable task) {}

    /**
     * Hears that a task runs for long, once in each interval of {@code stuckAfter}, in a thread of its own.
     *
     * @param event which one, and where it is
     */
    default void stuck(Stuck event) {}
}
