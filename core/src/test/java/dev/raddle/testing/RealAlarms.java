package dev.raddle.testing;

import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.time.Instant;

/** Virtual time whose alarms leave their subsequent work to other threads, as those of the system time source do. */
public record RealAlarms(VirtualTime time) implements TimeSource {

    @Override
    public long nanoTime() {
        return time.nanoTime();
    }

    @Override
    public Instant instant() {
        return time.instant();
    }

    @Override
    public Alarm after(Duration delay, Runnable action) {
        return time.after(delay, action);
    }
}
