package dev.raddle.kernel;

/**
 * The state of a rate limit: which starts it allows, given those so far. Guarded by the gate, or owned by the combiner
 * of the cap, that it belongs to. Moments are nanoseconds of a time source, compared by their differences because they
 * may wrap around.
 */
abstract sealed class Allowance permits Bucket, StartWindow {

    RateLimit limit;

    Allowance(RateLimit limit) {
        this.limit = limit;
    }

    /** Returns the state of a rate of which nothing has been used. */
    static Allowance of(RateLimit limit, long now) {
        return limit.isStrict() ? new StartWindow(limit, now) : new Bucket(limit, now);
    }

    final RateLimit limit() {
        return limit;
    }

    /** Returns whether nothing is used. A new allowance is equal to this one then. */
    abstract boolean isFull(long now);

    /** Returns the first whole nanosecond in which this is full if nothing starts before. */
    abstract long fullAt();

    abstract boolean allows(int cost, long now);

    /** Returns the first whole nanosecond in which a start is allowed, or an earlier one if it is allowed now. */
    abstract long allowedAt(int cost);

    /** Records a start that is allowed. */
    abstract void take(int cost, long now);

    /** Changes the rate without forgetting what is used. Returns this, or what takes its place. */
    abstract Allowance change(RateLimit to, long now);
}
