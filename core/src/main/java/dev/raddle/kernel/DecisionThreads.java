package dev.raddle.kernel;

import dev.raddle.lock.OwnThread;
import dev.raddle.lock.SpinLock;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Scheduler;
import dev.raddle.time.TimeSource;
import dev.raddle.time.UserCode;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** The threads that carry out what alarms decide, of which a JVM has a few. They may call user code. */
final class DecisionThreads extends SpinLock {

    /*
     * Overview.
     *
     * An action is carried out on a platform thread if one is free, because a virtual thread may wait for seconds if
     * others keep the carriers busy. User code in an action may keep its thread for long, or for another action; so an
     * action for which no platform thread is free gets a virtual thread besides. All under the lock:
     *
     *   idle      the parked threads that have no action; one that receives an action leaves the list
     *   queue     the actions for which no thread was idle, oldest first
     *   threads   the number of platform threads, at most `most`
     *
     *   (1)  For each action in the queue, a thread that takes one was started after it was added, platform or virtual.
     *   (2)  A platform thread parks only if the queue is empty.
     *
     * By (1) each action is taken, even if all other threads stay in user code. By (2) the platform threads take the
     * actions of a burst one after the other, without any carrier; a virtual thread that comes later finds nothing.
     *
     * A lock that parks would not do: its next owner may be a virtual thread without a carrier, and the timer's thread
     * would wait for that one.
     */

    static final DecisionThreads SHARED =
            new DecisionThreads(Math.max(2, Runtime.getRuntime().availableProcessors()), TimeUnit.SECONDS.toNanos(5));

    private final int most;
    private final long idleNanos;
    private final ArrayDeque<Worker> idle = new ArrayDeque<>(); // guarded by this lock
    private final ArrayDeque<Runnable> queue = new ArrayDeque<>(); // guarded by this lock
    private int threads; // guarded by this lock

    DecisionThreads(int most, long idleNanos) {
        this.most = most;
        this.idleNanos = idleNanos;
    }

    /** One platform thread. */
    private final class Worker implements Runnable {
        private final Thread thread;
        private @Nullable Runnable assigned; // guarded by the lock

        Worker(int number) {
            thread = OwnThread.unstarted("raddle-decisions-" + number, this);
        }

        @Override
        public void run() {
            for (Runnable action; (action = next()) != null; ) {
                carryOut(action);
            }
        }

        /** Returns the next action, or null after the thread has been uncounted. */
        private @Nullable Runnable next() {
            long end = TimeSource.system().nanoTime() + idleNanos;
            lock();
            try {
                Runnable queued = queue.poll();
                if (queued != null) {
                    return queued;
                }
                idle.addLast(this);
            } finally {
                unlock();
            }
            while (true) {
                Thread.interrupted(); // else parking would return at once
                long left = end - TimeSource.system().nanoTime();
                LockSupport.parkNanos(DecisionThreads.this, left);
                lock();
                try {
                    Runnable received = assigned;
                    assigned = null;
                    if (received != null) {
                        return received;
                    }
                    if (left <= 0) {
                        idle.remove(this);
                        threads--;
                        return null;
                    }
                } finally {
                    unlock();
                }
            }
        }
    }

    /** Carries out an action in another thread, or in the calling one if no thread can be started. */
    void execute(Runnable action, ExceptionSink sink) {
        Worker free;
        int number = 0;
        lock();
        try {
            free = idle.pollLast();
            if (free != null) {
                free.assigned = action;
            } else {
                queue.addLast(action);
                number = threads < most ? ++threads : 0;
            }
        } finally {
            unlock();
        }
        if (free != null) {
            LockSupport.unpark(free.thread);
        } else if (number == 0 || !tryStart(number)) {
            startVirtual(action, sink);
        }
    }

    private boolean tryStart(int number) {
        try {
            new Worker(number).thread.start();
            return true;
        } catch (Throwable noThread) { // a virtual thread needs none
            uncount();
            return false;
        }
    }

    private void uncount() {
        lock();
        threads--;
        unlock();
    }

    private void startVirtual(Runnable action, ExceptionSink sink) {
        try {
            Scheduler.virtualThreads().execute(this::carryOutQueued);
        } catch (Throwable noThread) {
            if (withdraw(action)) {
                sink.report("start of a virtual thread; the caller runs the action itself", noThread);
                carryOut(action);
            }
        }
    }

    private boolean withdraw(Runnable action) {
        lock();
        try {
            return queue.remove(action);
        } finally {
            unlock();
        }
    }

    private void carryOutQueued() {
        Runnable action;
        lock();
        try {
            action = queue.poll();
        } finally {
            unlock();
        }
        if (action != null) {
            carryOut(action);
        }
    }

    private static void carryOut(Runnable action) {
        Thread.interrupted(); // the action before may have left an interrupt
        try {
            action.run();
        } catch (Throwable failure) {
            UserCode.uncaught(failure);
        }
    }
}
