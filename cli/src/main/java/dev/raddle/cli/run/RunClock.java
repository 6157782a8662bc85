package dev.raddle.cli.run;

import java.time.Instant;
import java.time.InstantSource;

/**
 * The time of a run: that of the system at its start, and what a monotonic clock has measured since. So two times of a
 * run are as far apart as its durations say, also if the clock of the system is set in between.
 */
public final class RunClock implements InstantSource {
    private final Instant start = Instant.now();
    private final long startNanos = System.nanoTime();

    @Override
    public Instant instant() {
        return start.plusNanos(System.nanoTime() - startNanos);
    }
}
