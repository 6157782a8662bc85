package dev.raddle.group;

import dev.raddle.kernel.PendingAlarm;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The alarm that lets a group proceed at some moment: when its rate allows the next task, or when a hold ends. */
final class GroupAlarm extends PendingAlarm {

    final long moment; // in nanoseconds of the time source
    private @Nullable GroupAlarm replaced; // until this is armed

    /** Creates an alarm in the place of another one, which is disarmed when this is armed. */
    GroupAlarm(long moment, @Nullable GroupAlarm replaced) {
        this.moment = moment;
        this.replaced = replaced;
    }

    void arm(TimeSource time, Runnable action) {
        arm(time, Duration.ofNanos(Math.max(0, moment - time.nanoTime())), action);
        if (replaced != null) {
            replaced.disarm();
            replaced = null;
        }
    }
}
