package dev.raddle.task;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;

/**
 * How many tasks may start per time: at most {@link #burst()} + t × {@link #count()} / {@link #period()} in every
 * window of length t.
 *
 * <p>A rate is like a bucket that holds {@link #burst()} permits and receives one every {@link #period()} / {@link
 * #count()}. A task takes one permit, or as many as its {@linkplain TaskSpec#cost cost}, when it
 * starts. A task that costs more than the burst starts when the bucket is full, and those after it wait until its whole
 * cost has flowed in. Immutable.
 *
 * {@snippet :
 * Rate api = Rate.perSecond(100);                          // bursts of 100
 * Rate smooth = Rate.perSecond(100).burst(1);              // one every 10 ms
 * Rate quota = Rate.of(10_000, Duration.ofHours(1)).burst(500);
 * }
 *
 * @param count the number of starts in a period, at least 1
 * @param period the period, from 1 ns to {@link #LONGEST_PERIOD}
 * @param burst the number of tasks that may start at once after a pause, at least 1
 * @see <a href="https://www.itu.int/rec/T-REC-I.371">ITU-T I.371, annex A: the generic cell rate algorithm</a>
 */
public record Rate(int count, Duration period, int burst) {

    /** The longest period of a rate. */
    public static final Duration LONGEST_PERIOD = Duration.ofDays(366);

    private static final Map<Duration, String> UNITS = Map.of(
            Duration.ofSeconds(1), "second",
            Duration.ofMinutes(1), "minute",
            Duration.ofHours(1), "hour",
            Duration.ofDays(1), "day");

    /** Checks the components. */
    public Rate {
        atLeastOne("count", count);
        atLeastOne("burst", burst);
        Objects.requireNonNull(period, "period");
        if (period.compareTo(Duration.ofNanos(1)) < 0 || period.compareTo(LONGEST_PERIOD) > 0) {
            throw new IllegalArgumentException("the period of a rate must be between 1 ns and 366 days, was " + period);
        }
    }

    /**
     * Returns a rate per second, with a burst of the same number.
     *
     * @param count the number of starts per second, at least 1
     * @return the rate
     * @throws IllegalArgumentException if it is less than 1
     */
    public static Rate perSecond(int count) {
        return of(count, Duration.ofSeconds(1));
    }

    /**
     * Returns a rate, with a burst of its count.
     *
     * @param count the number of starts in a period, at least 1
     * @param period the period, from 1 ns to {@link #LONGEST_PERIOD}
     * @return the rate
     * @throws IllegalArgumentException if a number is outside its range
     */
    public static Rate of(int count, Duration period) {
        return new Rate(count, period, count);
    }

    /**
     * Returns this rate with another burst.
     *
     * @param tasks the number of tasks that may start at once after a pause, at least 1
     * @return a rate with the same count and period
     * @throws IllegalArgumentException if it is less than 1
     */
    public Rate burst(int tasks) {
        return new Rate(count, period, tasks);
    }

    private static void atLeastOne(String name, int value) {
        if (value < 1) {
            throw new IllegalArgumentException("the " + name + " of a rate must be at least 1, was " + value);
        }
    }

    /** Returns the number and the period, as in {@code 100 per second} or {@code 5 per PT1M30S, burst 1}. */
    @Override
    public String toString() {
        String per = UNITS.getOrDefault(period, period.toString());
        return count + " per " + per + (burst == count ? "" : ", burst " + burst);
    }
}
