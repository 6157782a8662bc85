package dev.raddle.group;

import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The alarm that lets a group proceed at some moment: when its rate allows the next task, or when a hold ends. */
final class GroupAlarm {

    /*
     * GroupAlarms has at most one alarm of each kind for a group, in maps that are changed under the group's lock.
     * It is armed after the lock was released, when it may have been replaced or cancelled already. The thread that
     * arms it writes `alarm` and then reads `cancelled`, the one that cancels it writes `cancelled` and then reads
     * `alarm`; so at least one of them sees both. An alarm that fires nevertheless is in no map, and has no effect.
     */
    final long moment; // in nanoseconds of the time source
    private @Nullable GroupAlarm replaced; // until this is armed
    private volatile @Nullable Alarm alarm;
    private volatile boolean cancelled;

    /** Creates an alarm in the place of another one, which is cancelled when this is armed. */
    GroupAlarm(long moment, @Nullable GroupAlarm replaced) {
        this.moment = moment;
        this.replaced = replaced;
    }

    void arm(TimeSource time, Runnable action) {
        alarm = time.after(Duration.ofNanos(Math.max(0, moment - time.nanoTime())), action);
        if (replaced != null) {
            replaced.cancel();
            replaced = null;
        }
        if (cancelled) {
            cancel();
        }
    }

    void cancel() {
        cancelled = true;
        Alarm set = alarm;
        if (set != null) {
            set.cancel();
        }
    }
}
