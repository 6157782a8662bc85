package dev.raddle.kernel;

import dev.raddle.task.Rate;
import java.math.BigInteger;

/** A {@link Rate} as the exact times that an {@link Allowance} adds and compares. Immutable. */
public final class RateLimit {

    /*
     * The interval between two starts, period / count, is rarely a whole number of nanoseconds. It is kept as whole
     * nanoseconds and a fraction, which counts parts of 1 / count ns. So sums of intervals are exact, and there is no
     * drift. Times beyond LONGEST are cut, so that differences of moments do not overflow.
     */
    static final long LONGEST = Long.MAX_VALUE / 4; // nanoseconds: 73 years

    private final Rate rate;
    private final long period; // nanoseconds
    private final long spare; // whole nanoseconds of burst - 1 intervals
    private final int spareFraction;
    private final long interval; // whole nanoseconds
    private final int intervalFraction;

    /**
     * Creates the times of a rate.
     *
     * @param rate the rate
     */
    public RateLimit(Rate rate) {
        this.rate = rate;
        this.period = rate.period().toNanos();
        this.interval = period / rate.count();
        this.intervalFraction = (int) (period % rate.count());
        this.spare = nanos(rate.burst() - 1);
        this.spareFraction = fraction(rate.burst() - 1);
    }

    /**
     * Returns the rate.
     *
     * @return the rate of the constructor
     */
    public Rate rate() {
        return rate;
    }

    int count() {
        return rate.count();
    }

    boolean isStrict() {
        return rate.isStrict();
    }

    /** Returns the period in nanoseconds. */
    long period() {
        return period;
    }

    /** Returns a moment some periods later. */
    long periodsAfter(long moment, int periods) {
        return moment + (periods > LONGEST / period ? LONGEST : periods * period);
    }

    /**
     * Returns the number of permits that flow into a bucket in some nanoseconds, rounded up, at most a given number.
     */
    int permitsIn(long nanos, int most) {
        BigInteger permits = BigInteger.valueOf(nanos)
                .multiply(BigInteger.valueOf(count()))
                .add(BigInteger.valueOf(period - 1))
                .divide(BigInteger.valueOf(period));
        return permits.min(BigInteger.valueOf(most)).intValue();
    }

    /** Returns whether a bucket must be full for a start of some cost. */
    boolean needsAll(int cost) {
        return cost >= rate.burst();
    }

    /** Returns the whole nanoseconds in which a number of permits flow into a bucket. */
    long nanos(int permits) {
        if (permits == 1) {
            return interval;
        }
        long whole = interval > LONGEST / Math.max(1, permits) ? LONGEST : interval * permits;
        return Math.min(LONGEST, whole + (long) intervalFraction * permits / rate.count());
    }

    /** Returns what is left of that time after the whole nanoseconds, in units of 1 / count ns. */
    int fraction(int permits) {
        return permits == 1 ? intervalFraction : (int) ((long) intervalFraction * permits % rate.count());
    }

    /** Returns the whole nanoseconds that a bucket may lack to be full when a start of some cost takes place. */
    long spareNanos(int cost) {
        return cost == 1 ? spare : nanos(rate.burst() - cost);
    }

    int spareFraction(int cost) {
        return cost == 1 ? spareFraction : fraction(rate.burst() - cost);
    }

    /**
     * Returns the time in which this rate restores what is missing of another one, which that restores in some time:
     * nanoseconds, and a fraction in units of 1 / count ns. No more than the burst is missing, except what a larger
     * cost has used in advance. It is rounded up to such a unit, in which less than one permit flows in. Rounded up to
     * a nanosecond, a fast rate would make thousands of permits of a slow one missing.
     */
    BigInteger[] toRestoreAsMuchAs(long nanos, int fraction, RateLimit other) {
        BigInteger used = BigInteger.valueOf(nanos)
                .multiply(BigInteger.valueOf(other.count()))
                .add(BigInteger.valueOf(fraction));
        BigInteger inAdvance = used.subtract(other.unitsOfBurst()).max(BigInteger.ZERO);
        return inUnitsOf(other, used)
                .min(unitsOfBurst().add(inUnitsOf(other, inAdvance)))
                .divideAndRemainder(BigInteger.valueOf(count()));
    }

    /** Returns the time in which a whole burst flows in, in units of 1 / count ns: of each permit, the period. */
    private BigInteger unitsOfBurst() {
        return BigInteger.valueOf(period).multiply(BigInteger.valueOf(rate.burst()));
    }

    /** Returns the time in which this rate restores what another one does in some time, both in their units. */
    private BigInteger inUnitsOf(RateLimit other, BigInteger units) {
        BigInteger[] own =
                units.multiply(BigInteger.valueOf(period)).divideAndRemainder(BigInteger.valueOf(other.period));
        return own[1].signum() == 0 ? own[0] : own[0].add(BigInteger.ONE);
    }

    /** Returns whether another object is a limit of an equal rate. */
    @Override
    public boolean equals(Object other) {
        return other instanceof RateLimit limit && limit.rate.equals(rate);
    }

    @Override
    public int hashCode() {
        return rate.hashCode();
    }

    @Override
    public String toString() {
        return rate.toString();
    }
}
