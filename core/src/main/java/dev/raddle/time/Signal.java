package dev.raddle.time;

import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * An event that happens once. Threads can wait for it, and actions can be registered to run when it happens.
 *
 * {@snippet :
 * Signal done = new Signal();
 * done.whenSet(() -> System.out.println("over"));
 * done.set();
 * done.await();
 * }
 *
 * <p>Memory consistency effects: actions before {@link #set()} <i>happen-before</i> actions after a return from
 * {@link #await()}, actions after {@link #isSet()} has returned true, and the actions passed to {@link #whenSet}.
 */
public final class Signal {

    /*
     * Overview.
     *
     * `set` becomes true once; `first` and `last` are the ends of the list of waiters and actions, and are null from
     * then on. Both are guarded by this signal's monitor. No user code runs under the monitor: `set()` removes the
     * whole list and notifies its members after it has released the monitor.
     *
     * A waiter leaves the list in O(1) when its deadline passes or its thread is interrupted, so that polling with
     * short timeouts leaves nothing behind; an action leaves it when it is removed. In real time a waiter finds that
     * its deadline has passed, and needs no other thread for that; with another time source an alarm does so, which
     * may fire at once, so the waiter is in the list before. Up to three threads may race for a waiter: the setter,
     * its own, and that of an alarm. Each decides under the monitor, where `hasLeft` is written: the first of them
     * ends the wait, and the others find that it has ended. So a waiter is unlinked once, and a wait that has expired
     * returns false even if the signal is set a moment later.
     *
     * A platform thread spins on `set` before it parks, for about as long as parking and unparking would take, so it
     * loses no more than that, and sees an early event early. A virtual thread parks at once; the thread that it waits
     * for may need its carrier.
     */

    /** A waiting thread or a registered action. */
    private static final class Waiter {
        final @Nullable Thread thread;

        @Nullable
        Runnable action; // guarded by the signal until set() removes the list

        @Nullable
        Waiter previous; // guarded by the signal

        @Nullable
        Waiter next; // guarded by the signal until set() removes the list

        volatile boolean hasLeft; // because its deadline passed, its thread was interrupted or it was removed

        Waiter(@Nullable Thread thread, @Nullable Runnable action) {
            this.thread = thread;
            this.action = action;
        }
    }

    /** Removes a waiter. A class of its own: a lambda would delay the first wait of a JVM. */
    private record Removal(Signal signal, Waiter waiter) implements Runnable {
        @Override
        public void run() {
            signal.unlink(waiter);
        }
    }

    private static final int SPINS = Runtime.getRuntime().availableProcessors() > 1 ? 1024 : 0; // tens of microseconds

    private volatile boolean set;
    private @Nullable Waiter first; // guarded by this
    private @Nullable Waiter last; // guarded by this

    /** Creates a signal that is not set. */
    public Signal() {}

    /**
     * Returns whether the event has happened. Never blocks.
     *
     * @return true once {@link #set()} has been called
     */
    public boolean isSet() {
        return set;
    }

    /**
     * Sets this signal: wakes the waiting threads, then runs the actions in the calling thread, each in the order of
     * registration. Later calls do nothing.
     *
     * @return true if this call was the first
     */
    public boolean set() {
        Waiter waiters;
        synchronized (this) {
            if (set) {
                return false;
            }
            set = true;
            waiters = first;
            first = null;
            last = null;
        }
        boolean hasActions = false;
        for (Waiter waiter = waiters; waiter != null; waiter = waiter.next) {
            hasActions |= waiter.action != null;
            LockSupport.unpark(waiter.thread); // null has no effect
        }
        if (hasActions) {
            runActions(waiters);
        }
        return true;
    }

    /** Runs the actions of a list: all of them, even if one throws, as any may near the end of the stack. */
    private static void runActions(@Nullable Waiter waiters) {
        RuntimeException exception = null;
        Error error = null;
        for (Waiter waiter = waiters; waiter != null; waiter = waiter.next) {
            try {
                if (waiter.action != null) {
                    waiter.action.run();
                }
            } catch (RuntimeException failure) {
                exception = failure;
            } catch (Error failure) {
                error = failure;
            }
        }
        if (error != null) {
            throw error;
        }
        if (exception != null) {
            throw exception;
        }
    }

    /**
     * Runs an action when the event happens, in the thread that sets this signal. If the event has happened, the action
     * runs at once in the calling thread.
     *
     * @param action the action, which must not throw
     * @return a runnable that removes the action; it has no effect once the event has happened, and does not wait for
     *     an action that runs, or is about to
     */
    public Runnable whenSet(Runnable action) {
        Waiter waiter = new Waiter(null, action);
        if (!enqueue(waiter)) {
            action.run();
        }
        return new Removal(this, waiter);
    }

    /**
     * Waits until the event has happened.
     *
     * @throws InterruptedException if the calling thread is interrupted before or while it waits
     */
    public void await() throws InterruptedException {
        if (!spinUntilSet()) {
            Waiter waiter = new Waiter(Thread.currentThread(), null);
            if (enqueue(waiter)) {
                park(waiter, null);
            }
        }
    }

    /**
     * Waits until the event has happened or a deadline passes.
     *
     * @param deadline the deadline; if it has passed, this method does not wait
     * @return true if the event has happened, false if the deadline passed first
     * @throws InterruptedException if the calling thread is interrupted before or while it waits
     */
    public boolean await(Deadline deadline) throws InterruptedException {
        if (set) {
            return true;
        }
        if (deadline.hasPassed()) {
            return false;
        }
        if (spinUntilSet()) {
            return true;
        }
        Waiter waiter = new Waiter(Thread.currentThread(), null);
        if (!enqueue(waiter)) {
            return true;
        }
        TimedWait wait = new TimedWait(deadline, new Removal(this, waiter));
        try {
            return park(waiter, wait);
        } finally {
            wait.end();
        }
    }

    private boolean spinUntilSet() {
        Thread self = Thread.currentThread();
        int spins = self.isVirtual() ? 0 : SPINS;
        while (!set && spins-- > 0 && !self.isInterrupted()) {
            Thread.onSpinWait();
        }
        return set;
    }

    private boolean park(Waiter waiter, @Nullable TimedWait wait) throws InterruptedException {
        while (!set && !waiter.hasLeft) {
            if (Thread.interrupted()) {
                unlink(waiter);
                throw new InterruptedException();
            }
            TimedWait.park(wait, this);
        }
        return !waiter.hasLeft;
    }

    private synchronized boolean enqueue(Waiter waiter) {
        if (set) {
            return false;
        }
        waiter.previous = last;
        if (last == null) {
            first = waiter;
        } else {
            last.next = waiter;
        }
        last = waiter;
        return true;
    }

    /** Removes a waiter from the list; returns false if it has left before. */
    private synchronized boolean unlink(Waiter waiter) {
        if (set || waiter.hasLeft) {
            return false;
        }
        waiter.hasLeft = true;
        waiter.action = null; // what removes it may be kept
        Waiter before = waiter.previous;
        Waiter after = waiter.next;
        if (before == null) {
            first = after;
        } else {
            before.next = after;
        }
        if (after == null) {
            last = before;
        } else {
            after.previous = before;
        }
        return true;
    }

    @Override
    public String toString() {
        return set ? "signal, set" : "signal, not set";
    }
}
