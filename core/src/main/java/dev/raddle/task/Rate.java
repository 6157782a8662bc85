package dev.raddle.task;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;

/**
 * How many tasks may start per time: at most {@link #burst()} + t × {@link #count()} / {@link #period()} in every
 * window of length t; or, if it is {@linkplain #strict() strict}, at most {@link #count()} in every window of one
 * period.
 *
 * <p>A rate that is not strict is like a bucket that holds {@link #burst()} permits and receives one every {@link
 * #period()} / {@link #count()}. A task takes one permit, or as many as its {@linkplain TaskSpec#cost cost}, when it
 * starts. A task that costs more than the burst starts when the bucket is full, and those after it wait until its whole
 * cost has flowed in. So {@code Rate.perSecond(100)} may start 200 tasks in the first second after a pause: a burst of
 * 100, and the 100 that flow in. A limit that somebody else counts, as "300 requests in any minute", needs a strict
 * rate, or a smaller burst and count.
 *
 * <p>A strict rate remembers the moments of its latest starts, 8 bytes each, for one period. A task of cost k counts as
 * k starts; one that costs more than {@link #count()} starts when no start counts any more, and those after it wait
 * until its whole cost could have started. Immutable.
 *
 * {@snippet :
 * Rate api = Rate.perSecond(100);                          // bursts of 100
 * Rate vendor = Rate.perMinute(300).strict();              // never more than 300 in any minute
 * Rate smooth = Rate.perSecond(100).burst(1);              // one every 10 ms
 * Rate quota = Rate.of(10_000, Duration.ofHours(1)).burst(500);
 * }
 *
 * @param count the number of starts in a period, at least 1
 * @param period the period, from 1 ns to {@link #LONGEST_PERIOD}
 * @param burst the number of tasks that may start at once after a pause, at least 1; the count if the rate is strict
 * @param isStrict whether no window of one period has more starts than the count
 * @see <a href="https://www.itu.int/rec/T-REC-I.371">ITU-T I.371, annex A: the generic cell rate algorithm</a>
 */
@CheckReturnValue
public record Rate(int count, Duration period, int burst, boolean isStrict) {

    /** The longest period of a rate. */
    public static final Duration LONGEST_PERIOD = Duration.ofDays(366);

    private static final int MOST_REMEMBERED = 10_000;

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
        if (isStrict && burst != count) {
            throw new IllegalArgumentException("a strict rate has no burst other than its count, " + count + ", was "
                    + burst + "; leave out strict() or burst(" + burst + ")");
        }
        if (isStrict && count > MOST_REMEMBERED) {
            throw new IllegalArgumentException("the count of a strict rate must be at most " + MOST_REMEMBERED
                    + ", was " + count + "; take a shorter period, as " + MOST_REMEMBERED + " in a part of it");
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
     * Returns a rate per minute, with a burst of the same number.
     *
     * @param count the number of starts per minute, at least 1
     * @return the rate
     * @throws IllegalArgumentException if it is less than 1
     */
    public static Rate perMinute(int count) {
        return of(count, Duration.ofMinutes(1));
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
        return new Rate(count, period, count, false);
    }

    /**
     * Returns this rate with another burst.
     *
     * @param tasks the number of tasks that may start at once after a pause, at least 1
     * @return a rate with the same count and period
     * @throws IllegalArgumentException if it is less than 1, or if this rate is strict and it is another number
     */
    public Rate burst(int tasks) {
        return new Rate(count, period, tasks, isStrict);
    }

    /**
     * Returns this rate as a strict one: at most {@link #count()} tasks start in every window of one period, whenever
     * it begins. The burst is the count.
     *
     * @return a strict rate with the same count and period
     * @throws IllegalArgumentException if the count is more than 10,000
     */
    public Rate strict() {
        return new Rate(count, period, count, true);
    }

    private static void atLeastOne(String name, int value) {
        if (value < 1) {
            throw new IllegalArgumentException("the " + name + " of a rate must be at least 1, was " + value);
        }
    }

    /**
     * Returns the number and the period, as in {@code 100 per second}, {@code 5 per PT1M30S, burst 1} or {@code 300 per
     * minute, strict}.
     */
    @Override
    public String toString() {
        String per = UNITS.getOrDefault(period, period.toString());
        return count + " per " + per + (burst == count ? "" : ", burst " + burst) + (isStrict ? ", strict" : "");
    }
}
