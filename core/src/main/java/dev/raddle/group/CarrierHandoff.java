package dev.raddle.group;

import dev.raddle.task.Scheduler;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Runs that platform threads have started, for virtual threads to begin earlier when all carriers may be busy.
 *
 * @param <R> the type of the runs
 */
final class CarrierHandoff<R extends Scheduler.Placeable> {

    /*
     * Overview.
     *
     * A carrier polls one queue of the virtual threads' scheduler as long as that queue has tasks. Tasks that each
     * start the next one keep it at its own queue forever. A virtual thread that a platform thread has started is in
     * another queue and may wait for seconds, in spite of the cap's fairness. One that was started on a carrier is in
     * that carrier's queue.
     *
     * So a platform thread starts a virtual thread for the granted run as usual, and adds the run to a queue of pending
     * starts besides. A virtual thread that ends a task polls this queue and starts all runs that it finds. A run may
     * then have two threads. The one that takes the run out of the PendingStart, atomically, executes it; the other
     * ends. So a run begins exactly once, even if no task ever ends.
     */
    private final ConcurrentLinkedQueue<PendingStart<R>> pendingStarts = new ConcurrentLinkedQueue<>();

    private static final class PendingStart<R extends Scheduler.Placeable> extends AtomicReference<@Nullable R>
            implements Scheduler.Placeable {
        private static final long serialVersionUID = 1;

        PendingStart(R run) {
            super(run);
        }

        @Override
        public String threadName() {
            R run = get();
            return run == null ? "" : run.threadName();
        }

        @Override
        public void reject(RejectedExecutionException reason) {
            R run = getAndSet(null);
            if (run != null) {
                run.reject(reason);
            }
        }

        @Override
        public void run() {
            R run = getAndSet(null);
            if (run != null) {
                run.run();
            }
        }
    }

    /** Starts a granted run on a virtual thread, unless {@link #poll} returns it before that thread begins. */
    void start(R run) {
        PendingStart<R> pending = new PendingStart<>(run);
        pendingStarts.add(pending);
        try {
            Scheduler.virtualThreads().execute(pending);
        } catch (Throwable noThread) {
            if (pending.getAndSet(null) != null) {
                throw noThread;
            }
        }
    }

    /** Removes a run, which the calling virtual thread must then start; returns null if none is left. */
    @Nullable
    R poll() {
        for (PendingStart<R> pending; (pending = pendingStarts.poll()) != null; ) {
            R run = pending.getAndSet(null);
            if (run != null) {
                return run;
            }
        }
        return null;
    }
}
