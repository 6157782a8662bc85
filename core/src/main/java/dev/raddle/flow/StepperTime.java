package dev.raddle.flow;

import dev.raddle.time.Alarm;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.TreeSet;

/** The time of a stepper: what its driver has reported. Alarms fire in the thread that reports the time. */
final class StepperTime implements TimeSource {

    /** A moment at which something takes effect. */
    static final class Moment implements Alarm, Comparable<Moment> {
        private final StepperTime time;
        final long nanos;
        final long sequence; // the order of moments that are equal
        private final Runnable action;

        private Moment(StepperTime time, long nanos, long sequence, Runnable action) {
            this.time = time;
            this.nanos = nanos;
            this.sequence = sequence;
            this.action = action;
        }

        @Override
        public boolean cancel() {
            return time.moments.remove(this);
        }

        @Override
        public int compareTo(Moment other) {
            return nanos == other.nanos ? Long.compare(sequence, other.sequence) : Long.compare(nanos, other.nanos);
        }
    }

    private final TreeSet<Moment> moments = new TreeSet<>();
    private long made;
    private volatile long now; // written by the driver's thread, read by the threads of actions
    private volatile Instant origin = Instant.EPOCH;

    void setOrigin(Instant moment) {
        origin = moment;
    }

    @Override
    public long nanoTime() {
        return now;
    }

    @Override
    public Instant instant() {
        return origin.plusNanos(now);
    }

    @Override
    public Moment after(Duration delay, Runnable action) {
        return at(now + Deadline.nanos(delay), action);
    }

    /** Runs an action once, when a moment is reported, which may have passed. */
    Moment at(long nanos, Runnable action) {
        Moment moment = new Moment(this, nanos, made++, action);
        moments.add(moment);
        return moment;
    }

    @Override
    public boolean follow(Runnable action) {
        action.run();
        return true;
    }

    /** Sets the time, which does not go back. */
    void moveTo(long nanos) {
        now = Math.max(now, nanos);
    }

    /** Returns the next moment, or the largest number. */
    long next() {
        return moments.isEmpty() ? Long.MAX_VALUE : moments.first().nanos;
    }

    /** Fires the next alarm if it is due at a moment. Returns whether there was one. */
    boolean fireNext(long until) {
        if (moments.isEmpty() || moments.first().nanos > until) {
            return false;
        }
        Moment first = moments.removeFirst();
        moveTo(first.nanos);
        first.action.run();
        return true;
    }
}
