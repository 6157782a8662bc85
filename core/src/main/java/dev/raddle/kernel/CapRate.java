package dev.raddle.kernel;

import dev.raddle.lock.SpinLock;

/** The rate of a cap: its lock, which is the last in the order of locks, guards the bucket. */
final class CapRate extends SpinLock {

    final RateLimit limit;
    private final Bucket bucket; // guarded by this

    volatile boolean isThrottled; // set by the combiner when the rate does not allow the first permit of the line
    volatile long allowedAt; // when it will; written before that

    CapRate(RateLimit limit, long now) {
        this.limit = limit;
        this.bucket = new Bucket(limit, now);
    }

    boolean allows(int cost, long now) {
        return now != GrantedPermits.NO_TIME && bucket.allows(cost, now);
    }

    void take(int cost, long now) {
        bucket.take(cost, now);
    }

    /** Records that the combiner has found a permit which is not allowed yet. */
    void throttle(int cost) {
        allowedAt = bucket.allowedAt(cost);
        isThrottled = true;
    }
}
