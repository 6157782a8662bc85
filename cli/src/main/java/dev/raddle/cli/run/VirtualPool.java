package dev.raddle.cli.run;

import dev.raddle.pool.ShutdownReport;
import dev.raddle.pool.ThreadPool;
import dev.raddle.task.Scheduler;
import dev.raddle.time.Deadline;
import dev.raddle.time.Signal;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.ReentrantLock;

/**
 * New virtual threads with the shutdown of a {@link ThreadPool}: {@link #drain} lets tasks end, interrupts them, and
 * accounts for every task with the same terms. No task waits here, so none is handed back.
 */
final class VirtualPool implements Scheduler {
    private static final String NAME = "virtual threads";

    /*
     * A task is added to `running` when it is accepted, and removed in the same step that counts it as completed. So a
     * thread that holds the lock finds each accepted task in exactly one of the two.
     */
    private final ReentrantLock lock = new ReentrantLock();
    private final Set<Execution> running = new LinkedHashSet<>(); // guarded by lock
    private long completed; // guarded by lock
    private boolean closed; // guarded by lock

    private final Signal terminated = new Signal();
    private final ThreadFactory threads =
            Thread.ofVirtual().inheritInheritableThreadLocals(false).factory();
    private final TimeSource time;

    VirtualPool(TimeSource time) {
        this.time = time;
    }

    /** A task and its thread. */
    private final class Execution implements Runnable {
        private final Runnable task;
        private final long acceptedAt = time.nanoTime();
        private final Thread thread = threads.newThread(this);

        Execution(Runnable task) {
            this.task = task;
        }

        @Override
        public void run() {
            try {
                task.run();
            } finally {
                leave(this, 1);
            }
        }

        ShutdownReport.StillRunning stillRunning(long now) {
            return new ShutdownReport.StillRunning(
                    thread.getName(), task, Duration.ofNanos(now - acceptedAt), List.of(thread.getStackTrace()));
        }
    }

    @Override
    public void execute(Runnable task) {
        Execution execution = new Execution(task);
        lock.lock();
        try {
            if (closed) {
                throw new RejectedExecutionException("no further task is accepted, the run is ending");
            }
            running.add(execution);
        } finally {
            lock.unlock();
        }
        boolean started = false;
        try {
            execution.thread.start();
            started = true;
        } finally {
            if (!started) {
                leave(execution, 0);
            }
        }
    }

    private void leave(Execution execution, int counted) {
        boolean last;
        lock.lock();
        try {
            running.remove(execution);
            completed += counted;
            last = closed && running.isEmpty();
        } finally {
            lock.unlock();
        }
        if (last) {
            terminated.set();
        }
    }

    /** Accepts no further task. Does not wait. */
    void shutdown() {
        boolean empty;
        lock.lock();
        try {
            closed = true;
            empty = running.isEmpty();
        } finally {
            lock.unlock();
        }
        if (empty) {
            terminated.set();
        }
    }

    /**
     * Shuts down, lets running tasks end, and reports the outcome of every task. Like {@link ThreadPool#drain}, also if
     * the caller is interrupted.
     *
     * @param grace the time before running tasks are interrupted
     * @param lastWait the time to wait for interrupted tasks
     */
    ShutdownReport drain(Duration grace, Duration lastWait) {
        long begin = time.nanoTime();
        long before = account().completed;
        shutdown();
        boolean interruptedMeanwhile = false;
        boolean ended;
        try {
            ended = terminated.await(Deadline.after(time, grace));
        } catch (InterruptedException e) {
            interruptedMeanwhile = true;
            ended = false;
        }
        long middle = time.nanoTime();
        List<Execution> overdue = ended ? List.of() : account().running;
        overdue.forEach(execution -> execution.thread.interrupt());
        interruptedMeanwhile |= awaitEnd(Deadline.after(time, lastWait));
        ShutdownReport report = report(before, overdue, begin, middle, time.nanoTime());
        if (interruptedMeanwhile) {
            Thread.currentThread().interrupt();
        }
        return report;
    }

    /** Waits without regard to interrupts; returns whether the caller was interrupted in the meantime. */
    private boolean awaitEnd(Deadline deadline) {
        boolean interruptedMeanwhile = false;
        while (true) {
            try {
                terminated.await(deadline);
                return interruptedMeanwhile;
            } catch (InterruptedException e) {
                interruptedMeanwhile = true;
            }
        }
    }

    private ShutdownReport report(long before, List<Execution> overdue, long begin, long middle, long end) {
        Account account = account();
        List<ShutdownReport.Stopped> interrupted = overdue.stream()
                .filter(execution -> !account.running.contains(execution))
                .map(execution -> new ShutdownReport.Stopped(execution.task, execution.task))
                .toList();
        return new ShutdownReport(
                NAME,
                account.running.isEmpty(),
                before,
                account.completed - before - interrupted.size(),
                interrupted,
                List.of(),
                account.running.stream()
                        .map(execution -> execution.stillRunning(end))
                        .toList(),
                0,
                Duration.ofNanos(middle - begin),
                Duration.ofNanos(end - middle));
    }

    private record Account(long completed, List<Execution> running) {}

    private Account account() {
        lock.lock();
        try {
            return new Account(completed, new ArrayList<>(running));
        } finally {
            lock.unlock();
        }
    }
}
