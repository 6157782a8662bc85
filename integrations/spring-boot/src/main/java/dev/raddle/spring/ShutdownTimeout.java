package dev.raddle.spring;

import dev.raddle.time.TimeSource;
import java.time.Duration;

/**
 * How long a shutdown waits, and by which clock. Tests with a virtual time replace it.
 *
 * @param timeout the time for runs and tasks
 * @param time the clock for tasks; runs end by the time of this machine
 * @param grace the time for returning runs to the database, in addition
 */
record ShutdownTimeout(Duration timeout, TimeSource time, Duration grace) {

    private static final Duration GRACE = Duration.ofSeconds(5);

    ShutdownTimeout(Duration timeout, TimeSource time) {
        this(timeout, time, GRACE);
    }

    /** Returns the part of the time in which runs may end. */
    Duration forRuns(RaddleProperties.Flows settings) {
        Duration own = settings.closeTimeout();
        if (own == null) {
            return timeout.dividedBy(2);
        }
        return own.compareTo(timeout) < 0 ? own : timeout;
    }
}
