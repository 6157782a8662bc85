package dev.raddle.group;

import java.time.Duration;
import java.util.Objects;

/**
 * The result of a shutdown of an executor: whether its accepted tasks had all ended, or how many were ended by the
 * shutdown.
 *
 * {@snippet :
 * executor.close();
 * executor.shutdownReport()
 *         .filter(report -> !report.isDrained())
 *         .ifPresent(report -> alerts.send("tasks were lost: " + report));
 * }
 *
 * @param interrupted the number of tasks that ran when the timeout passed, and were interrupted
 * @param rejected the number of tasks that waited at that moment, and were rejected
 * @param waited the time for which the shutdown waited for accepted tasks; zero for {@link GroupExecutor#shutdown()}
 */
public record GroupShutdownReport(int interrupted, int rejected, Duration waited) {

    /** Checks that the time is not null. */
    public GroupShutdownReport {
        Objects.requireNonNull(waited, "waited");
    }

    /**
     * Returns whether every accepted task had ended by itself.
     *
     * @return true if no task was interrupted or rejected by the shutdown
     */
    public boolean isDrained() {
        return interrupted == 0 && rejected == 0;
    }

    @Override
    public String toString() {
        return (isDrained()
                        ? "drained"
                        : interrupted + " running tasks interrupted, " + rejected + " waiting ones rejected")
                + " after " + waited.toMillis() + " ms";
    }
}
