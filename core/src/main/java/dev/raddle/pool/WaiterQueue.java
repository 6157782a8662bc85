package dev.raddle.pool;

import dev.raddle.lock.Fields;
import dev.raddle.lock.SpinLock;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimedWait;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** The threads that wait to put tasks into a queue, or to take tasks from it. */
final class WaiterQueue extends SpinLock {

    /*
     * Overview.
     *
     * Waking a thread costs more than running a hundred small tasks, so a putter wakes a taker only if no other is on
     * its way:
     *
     *   newest, oldest   the ends of the list of waiters               guarded by the lock
     *   waiting          the length of the list                        written under the lock
     *   signalPending    a thread has been signalled, or is spinning, and has not acknowledged it yet
     *
     * A thread that puts a task into the queue signals one waiter unless `signalPending` is true. A signalled waiter
     * acknowledges, checks the queue, takes one task, and signals the next waiter if there are more. So a burst wakes
     * as many threads as it needs, each by the previous one, and the putter pays for one of them.
     *
     * No task stays in the queue while a taker waits. Suppose that a task is put in after the last check of a waiter W.
     *   - W enqueues (volatile write of `waiting`), then checks again. The putter publishes the task, executes a full
     *     fence, then reads `waiting`. At least one of them sees the other's write: W the task, or the putter W.
     *   - If the putter sees W but also `signalPending`, a waiter C has been signalled and has not acknowledged. C
     *     acknowledges (volatile write of `signalPending`), then checks. Either C's check sees the task, or C
     *     acknowledged before the putter read `signalPending`, which then was false. C takes the task, or finds that
     *     another thread took it; and after taking one it signals the next waiter if more are left.
     *   - C may be interrupted or expired by then; it acknowledges and checks nevertheless.
     * The same argument holds for putters, which wait for capacity.
     *
     * Two threads may race for a waiter: the signaller, which removes it from the list, and its own thread, which
     * leaves. Both decide under the lock. Among workers the newest is signalled, because its cache is warm, and those
     * that have waited longest may then end. Among submitters the oldest is; one that was signalled but finds no
     * capacity stays at the front.
     *
     * A direct handoff queue cannot hold a task. So a waiter that has a task offers it before it waits, and withdraws
     * it when it leaves; in between it makes no attempt. A thread of the other side takes the task of the waiter that
     * has waited longest. All three steps are under the lock, so the task goes to one thread only. A taker that finds
     * no offered task must be made to check again after one is offered: see Workers.
     *
     * A taker that finds no task spins briefly before it waits, as if it had been signalled: a task that is put in
     * meanwhile needs no wakeup. Only one thread spins at a time, and for less time than a wakeup takes.
     */

    /** A node of the list: one waiting thread. */
    static final class Waiter {
        private final Thread thread = Thread.currentThread();
        private @Nullable Waiter previous; // guarded by the queue's lock
        private @Nullable Waiter next; // guarded by the queue's lock
        private boolean listed; // guarded by the queue's lock
        private volatile boolean signalled;
        private @Nullable TimedWait wait; // of the waiter's thread only; null without a deadline
        private final @Nullable Deadline deadline; // null to wait without one
        private final @Nullable Runnable task; // the task to offer while the thread waits
        private boolean offered; // guarded by the queue's lock
        private volatile boolean taken; // written under the queue's lock

        /** Creates a waiter, with a task that another thread may take while this one waits, or null. */
        Waiter(@Nullable Runnable task, @Nullable Deadline deadline) {
            this.task = task;
            this.deadline = deadline;
        }

        /** Returns whether the offered task was taken. Called by the waiter's thread after the wait. */
        boolean isTaken() {
            return taken;
        }

        boolean isExpired() {
            return wait != null && wait.isExpired();
        }
    }

    private static final int MAX_SPINS = Runtime.getRuntime().availableProcessors() > 1 ? 256 : 0;
    private static final int MIN_SPINS = 4;
    private static final VarHandle SIGNAL_PENDING =
            Fields.handle(MethodHandles.lookup(), "signalPending", boolean.class);

    private int spins = MIN_SPINS; // owned by the thread that has set signalPending
    private volatile boolean signalPending;
    private volatile int waiting;
    private final boolean lifo;
    private @Nullable Waiter newest; // guarded by this lock
    private @Nullable Waiter oldest; // guarded by this lock

    WaiterQueue(boolean lifo) {
        this.lifo = lifo;
    }

    /**
     * Signals one waiter, unless a signal is pending. The caller must have executed a full fence after its change to
     * the queue.
     */
    void signal() {
        if (waiting != 0 && !signalPending) {
            signalNext();
        }
    }

    private void signalNext() {
        Waiter waiter;
        lock();
        try {
            waiter = lifo ? newest : oldest;
            if (waiter == null || !SIGNAL_PENDING.compareAndSet(this, false, true)) {
                return;
            }
            unlink(waiter);
            waiter.signalled = true;
        } finally {
            unlock();
        }
        LockSupport.unpark(waiter.thread);
    }

    /** Signals all waiters, so that each checks again. */
    void signalAll() {
        Thread[] threads;
        lock();
        try {
            threads = new Thread[waiting];
            for (int i = 0; oldest != null; i++) {
                Waiter waiter = oldest;
                unlink(waiter);
                waiter.signalled = true;
                threads[i] = waiter.thread;
            }
        } finally {
            unlock();
        }
        for (Thread thread : threads) {
            LockSupport.unpark(thread);
        }
    }

