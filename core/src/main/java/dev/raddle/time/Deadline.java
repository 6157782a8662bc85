package dev.raddle.time;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * A moment, computed once where a wait begins and passed inward whole.
 *
 * {@snippet :
 * Deadline deadline = Deadline.after(TimeSource.system(), Duration.ofMillis(200));
 * first.await(deadline);
 * second.await(deadline); // the same moment, whatever the first wait took
 * }
 *
 * @param time the clock that the moment is on
 * @param nanoTime the moment, as a value of {@link TimeSource#nanoTime()}
 */
public record Deadline(TimeSource time, long nanoTime) {

    private static final long LONGEST = Long.MAX_VALUE >> 1; // about 146 years: differences of moments never overflow

    /**
     * Returns the moment that is a length of time away from now.
     *
     * @param time the clock to read
     * @param timeout the length; one too long for a {@code long} of nanoseconds means about 146 years
     * @return the deadline
     */
    public static Deadline after(TimeSource time, Duration timeout) {
        return new Deadline(time, time.nanoTime() + nanos(timeout));
    }

    /**
     * Returns a length in nanoseconds, cut to what can be added to a moment without overflow.
     *
     * @param length any duration
     * @return nanoseconds, from minus to plus about 146 years
     */
    public static long nanos(Duration length) {
        return Math.clamp(TimeUnit.NANOSECONDS.convert(length), -LONGEST, LONGEST);
    }

    /**
     * Returns how long it is until this moment.
     *
     * @return the remaining time; zero or less if it has passed
     */
    public Duration remaining() {
        return Duration.ofNanos(nanoTime - time.nanoTime());
    }

    /**
     * Tells whether this moment has passed.
     *
     * @return true if it is now or was before
     */
    public boolean hasPassed() {
        return nanoTime - time.nanoTime() <= 0;
    }

    /**
     * Runs an action at this moment, under the rules of {@link TimeSource#after}.
     *
     * @param action what to do then
     * @return the alarm, to call it off
     */
    public Alarm alarm(Runnable action) {
        return time.after(remaining(), action);
    }
}
