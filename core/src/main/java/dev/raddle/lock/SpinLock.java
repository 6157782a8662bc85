package dev.raddle.lock;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * A lock for sections of a few instructions, in one word of the object that it guards.
 *
 * {@snippet :
 * final class Counter extends SpinLock {
 *     private long count; // guarded by this lock
 *
 *     void add(long more) {
 *         lock();
 *         try {
 *             count += more;
 *         } finally {
 *             unlock();
 *         }
 *     }
 * }
 * }
 *
 * <p>A section must not block or call user code. The lock is not reentrant.
 */
public abstract class SpinLock {

    /*
     * Overview.
     *
     * A thread that finds the lock taken pauses and tries again, and pauses longer each time. Parking would cost more
     * than a hundred of these sections; and trying without a pause would take the cache lines from the holder in the
     * middle of its section. The pauses let the holder's processor execute several sections in a row.
     *
     * If the lock is still taken then, its holder executes a long section (it drains a queue), or has lost its
     * processor or its carrier. The waiting threads then park for a moment before each attempt. Yielding would not
     * suffice: virtual threads that yield to each other on all carriers would keep the holder from getting one. The
     * interrupt status is cleared before parking, because parking would return at once, and is restored afterwards.
     */

    private static final int SOONEST = 4; // pauses, less than a microsecond in all
    private static final int SHORTEST = 256; // pauses of a processor, some ten microseconds in all
    private static final int LONGEST = 1_024;
    private static final long NAP_NANOS = 50_000;
    private static final VarHandle LOCKED = Fields.handle(MethodHandles.lookup(), "locked", boolean.class);

    private volatile boolean locked;

    /** Creates a lock that is free. */
    protected SpinLock() {}

    /** Enters a section, which ends with {@link #unlock} in a {@code finally}. */
    public final void lock() {
        if (!LOCKED.compareAndSet(this, false, true)) {
            lockAfterPauses();
        }
    }

    /**
     * Enters a section as {@link #lock} does, with shorter pauses first. For sections between which a thread does other
     * work, so that contention is rare.
     */
    public final void lockSoon() {
        if (!LOCKED.compareAndSet(this, false, true) && !tryLockSoon()) {
            lockAfterPauses();
        }
    }

    private boolean tryLockSoon() {
        for (int pauses = SOONEST; pauses < SHORTEST; pauses *= 2) {
            pause(pauses);
            if (tryLock()) {
                return true;
            }
        }
        return false;
    }

    /** Leaves the section. Actions in it <i>happen-before</i> the next one. */
    public final void unlock() {
        LOCKED.setRelease(this, false);
    }

    /**
     * Returns whether a thread is in a section, for assertions.
     *
     * @return true between {@link #lock} and {@link #unlock}
     */
    public final boolean isLocked() {
        return locked;
    }

    /**
     * Calls a supplier in a section. Code in which nanoseconds matter uses {@link #lock} instead.
     *
     * @param <R> the type of the result
     * @param section the supplier
     * @return the result of the supplier
     */
    public final <R> R locked(Supplier<R> section) {
        lock();
        try {
            return section.get();
        } finally {
            unlock();
        }
    }

    private void lockAfterPauses() {
        for (int pauses = SHORTEST; pauses <= LONGEST; pauses *= 2) {
            pause(pauses);
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

    private static void pause(int pauses) {
        for (int i = 0; i < pauses; i++) {
            Thread.onSpinWait();
        }
    }
}
