package dev.raddle.pool;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;

/**
 * The outcome of every task that a pool had accepted, as reported by {@link ThreadPool#drain}. The counts add up to
 * {@link #accepted()}.
 *
 * {@snippet :
 * ShutdownReport report = pool.drain(Duration.ofSeconds(20));
 * for (ShutdownReport.Stopped task : report.handedBack()) {
 *     journal.append(task.task());
 * }
 * }
 *
 * @param pool the pool's name
 * @param terminated whether the pool has terminated, with no thread left
 * @param completedBefore the number of tasks that had ended when the drain began
 * @param completedDuring the number of tasks that ended during the drain without being interrupted by it
 * @param interrupted the tasks that were running at the end of the grace period, were interrupted, and then ended
 * @param handedBack the tasks that never started, in the order in which they would have started
 * @param stillRunning the tasks that were interrupted and are still running
 * @param removed the number of tasks that had left the queue otherwise: removed, purged, or handed back by an earlier
 *     stop
 * @param waited the time spent waiting before tasks were interrupted
 * @param interrupting the time spent waiting after tasks were interrupted
 */
public record ShutdownReport(
        String pool,
        boolean terminated,
        long completedBefore,
        long completedDuring,
        List<Stopped> interrupted,
        List<Stopped> handedBack,
        List<StillRunning> stillRunning,
        long removed,
        Duration waited,
        Duration interrupting) {

    /** Copies the lists. */
    public ShutdownReport {
        interrupted = List.copyOf(interrupted);
        handedBack = List.copyOf(handedBack);
        stillRunning = List.copyOf(stillRunning);
    }

    /**
     * A task that was interrupted and then ended, and may have completed its work nevertheless; or one that never
     * started.
     *
     * @param runnable the argument of {@code execute}, or the future that {@code submit} returned; if the task never
     *     started, running it executes the task
     * @param task the {@link Runnable} or {@link java.util.concurrent.Callable} as it was submitted
     */
    public record Stopped(Runnable runnable, Object task) {

        /**
         * Cancels the future that {@code submit} returned, so that no thread waits for it forever.
         *
         * @return true if there is a future and this call cancelled it
         */
        public boolean cancel() {
            return runnable instanceof Future<?> future && future.cancel(false);
        }
    }

    /**
     * A task that ignored its interrupt.
     *
     * @param thread the name of the thread that runs it
     * @param task the {@link Runnable} or {@link java.util.concurrent.Callable} as it was submitted
     * @param age the least time it has been running; in a pool without a listener and {@code stuckAfter}, which does
     *     not record start times, the time since the drain began
     * @param stack the stack of the thread, the innermost frame first
     */
    public record StillRunning(String thread, Object task, Duration age, List<StackTraceElement> stack) {

        /** Copies the stack. */
        public StillRunning {
            stack = List.copyOf(stack);
        }
    }

    /**
     * Returns the number of tasks that the pool has accepted in its lifetime.
     *
     * @return the sum of all counts
     */
    public long accepted() {
        return completedBefore
                + completedDuring
                + interrupted.size()
                + handedBack.size()
                + stillRunning.size()
                + removed;
    }

    @Override
    public String toString() {
        return "pool \"" + pool + "\" " + (terminated ? "terminated" : "did not terminate") + ": " + accepted()
                + " accepted, " + completedBefore + " completed before, " + completedDuring + " completed during, "
                + interrupted.size() + " interrupted, " + handedBack.size() + " handed back, " + stillRunning.size()
                + " still running, " + removed + " removed; waited " + waited.toMillis() + " ms, then "
                + interrupting.toMillis() + " ms after the interrupt";
    }
}
