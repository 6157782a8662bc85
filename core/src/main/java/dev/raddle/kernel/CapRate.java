package dev.raddle.kernel;

import dev.raddle.lock.SpinLock;

/** The rate of a cap: its lock, which is the last in the order of locks, guards the allowance. */
final class CapRate extends SpinLock {

    final RateLimit limit;
    private final Allowance allowance; // guarded by this

    volatile boolean isThrottled; // set by the combiner when the rate does not allow the first permit of the line
    volatile long allowedAt; // when it will; written before that

    CapRate(RateLimit limit, long now) {
        this.limit = limit;
        this.allowance = Allowance.of(limit, now);
    }

    boolean allows(int cost, long now) {
        return now != GrantedPermits.NO_TIME && allowance.allows(cost, now);
    }

    void take(int cost, long now) {
        allowance.take(cost, now);
    }

    /** Records that the combiner has found a permit which is not allowed yet. */
    void throttle(int cost) {
        allowedAt = allowance.allowedAt(cost);
        isThrottled = true;
    }
}
