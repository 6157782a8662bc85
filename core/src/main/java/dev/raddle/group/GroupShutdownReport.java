package dev.raddle.group;

import java.time.Duration;
import java.util.Objects;

/**
 * How an executor was shut down: whether its accepted tasks had all ended, or what was taken from them.
 *
 * {@snippet :
 * executor.close();
 * executor.shutdownReport()
 *         .filter(report -> !report.isDrained())
 *         .ifPresent(report -> alerts.send("work was lost: " + report));
 * }
 *
 * @param interrupted the tasks that ran when the shutdown ended its patience, and were interrupted
 * @param rejected the tasks that waited then, and were rejected
 * @param waited the time for which the shutdown let accepted tasks finish; zero for {@link GroupExecutor#shutdown()}
 */
public record GroupShutdownReport(int interrupted, int rejected, Duration waited) {

    /** Checks that the time is not null. */
    public GroupShutdownReport {
        Objects.requireNonNull(waited, "waited");
    }

    /**
     * Returns whether every accepted task had ended by then.
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
