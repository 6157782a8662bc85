package dev.raddle.scope;

import java.time.Duration;

/**
 * What has become of a scope's tasks, read in one moment: {@code started = succeeded + failed + cancelled + running}. Tasks
 * that never began are in numbers of their own. A periodic job counts once for each of its rounds.
 *
 * @param submitted how many tasks were submitted
 * @param started how many callables were entered
 * @param succeeded how many of the started ones returned
 * @param failed how many of the started ones threw, or ran out of time
 * @param cancelled how many of the started ones were cancelled
 * @param running how many of the started ones have not ended
 * @param failedBeforeStart how many failed before they began: rejected by the scheduler, or out of time
 * @param cancelledBeforeStart how many were cancelled before they began
 * @param totalDuration how long the ended ones ran, waiting not included, all together
 * @param maxDuration how long the longest of these ran
 * @param totalWait how long the ended ones had waited before they started, all together
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
     * Returns how many started tasks have ended.
     *
     * @return the sum of succeeded, failed and cancelled
     */
    public long completed() {
        return succeeded + failed + cancelled;
    }

    /**
     * Returns how long a task ran on average, waiting not included.
     *
     * @return the mean over the started tasks that have ended; zero if there is none
     */
    public Duration averageDuration() {
        return completed() == 0 ? Duration.ZERO : totalDuration.dividedBy(completed());
    }

    /**
     * Returns how long a task had waited on average before it started.
     *
     * @return the mean over the started tasks that have ended; zero if there is none
     */
    public Duration averageWait() {
        return completed() == 0 ? Duration.ZERO : totalWait.dividedBy(completed());
    }
}
