package dev.raddle.pool;

import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Looks after a whole crew with one alarm. */
final class Rounds {

    /*
     * Overview.
     *
     * A round does what is due and says in how many nanoseconds the next one is, or NEVER. `alarm` is the one that is set,
     * `dueAt` its moment; both change under the monitor, under which nothing runs but the time source's own bookkeeping. A
     * later alarm is replaced by an earlier one, and one that has been replaced does nothing when it rings.
     *
     * Whoever does something that a round must look at does it first, then calls within(). An alarm that rings is taken away
     * first, and looks then. So either the round sees it, or within() finds no alarm and sets one. The glance without the
     * monitor is safe for the same reason: an alarm that is seen there has not looked yet.
     */

    static final long NEVER = Long.MAX_VALUE;
    private static final long LONGEST = Long.MAX_VALUE >> 1;

    private final TimeSource time;
    private final LongSupplier round;
    private volatile @Nullable Alarm alarm; // written under the monitor
    private volatile long dueAt; // written under the monitor
    private long set; // guarded by this: how many alarms have been
    private boolean ended; // guarded by this

    Rounds(TimeSource time, LongSupplier round) {
        this.time = time;
        this.round = round;
    }

    /** Sees to it that there is a round after so many nanoseconds at the latest. */
    void within(long nanos) {
        long length = Math.min(nanos, LONGEST);
        long at = time.nanoTime() + length;
        if (alarm == null || dueAt - at > 0) {
            set(at, length);
        }
    }

    private synchronized void set(long at, long length) {
        Alarm later = alarm;
        if (ended || (later != null && dueAt - at <= 0)) {
            return;
        }
        if (later != null) {
            later.cancel();
            alarm = null;
        }
        long ticket = ++set;
        dueAt = at;
        alarm = time.after(Duration.ofNanos(length), () -> ring(ticket));
    }

    private void ring(long ticket) {
        synchronized (this) {
            if (ticket != set) {
                return;
            }
            alarm = null;
        }
        makeRound();
    }

    private void makeRound() {
        long next = round.getAsLong();
        if (next != NEVER) {
            within(next);
        }
    }

    /** Makes a round at once, instead of the one that is due. */
    void now() {
        takeAway();
        makeRound();
    }

    private synchronized void takeAway() {
        Alarm due = alarm;
        if (due != null) {
            due.cancel();
            alarm = null;
            set++; // should it ring all the same
        }
    }

    /** No round follows that has not begun. */
    void end() {
        synchronized (this) {
            ended = true;
        }
        takeAway();
    }
}
