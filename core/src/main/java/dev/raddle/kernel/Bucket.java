package dev.raddle.kernel;

import java.math.BigInteger;

/** What is left of a rate with bursts. */
final class Bucket extends Allowance {

    /*
     * Overview.
     *
     * This is the generic cell rate algorithm. A bucket holds `burst` permits, and one flows in each interval. Its
     * whole state is one moment, at which it will be full if nothing starts before:
     *
     *   a start of cost k at the moment `now`   is allowed if  fullAt <= now + max(0, burst - k) x interval
     *                                           and sets       fullAt  = max(fullAt, now) + k x interval
     *
     * So no thread refills anything, and an unused bucket costs only its memory. When it is full it can be
     * forgotten: a new one is equal to it.
     *
     * The moment is in whole nanoseconds of the time source and a fraction, see RateLimit. Moments are compared by
     * their differences, because the nanoseconds of a time source may wrap around.
     */
    private long fullAt;
    private int fraction; // from 0 to count - 1, in units of 1 / count ns

    /** Creates a full bucket. */
    Bucket(RateLimit limit, long now) {
        super(limit);
        fullAt = now;
    }

    @Override
    boolean isFull(long now) {
        return fullAt - now < 0 || (fullAt == now && fraction == 0);
    }

    @Override
    long fullAt() {
        return fraction == 0 ? fullAt : fullAt + 1;
    }

    @Override
    boolean allows(int cost, long now) {
        if (isFull(now)) {
            return true;
        }
        if (limit.needsAll(cost)) {
            return false;
        }
        long lacking = fullAt - now;
        long spare = limit.spareNanos(cost);
        return lacking < spare || (lacking == spare && fraction <= limit.spareFraction(cost));
    }

    @Override
    long allowedAt(int cost) {
        if (limit.needsAll(cost)) {
            return fullAt();
        }
        long moment = fullAt - limit.spareNanos(cost);
        return fraction <= limit.spareFraction(cost) ? moment : moment + 1;
    }

    @Override
    void take(int cost, long now) {
        if (fullAt - now < 0) {
            fullAt = now;
            fraction = 0;
        }
        long sum = (long) fraction + limit.fraction(cost);
        boolean carry = sum >= limit.count();
        fraction = (int) (carry ? sum - limit.count() : sum);
        fullAt += limit.nanos(cost) + (carry ? 1 : 0);
    }

    /** The permits that are missing now, at most the new burst, flow in at the new rate, or count as starts of now. */
    @Override
    Allowance change(RateLimit to, long now) {
        if (to.isStrict()) {
            return StartWindow.after(missing(to.count(), now), to, now);
        }
        RateLimit from = limit;
        limit = to;
        if (isFull(now)) {
            fullAt = now;
            fraction = 0;
            return this;
        }
        BigInteger[] time = to.toRestoreAsMuchAs(fullAt - now, fraction, from);
        boolean tooLong = time[0].bitLength() >= Long.SIZE - 2; // beyond RateLimit's longest time
        fullAt = now + (tooLong ? RateLimit.LONGEST : time[0].longValue());
        fraction = tooLong ? 0 : time[1].intValue();
        return this;
    }

    /** Returns the number of permits that are missing, rounded up, at most a given number. */
    private int missing(int most, long now) {
        return isFull(now) ? 0 : limit.permitsIn(fullAt() - now, most);
    }
}
