package dev.raddle.scope;

import org.jspecify.annotations.Nullable;

/** What forkers write of {@link Unfinished}, kept off the cache line of what runners write. */
abstract class ForkersSide {

    volatile int forked; // by the owner; written by the owner only
    volatile @Nullable ForkedSubtask<?> newest;
    volatile boolean sweeping;
    volatile int sweeps; // how often a sweep has begun or ended: odd while one is under way
    int listed; // since the last sweep, about: forkers may lose one another's increments
    int sweepAt;

    /** The gap. */
    @SuppressWarnings("unused") // it is there to be in between
    abstract static class Gap extends ForkersSide {
        private long p0, p1, p2, p3;
    }
}