    /**
     * Repeats an attempt until it succeeds, and waits in between.
     *
     * @param waiter the node of the calling thread
     * @param attempt the attempt, made again each time it may succeed
     * @param more the condition under which another waiter may succeed as well
     * @param onOffered the action to run after the waiter's task has been offered, to make the other side check; null
     *     for a waiter without a task
     * @return true if an attempt succeeded, false if the waiter has expired
     * @throws InterruptedException if the thread is interrupted before or during the wait, and no attempt succeeded
     */
    boolean awaitUntil(Waiter waiter, BooleanSupplier attempt, BooleanSupplier more, @Nullable Runnable onOffered)
            throws InterruptedException {
        if (waiter.deadline == null) {
            return repeat(waiter, attempt, more, onOffered);
        }
        TimedWait wait = new TimedWait(waiter.deadline, () -> {});
        waiter.wait = wait;
        try {
            return repeat(waiter, attempt, more, onOffered);
        } finally {
            wait.end();
        }
    }

    private boolean repeat(Waiter waiter, BooleanSupplier attempt, BooleanSupplier more, @Nullable Runnable onOffered)
            throws InterruptedException {
        while (true) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            enqueue(waiter);
            boolean done = true; // an attempt that throws is not repeated
            try {
                done = attempt.getAsBoolean();
                if (!done) {
                    if (onOffered != null && waiter.task != null) {
                        offerTask(waiter, onOffered);
                    }
                    while (!waiter.signalled && !waiter.isExpired() && !waiter.thread.isInterrupted()) {
                        TimedWait.park(waiter.wait, this);
                    }
                }
            } finally {
                if (dequeue(waiter)) {
                    try {
                        done = done || waiter.taken || attempt.getAsBoolean();
                    } finally {
                        if (more.getAsBoolean()) {
                            signal();
                        }
                    }
                }
            }
            if (done || waiter.isExpired()) {
                return done;
            }
        }
    }

    /**
     * Spins briefly until a buffer has a task, unless another thread spins or has been signalled.
     *
     * @return whether this thread has spun; then the caller makes an attempt, and signals if more is left
     */
    boolean spin(TaskBuffer buffer) {
        if (MAX_SPINS == 0 || signalPending || !SIGNAL_PENDING.compareAndSet(this, false, true)) {
            return false;
        }
        int left = spins;
        while (left > 0 && !buffer.hasTask()) {
            Thread.onSpinWait();
            left--;
        }
        spins = left > 0 ? Math.min(2 * spins, MAX_SPINS) : Math.max(spins / 2, MIN_SPINS);
        signalPending = false;
        return true;
    }

    private void enqueue(Waiter waiter) {
        lock();
        try {
            boolean atFront = waiter.signalled && !lifo;
            waiter.signalled = false;
            waiter.listed = true;
            Waiter neighbour = atFront ? oldest : newest;
            if (neighbour == null) {
                oldest = waiter;
                newest = waiter;
            } else if (atFront) {
                waiter.next = neighbour;
                neighbour.previous = waiter;
                oldest = waiter;
            } else {
                waiter.previous = neighbour;
                neighbour.next = waiter;
                newest = waiter;
            }
            int count = waiting;
            waiting = count + 1;
        } finally {
            unlock();
        }
    }

    private void offerTask(Waiter waiter, Runnable onOffered) {
        lock();
        try {
            waiter.offered = waiter.listed;
        } finally {
            unlock();
        }
        VarHandle.fullFence();
        onOffered.run();
    }

    /**
     * Takes the task of the oldest waiter that has offered one.
     *
     * @param allowed the condition under which a task may be taken, evaluated under the lock
     * @return the task, or null if there is none or it may not be taken
     */
    @Nullable
    Runnable takeOffered(BooleanSupplier allowed) {
        if (waiting == 0) {
            return null;
        }
        Waiter waiter;
        lock();
        try {
            waiter = oldest;
            while (waiter != null && !waiter.offered) {
                waiter = waiter.next;
            }
            if (waiter == null || !allowed.getAsBoolean()) {
                return null;
            }
            unlink(waiter);
            waiter.taken = true;
            waiter.signalled = true;
        } finally {
            unlock();
        }
        LockSupport.unpark(waiter.thread);
        return waiter.task;
    }

    /**
     * Removes a waiter from the list. Returns true if it had been signalled instead, and acknowledges that: then the
     * caller makes another attempt, and signals if more is left.
     */
    private boolean dequeue(Waiter waiter) {
        lock();
        try {
            if (waiter.listed) {
                unlink(waiter);
                return false;
            }
        } finally {
            unlock();
        }
        signalPending = false;
        return true;
    }

    private void unlink(Waiter waiter) {
        Waiter previous = waiter.previous;
        Waiter next = waiter.next;
        if (previous == null) {
            oldest = next;
        } else {
            previous.next = next;
        }
        if (next == null) {
            newest = previous;
        } else {
            next.previous = previous;
        }
        waiter.listed = false;
        waiter.offered = false;
        waiter.previous = null;
        waiter.next = null;
        int count = waiting;
        waiting = count - 1;
    }
}
