package dev.raddle.kernel;

import dev.raddle.lock.SpinLock;
import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The time for which the process has run: that of a time source, without the gaps in which the process was stopped, by
 * a signal, a container, a long collection, or a computer asleep.
 */
public final class RunningClock extends SpinLock {

    /*
     * Overview.
     *
     * No clock says for how long the process was stopped. But while it runs, a tick observes the time every TICK, and
     * each reader observes it as well. So if two observations are further apart than LONGEST, nothing ran in between
     * for about as long as the rest: that rest is lost. A process that is stopped loses all but LONGEST; a timer thread
     * that is late on a busy machine loses nothing if the time is read meanwhile.
     *
     *   seen   the moment of the last observation, or UNWATCHED while there are no ticks
     *   lost   the sum of all gaps, written before `seen`
     *
     * A reader reads `seen`, and usually nothing else. It observes the time itself if the last tick is overdue, because
     * the threads of a process that continues may run before its timer does. A reader that had read the time before the
     * process was stopped may subtract a gap that came later, so its result may be too small.
     *
     * The ticks end when they are not needed. A thread that needs them makes the need visible and then calls watch();
     * the tick writes UNWATCHED and then reads the need again. So one of the two sees the other's write.
     */

    private static final long UNWATCHED = Long.MIN_VALUE;
    private static final long TICK = 50_000_000;
    private static final long LONGEST = 2 * TICK; // between two observations while the process runs

    private volatile long seen = UNWATCHED; // written under this
    private volatile @Nullable Alarm alarm; // of the next tick
    private volatile boolean closed; // read after `alarm` is written, and written before `alarm` is read
    private long lost; // written under this
    private long stopped = UNWATCHED; // the end of the last gap, or UNWATCHED; written under this

    /** Creates a clock that is not watched, so that nothing is lost. */
    public RunningClock() {}

    /**
     * Returns the moment on this clock.
     *
     * @param now the current time of the time source
     * @return the moment in nanoseconds, for differences
     */
    public long at(long now) {
        long last = seen;
        if (now - last > TICK && last != UNWATCHED) {
            observe(now);
        }
        return now - lost;
    }

    /**
     * Returns whether the process was stopped for a time.
     *
     * @param since a moment of the time source
     * @param now the current time of the time source
     * @return true if a gap has ended between the two
     */
    public boolean wasStopped(long since, long now) {
        at(now);
        long last = stopped;
        return last != UNWATCHED && last - since > 0;
    }

    /**
     * Returns whether there are ticks.
     *
     * @return false if no gap is noticed
     */
    public boolean isWatched() {
        return seen != UNWATCHED;
    }

    /**
     * Begins the ticks, unless they go on, this is closed, or the time source is a virtual one, in which every jump is
     * intended.
     *
     * @param time the time source
     * @param isNeeded returns whether the ticks are to go on
     */
    public void watch(TimeSource time, BooleanSupplier isNeeded) {
        if (closed || time.isVirtual()) {
            return;
        }
        try {
            if (begin(time.nanoTime())) {
                arm(time, isNeeded);
            }
        } catch (Throwable noTime) { // the caller has runs to start, and the next one tries again
            end();
        }
    }

    /** Ends the ticks for good. */
    public void close() {
        closed = true;
        Alarm armed = alarm;
        if (armed != null) {
            armed.cancel();
        }
    }

    private boolean begin(long now) {
        lock();
        try {
            boolean begins = seen == UNWATCHED;
            if (begins) {
                seen = moment(now);
            }
            return begins;
        } finally {
            unlock();
        }
    }

    private void arm(TimeSource time, BooleanSupplier isNeeded) {
        alarm = time.after(Duration.ofNanos(TICK), () -> tick(time, isNeeded));
        if (closed) {
            close();
        }
    }

    private void tick(TimeSource time, BooleanSupplier isNeeded) {
        try {
            observe(time.nanoTime());
            if (isNeeded.getAsBoolean()) {
                arm(time, isNeeded);
                return;
            }
        } catch (Throwable noTime) {
            // as above
        }
        end();
        if (isNeeded.getAsBoolean()) {
            watch(time, isNeeded);
        }
    }

    private void end() {
        lock();
        try {
            seen = UNWATCHED;
        } finally {
            unlock();
        }
    }

    private void observe(long now) {
        lock();
        try {
            long passed = now - seen;
            if (seen == UNWATCHED || passed <= 0) {
                return;
            }
            if (passed > LONGEST) {
                lost += passed - LONGEST;
                stopped = moment(now);
            }
            seen = moment(now);
        } finally {
            unlock();
        }
    }

    private static long moment(long now) {
        return GrantedPermits.moment(now);
    }
}
