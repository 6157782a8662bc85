package dev.raddle.pool;

import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Looks after a whole crew with one alarm. */
final class Rounds {

    /*
     * Overview.
     *
     * A round does what is due and says in how many nanoseconds the next one is, or NEVER. `due` is true while an alarm is
     * set. Whoever does something that a round must look at does it first, then calls within(); an alarm clears `due` first
     * and looks then. So either the round sees it, or within() sets the next alarm.
     *
     * An alarm that is set is never later than it must be, because what comes up later is due later; where a setting is
     * lowered, now() makes a round at once. One that has become needless finds nothing and sets none.
     */

    static final long NEVER = Long.MAX_VALUE;

    private final TimeSource time;
    private final LongSupplier round;
    private final AtomicBoolean due = new AtomicBoolean();
    private volatile @Nullable Alarm alarm;
    private volatile boolean ended;

    Rounds(TimeSource time, LongSupplier round) {
        this.time = time;
        this.round = round;
    }

    /** Sees to it that there is a round after so many nanoseconds at the latest, if no earlier change made it later. */
    void within(long nanos) {
        if (!due.get() && due.compareAndSet(false, true)) {
            alarm = time.after(Duration.ofNanos(nanos), this::now);
            if (ended) {
                end();
            }
        }
    }

    void now() {
        due.set(false);
        long next = round.getAsLong();
        if (next != NEVER) {
            within(next);
        }
    }

    /** No round follows that has not begun. */
    void end() {
        ended = true;
        Alarm last = alarm;
        if (last != null) {
            last.cancel();
        }
    }
}
