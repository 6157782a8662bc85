package dev.raddle.time;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * A lock for sections of a few instructions, in one word of the object that it guards. A section waits for nobody, calls
 * nothing foreign, and is not entered twice by one thread.
 */
abstract class BriefLock extends Padding {

    /*
     * Overview.
     *
     * Whoever meets the lock taken pauses and tries again, longer each time; to park and be woken would cost more than many
     * sections. A lock that is taken for longer than that belongs to a thread that lost its processor. Those who want it
     * then sleep for a moment each time, so that it gets one. An interrupt that comes meanwhile is put back afterwards; it
     * would turn the sleep into spinning.
     */

    private static final int SHORTEST = 8; // pauses of a processor, less than a microsecond in all
    private static final int LONGEST = 256;
    private static final long NAP_NANOS = 50_000;
    private static final VarHandle LOCKED;

    static {
        try {
            LOCKED = MethodHandles.lookup().findVarHandle(BriefLock.class, "locked", boolean.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    private volatile boolean locked;

    BriefLock() {}

    /** Enters a section, which ends with {@link #unlock} in a {@code finally}. */
    final void lock() {
        if (!LOCKED.compareAndSet(this, false, true)) {
            lockAfterPauses();
        }
    }

    /** Leaves the section. Actions in it <i>happen-before</i> the next one. */
    final void unlock() {
        LOCKED.setRelease(this, false);
    }

    private void lockAfterPauses() {
        for (int pauses = SHORTEST; pauses <= LONGEST; pauses *= 2) {
            for (int i = 0; i < pauses; i++) {
                Thread.onSpinWait();
            }
            if (tryLock()) {
                return;
            }
        }
        lockAfterNaps();
    }

    private void lockAfterNaps() {
        boolean interrupted = false;
        do {
            interrupted |= Thread.interrupted();
            LockSupport.parkNanos(this, NAP_NANOS);
        } while (!tryLock());
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean tryLock() {
        return !locked && LOCKED.compareAndSet(this, false, true);
    }
}
