package dev.raddle.lock;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** The thread that fires the alarms of real time. No user code runs on it. It exists only while it may be needed. */
public final class TimerThread extends SpinLock {

    /*
     * Overview.
     *
     * `pending` has the wakeups that were requested and have not fired: one for each wheel with alarms, and for a
     * moment those that an earlier one has replaced. The thread parks until the earliest is due, and runs it. A request
     * for an earlier one unparks it. The lock guards the fields; wakeups run, and threads start, without it.
     *
     * A thread:     started ──► current ──► ended
     *                       └─► ended                    another one is current
     *
     * A request adds its wakeup, and reads `current` in the same section. If there is no current thread, the requester
     * starts one, and thus receives the exception if that is impossible; it waits for nothing. Two requesters may start
     * a thread each: the one that arrives second ends. A started thread becomes current when it arrives or when its
     * starter has returned from start(), so that the requests in between start no further threads.
     *
     * A thread ends in a section in which nothing is pending and no user is counted. So a wakeup is either seen by the
     * thread or finds no current thread. A wheel keeps a wakeup for alarms that were cancelled meanwhile; the thread
     * makes the wheels withdraw these before it ends. It looks for them at intervals, because a cancelled alarm must
     * not touch the timer, and only while no user is counted. A user is an open executor or pool.
     *
     * An interrupt has no effect.
     */

    /** What runs when its time has come. It must not throw and must not call user code. */
    public interface Wakeup extends Runnable {

        /** Cancels this wakeup if there is nothing to do for it. Called by the timer's thread. */
        void withdrawIfUnneeded();
    }

    /** A requested wakeup. */
    public static final class Request {
        private final TimerThread timer;
        private final long moment;
        private final Wakeup wakeup;

        private Request(TimerThread timer, long moment, Wakeup wakeup) {
            this.timer = timer;
            this.moment = moment;
            this.wakeup = wakeup;
        }

        /**
         * Cancels the request.
         *
         * @return true if the wakeup will not run because of this call
         */
        public boolean cancel() {
            return timer.remove(this);
        }
    }

    /** The life of one thread. */
    private final class Life implements Runnable {
        private final Thread thread = OwnThread.unstarted("raddle-timer", this);
        private boolean hasEnded; // guarded by the timer
        private long lookAt = System.nanoTime() + idleNanos; // whether it may end; guarded by the timer

        @Override
        public void run() {
            if (!arrive(this)) {
                return;
            }
            while (true) {
                try {
                    if (!runNext(this)) {
                        return;
                    }
                } catch (Throwable failure) {
                    report(failure);
                }
            }
        }

        private void report(Throwable failure) {
            try {
                thread.getUncaughtExceptionHandler().uncaughtException(thread, failure);
            } catch (Throwable ignored) {
                // the handler is the last resort
            }
        }
    }

    /** The timer of the JVM. */
    public static final TimerThread SHARED = new TimerThread(TimeUnit.SECONDS.toNanos(5));

    private static final long LONGEST = Long.MAX_VALUE >> 1;

    private final long idleNanos;
    private final List<Request> pending = new ArrayList<>(); // guarded by this lock
    private volatile @Nullable Life current; // written under this lock
    private long parkedUntil; // guarded by this lock; the thread looks at `pending` at this moment or before
    private int users; // guarded by this lock

    /**
     * Creates a timer without a thread.
     *
     * @param idleNanos the time for which an unneeded thread stays, in nanoseconds
     */
    public TimerThread(long idleNanos) {
        this.idleNanos = idleNanos;
    }

    /** Starts the thread unless it is running. Throws what {@link Thread#start} throws. */
    public void start() {
        if (current == null) {
            Life next = new Life();
            next.thread.start();
            become(next);
        }
    }

    /** Starts the thread, and keeps it until {@link #release} has been called as often as this method. */
    public void retain() {
        countUsers(1);
        try {
            start();
        } catch (Throwable noThread) {
            countUsers(-1);
            throw noThread;
        }
    }

    /** Ends the effect of one call of {@link #retain}. */
    public void release() {
        countUsers(-1);
    }

    private void countUsers(int change) {
        long now = System.nanoTime();
        Life life;
        lock();
        try {
            users += change;
            life = current;
            if (users > 0 || life == null) {
                return;
            }
            life.lookAt = now + idleNanos;
        } finally {
            unlock();
        }
        LockSupport.unpark(life.thread); // it may be parked for longer
    }

    /**
     * Requests a wakeup.
     *
     * @param nanos the delay, at most 146 years
     * @param wakeup the wakeup
     * @return the request
     */
    public Request after(long nanos, Wakeup wakeup) {
        Request request = new Request(this, System.nanoTime() + nanos, wakeup);
        Life life;
        lock();
        try {
            pending.add(request);
            life = current;
            if (life != null && request.moment - parkedUntil >= 0) {
                return request;
            }
            parkedUntil = request.moment;
        } finally {
            unlock();
        }
        if (life == null) {
            startFor(request);
        } else {
            LockSupport.unpark(life.thread);
        }
        return request;
    }

    private void startFor(Request request) {
        try {
            start();
        } catch (Throwable noThread) {
            request.cancel();
            throw noThread;
        }
    }

    private boolean remove(Request request) {
        lock();
        try {
            return pending.remove(request);
        } finally {
            unlock();
        }
    }

    /** Makes a started thread the current one, unless it has ended or another one is current. */
    private void become(Life life) {
        long now = System.nanoTime();
        lock();
        try {
            if (current == null && !life.hasEnded) {
                current = life;
                parkedUntil = now; // it looks before it parks
            }
        } finally {
            unlock();
        }
    }

    /** Makes the calling thread the current one. Returns false if another one is; this one has ended then. */
    private boolean arrive(Life life) {
        become(life);
        lock();
        try {
            life.hasEnded = current != life;
            return !life.hasEnded;
        } finally {
            unlock();
        }
    }

    /** Runs a wakeup that is due, or parks until one is due. Returns false if the thread must end. */
    private boolean runNext(Life life) {
        long now = System.nanoTime();
        Request due;
        long wait = LONGEST;
        lock();
        try {
            due = earliest();
            if (due != null && due.moment - now > 0) {
                wait = due.moment - now;
                due = null;
            }
            if (due != null) {
                pending.remove(due);
            } else if (users == 0) {
                wait = Math.min(wait, life.lookAt - now);
            }
            parkedUntil = now + wait;
        } finally {
            unlock();
        }
        if (due != null) {
            due.wakeup.run();
        } else if (wait > 0) {
            Thread.interrupted(); // else parking would return at once
            LockSupport.parkNanos(this, wait);
        } else {
            return !endIfIdle(life, now);
        }
        return true;
    }

    private @Nullable Request earliest() {
        Request earliest = null;
        for (Request each : pending) {
            if (earliest == null || each.moment - earliest.moment < 0) {
                earliest = each;
            }
        }
        return earliest;
    }

    private boolean endIfIdle(Life life, long now) {
        List<Request> all;
        lock();
        try {
            all = List.copyOf(pending);
        } finally {
            unlock();
        }
        for (Request each : all) {
            each.wakeup.withdrawIfUnneeded();
        }
        lock();
        try {
            life.lookAt = now + idleNanos;
            if (users > 0 || !pending.isEmpty()) {
                return false;
            }
            current = null;
            life.hasEnded = true;
            return true;
        } finally {
            unlock();
        }
    }
}
