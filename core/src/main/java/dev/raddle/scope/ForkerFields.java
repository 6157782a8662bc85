package dev.raddle.scope;

import org.jspecify.annotations.Nullable;

/** The fields of {@link PendingSubtasks} that forkers write, on another cache line than those that runners write. */
abstract class ForkerFields {

    volatile int forked; // the owner's forks; written only by the owner
    volatile @Nullable ForkedSubtask<?> newest;
    volatile boolean sweeping;
    volatile int sweeps; // incremented when a sweep begins and when it ends: odd while one is under way
    int listed; // approximate number since the last sweep: concurrent forkers may lose increments
    int sweepAt;

    /** Padding between the cache lines: a whole line, because the object may begin anywhere in one. */
    @SuppressWarnings("unused") // only occupies space
    abstract static class Padding extends ForkerFields {
        private long p0, p1, p2, p3, p4, p5, p6, p7;
    }
}
