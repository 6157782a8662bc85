package dev.raddle.time;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * A spin lock for critical sections of a few instructions. It is one field of the object that it guards. A section does
 * not block and does not call user code. The lock is not reentrant.
 */
abstract class BriefLock extends Padding {

    /*
     * Overview.
     *
     * A thread that finds the lock held spins and tries again, longer each time, because parking and unparking would
     * cost more than many sections. If the lock is held for longer than that, its holder has lost its processor. The
     * waiting thread then sleeps briefly before each attempt, so that the holder can run. It clears its interrupt
     * status meanwhile, which would turn the sleep into spinning, and restores it afterwards.
     *
     * The kernel has a lock of the same kind, SpinLock, and padding of the same size. They are separate because this
     * package imports no other, and a lock that both could use would have to be public here, in an exported package.
     */

    private static final int MIN_SPINS = 8; // calls of onSpinWait, less than a microsecond in total
    private static final int MAX_SPINS = 256;
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

    /** Acquires this lock. The caller must call {@link #unlock} in a {@code finally} block. */
    final void lock() {
        if (!LOCKED.compareAndSet(this, false, true)) {
            lockAfterPauses();
        }
    }

    /** Releases this lock. Actions in a section <i>happen-before</i> the next section. */
    final void unlock() {
        LOCKED.setRelease(this, false);
    }

    private void lockAfterPauses() {
        for (int spins = MIN_SPINS; spins <= MAX_SPINS; spins *= 2) {
            for (int i = 0; i < spins; i++) {
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
