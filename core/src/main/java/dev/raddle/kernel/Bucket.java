package dev.raddle.kernel;

import java.math.BigInteger;

/** The state of a rate limit. Guarded by the gate, or owned by the combiner of the cap, that it belongs to. */
final class Bucket {

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
    private RateLimit limit;
    private long fullAt;
    private int fraction; // from 0 to count - 1, in units of 1 / count ns

    /** Creates a full bucket. */
    Bucket(RateLimit limit, long now) {
        this.limit = limit;
        fullAt = now;
    }

    RateLimit limit() {
        return limit;
    }

    boolean isFull(long now) {
        return fullAt - now < 0 || (fullAt == now && fraction == 0);
    }

    /** Returns the first whole nanosecond in which this is full. */
    long fullAt() {
        return fraction == 0 ? fullAt : fullAt + 1;
    }

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

    /** Returns the first whole nanosecond in which a start is allowed. */
    long allowedAt(int cost) {
        if (limit.needsAll(cost)) {
            return fullAt();
        }
        long moment = fullAt - limit.spareNanos(cost);
        return fraction <= limit.spareFraction(cost) ? moment : moment + 1;
    }

    /** Takes the permits of a start that is allowed. */
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

    /** Changes the rate, so that the permits which are missing now flow in at the new one. */
    void change(RateLimit to, long now) {
        RateLimit from = limit;
        limit = to;
        if (isFull(now)) {
            fullAt = now;
            fraction = 0;
            return;
        }
        BigInteger[] time = to.toRestoreAsMuchAs(fullAt - now, fraction, from);
        boolean tooLong = time[0].bitLength() >= Long.SIZE - 2; // beyond RateLimit's longest time
        fullAt = now + (tooLong ? RateLimit.LONGEST : time[0].longValue());
        fraction = tooLong ? 0 : time[1].intValue();
    }
}
