package dev.raddle.pool;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;

/**
 * What became of every task that a pool had accepted, as {@link ThreadPool#drain} found it. The counts add up to
 * {@link #accepted()}.
 *
 * {@snippet :
 * ShutdownReport report = pool.drain(Duration.ofSeconds(20));
 * for (ShutdownReport.HandedBack task : report.handedBack()) {
 *     journal.append(task.task());
 * }
 * }
 *
 * @param pool the pool's name
 * @param terminated true if no thread of the pool is left
 * @param completedBefore tasks that had ended when the drain began
 * @param completedDuring tasks that ended during the drain, not interrupted by it
 * @param interrupted tasks that ran when the grace was over, were interrupted, and ended then
 * @param handedBack tasks that never started, in the order in which they would have
 * @param stillRunning tasks that were interrupted and run on all the same
 * @param removed tasks that were taken out of the queue before: removed, purged, or handed back by an earlier stop
 * @param waited how long the tasks were waited for before any was interrupted
 * @param interrupting how long the interrupted ones were waited for
 */
public record ShutdownReport(
        String pool,
        boolean terminated,
        long completedBefore,
        long completedDuring,
        List<Interrupted> interrupted,
        List<HandedBack> handedBack,
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
     * A task that was interrupted, and ended then. It may have done its work all the same.
     *
     * @param runnable what {@code execute} was given, or the future that {@code submit} returned
     * @param task the {@link Runnable} or {@link java.util.concurrent.Callable} that was given
     */
    public record Interrupted(Runnable runnable, Object task) {}

    /**
     * A task that never started.
     *
     * @param runnable what {@link ThreadPool#shutdownNow()} would return for it: what {@code execute} was given, or the
     *     future that {@code submit} returned; running it makes up for what the pool did not do
     * @param task the {@link Runnable} or {@link java.util.concurrent.Callable} that was given
     */
    public record HandedBack(Runnable runnable, Object task) {

        /**
         * Cancels the future that {@code submit} returned, so that nobody waits for it for ever.
         *
         * @return true if there is one and this call cancelled it
         */
        public boolean cancel() {
            return runnable instanceof Future<?> future && future.cancel(false);
        }
    }

    /**
     * A task that ignored its interrupt.
     *
     * @param thread the name of the thread that runs it
     * @param task the {@link Runnable} or {@link java.util.concurrent.Callable} that was given
     * @param age how long it has been running, at least: for pools without a listener and {@code stuckAfter}, which do not
     *     look at the clock for each task, the time since the drain began
     * @param stack where it was, the innermost frame first
     */
    public record StillRunning(String thread, Object task, Duration age, List<StackTraceElement> stack) {

        /** Copies the stack. */
        public StillRunning {
            stack = List.copyOf(stack);
        }
    }

    /**
     * Returns how many tasks the pool had accepted in its life.
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
