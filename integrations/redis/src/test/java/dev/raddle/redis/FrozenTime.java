package dev.raddle.redis;

import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import java.time.Duration;

/** A clock that stands still while alarms fire: a client with it never sees that its lease has ended. */
final class FrozenTime implements TimeSource {
    @Override
    public long nanoTime() {
        return 0;
    }

    @Override
    public Alarm after(Duration delay, Runnable action) {
        return TimeSource.system().after(delay, action);
    }
}
