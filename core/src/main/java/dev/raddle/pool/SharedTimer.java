package dev.raddle.pool;

import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** A recurring action of a pool that uses one alarm for all workers. */
final class SharedTimer {

    /*
     * Overview.
     *
     * The action does what is due and returns the number of nanoseconds until it must run again, or NEVER. `alarm` is
     * the pending alarm, `dueAt` its time; both change under the monitor, under which only the time source's own
     * bookkeeping runs. An earlier alarm replaces a later one, and an alarm that has been replaced does nothing when it
     * fires.
     *
     * A caller first writes what the action must see, then calls scheduleWithin(). An alarm that fires is cleared
     * first, and then runs the action. So either the action sees the write, or scheduleWithin() finds no pending alarm
     * and sets one. The check without the monitor is safe for the same reason: the action of an alarm that is seen
     * there has not run yet.
     */

    static final long NEVER = Long.MAX_VALUE;
    private static final long MAX_DELAY = Long.MAX_VALUE >> 1;

    private final TimeSource time;
    private final LongSupplier action;
    private volatile @Nullable Alarm alarm; // written under the monitor
    private volatile long dueAt; // written under the monitor
    private long generation; // guarded by this; identifies the pending alarm
    private boolean stopped; // guarded by this

    SharedTimer(TimeSource time, LongSupplier action) {
        this.time = time;
        this.action = action;
    }

    /** Ensures that the action runs within a number of nanoseconds. */
    void scheduleWithin(long nanos) {
        long length = Math.min(nanos, MAX_DELAY);
        long at = time.nanoTime() + length;
        if (alarm == null || dueAt - at > 0) {
            set(at, length);
        }
    }

    private synchronized void set(long at, long length) {
        Alarm later = alarm;
        if (stopped || (later != null && dueAt - at <= 0)) {
            return;
        }
        if (later != null) {
            later.cancel();
            alarm = null;
        }
        long number = ++generation;
        dueAt = at;
        alarm = time.after(Duration.ofNanos(length), () -> fire(number));
    }

    private void fire(long number) {
        synchronized (this) {
            if (number != generation) {
                return;
            }
            alarm = null;
        }
        long next = action.getAsLong();
        if (next != NEVER) {
            scheduleWithin(next);
        }
    }

    /** Stops the timer. No alarm is pending after this. */
    synchronized void stop() {
        stopped = true;
        Alarm pending = alarm;
        if (pending != null) {
            pending.cancel();
            alarm = null;
            generation++; // in case it fires nevertheless
        }
    }
}
