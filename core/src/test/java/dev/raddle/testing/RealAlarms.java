package dev.raddle.testing;

import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import java.time.Duration;

/** Virtual time that, as real time does, leaves what follows from its alarms to other threads. */
public record RealAlarms(VirtualTime time) implements TimeSource {

    @Override
    public long nanoTime() {
        return time.nanoTime();
    }

    @Override
    public Alarm after(Duration delay, Runnable action) {
        return time.after(delay, action);
    }
}
