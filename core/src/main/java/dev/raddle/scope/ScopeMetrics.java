package dev.raddle.scope;

import java.time.Duration;

/**
 * The counts and durations of a scope's tasks, read in one moment: {@code started = succeeded + failed + cancelled +
 * running}. Tasks that never started are counted separately. Each round of a periodic job counts as one task.
 *
 * @param submitted the number of submitted tasks
 * @param started the number of tasks that were started
 * @param succeeded the number of started tasks that returned
 * @param failed the number of started tasks that threw or ran out of time
 * @param cancelled the number of started tasks that were cancelled
 * @param running the number of started tasks that have not ended
 * @param failedBeforeStart the number of tasks that failed before they started: rejected by the scheduler, or out of
 *     time
 * @param cancelledBeforeStart the number of tasks that were cancelled before they started
 * @param totalDuration the sum of the running times of the ended tasks, waiting not included
 * @param maxDuration the longest running time of these tasks
 * @param totalWait the sum of the times that the ended tasks had waited before they started
 */
public record ScopeMetrics(
        long submitted,
        long started,
        long succeeded,
        long failed,
        long cancelled,
        long running,
        long failedBeforeStart,
        long cancelledBeforeStart,
        Duration totalDuration,
        Duration maxDuration,
        Duration totalWait) {

    /**
     * Returns the number of started tasks that have ended.
     *
     * @return the sum of succeeded, failed and cancelled
     */
    public long completed() {
        return succeeded + failed + cancelled;
    }

    /**
     * Returns the average running time of a task, waiting not included.
     *
     * @return the mean over the started tasks that have ended; zero if there is none
     */
    public Duration averageDuration() {
        return completed() == 0 ? Duration.ZERO : totalDuration.dividedBy(completed());
    }

    /**
     * Returns the average time that a task had waited before it started.
     *
     * @return the mean over the started tasks that have ended; zero if there is none
     */
    public Duration averageWait() {
        return completed() == 0 ? Duration.ZERO : totalWait.dividedBy(completed());
    }
}
