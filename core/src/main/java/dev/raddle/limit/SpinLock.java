package dev.raddle.limit;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.Supplier;

/** A lock for sections of a few instructions, in one word of the object that it guards. */
abstract class SpinLock {

    /*
     * Overview.
     *
     * Whoever meets the lock taken pauses and tries again, and pauses longer each time. A thread that parked instead would
     * cost more than a hundred of these sections take; and one that tried without a pause would take the cache lines from
     * the holder in the middle of its section. The pauses let the holder's processor go through several sections in a row.
     *
     * A lock that is still taken after that is held for long (a queue is being drained) or by a thread that lost its
     * processor. Those who want it then yield theirs each time, and a virtual thread its carrier. So a section must not
     * block, must not call foreign code, and is not entered twice by one thread.
     */

    private static final int SHORTEST = 64; // pauses of a processor, a few microseconds in all
    private static final int LONGEST = 256;
    private static final int ROUNDS = 6;
    private static final VarHandle LOCKED;

    static {
        try {
            LOCKED = MethodHandles.lookup().findVarHandle(SpinLock.class, "locked", boolean.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    private volatile boolean locked;

    SpinLock() {}

    /** Enters a section, which ends with {@link #unlock} in a {@code finally}. */
    protected final void lock() {
        if (!LOCKED.compareAndSet(this, false, true)) {
            lockAfterPauses();
        }
    }

    /** Leaves the section. Actions in it <i>happen-before</i> the next one. */
    protected final void unlock() {
        LOCKED.setRelease(this, false);
    }

    /**
     * Tells whether some thread is in a section, for assertions.
     *
     * @return true between {@link #lock} and {@link #unlock}
     */
    protected final boolean isLocked() {
        return locked;
    }

    /**
     * Answers a question in a section of its own. Where nanoseconds count, write it out.
     *
     * @param <R> the type of the answer
     * @param section what to ask
     * @return the answer
     */
    protected final <R> R locked(Supplier<R> section) {
        lock();
        try {
            return section.get();
        } finally {
            unlock();
        }
    }

    @SuppressWarnings("ThreadPriorityCheck") // the holder may wait for this very processor
    private void lockAfterPauses() {
        int pauses = SHORTEST;
        for (int round = 0; ; round++) {
            if (round < ROUNDS) {
                pause(pauses);
                pauses = Math.min(2 * pauses, LONGEST);
            } else {
                Thread.yield();
            }
            if (!locked && LOCKED.compareAndSet(this, false, true)) {
                return;
            }
        }
    }

    private static void pause(int pauses) {
        for (int i = 0; i < pauses; i++) {
            Thread.onSpinWait();
        }
    }
}
