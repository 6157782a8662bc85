package dev.raddle.time;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * A moment on a clock. It is computed once, where a wait begins, and passed to every step of the wait.
 *
 * {@snippet :
 * Deadline deadline = Deadline.after(TimeSource.system(), Duration.ofMillis(200));
 * first.await(deadline);
 * second.await(deadline); // the same moment, however long the first wait took
 * }
 *
 * @param time the clock of the moment
 * @param nanoTime the moment, as a value of {@link TimeSource#nanoTime()}
 */
public record Deadline(TimeSource time, long nanoTime) {

    private static final long LONGEST = Long.MAX_VALUE >> 1; // about 146 years: differences of moments never overflow

    /**
     * Returns the moment after a timeout, counted from now.
     *
     * @param time the clock to read
     * @param timeout the time until the deadline; if it is too long for a {@code long} of nanoseconds, about 146 years
     * @return the deadline
     */
    public static Deadline after(TimeSource time, Duration timeout) {
        return new Deadline(time, time.nanoTime() + nanos(timeout));
    }

    /**
     * Returns a duration in nanoseconds, clamped so that adding it to a moment cannot overflow.
     *
     * @param length any duration
     * @return the length in nanoseconds, between minus and plus about 146 years
     */
    public static long nanos(Duration length) {
        return Math.clamp(TimeUnit.NANOSECONDS.convert(length), -LONGEST, LONGEST);
    }

    /**
     * Returns the time until this moment.
     *
     * @return the remaining time; zero or less if it has passed
     */
    public Duration remaining() {
        return Duration.ofNanos(nanoTime - time.nanoTime());
    }

    /**
     * Returns whether this moment has passed.
     *
     * @return true if the clock has reached this moment
     */
    public boolean hasPassed() {
        return nanoTime - time.nanoTime() <= 0;
    }

    /**
     * Runs an action at this moment, under the rules of {@link TimeSource#after}.
     *
     * @param action the action to run
     * @return the alarm, which can cancel the action
     */
    public Alarm alarm(Runnable action) {
        return time.after(remaining(), action);
    }
}
