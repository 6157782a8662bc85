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
 * Fresh virtual threads that end as those of a {@link ThreadPool} do: {@link #drain} lets them, interrupts them, and
 * accounts for every task in the same words. No task waits here, so none is handed back.
 */
final class VirtualPool implements Scheduler {
    private static final String NAME = "virtual threads";

    /*
     * A task is added to `running` when it is accepted, and leaves it in the step that counts it as completed. So whoever
     * looks under the lock finds each accepted task in one of the two.
     */
    private final ReentrantLock lock = new ReentrantLock();
    private final Set<Errand> running = new LinkedHashSet<>(); // guarded by lock
    private long completed; // guarded by lock
    private boolean closed; // guarded by lock

    private final Signal terminated = new Signal();
    private final ThreadFactory threads =
            Thread.ofVirtual().inheritInheritableThreadLocals(false).factory();
    private final TimeSource time;

    VirtualPool(TimeSource time) {
        this.time = time;
    }

    /** One task and its thread. */
    private final class Errand implements Runnable {
        private final Runnable task;
        private final long acceptedAt = time.nanoTime();
        private final Thread thread = threads.newThread(this);

        Errand(Runnable task) {
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
        Errand errand = new Errand(task);
        lock.lock();
        try {
            if (closed) {
                throw new RejectedExecutionException("no task starts any more, the run is ending");
            }
            running.add(errand);
        } finally {
            lock.unlock();
        }
        boolean started = false;
        try {
            errand.thread.start();
            started = true;
        } finally {
            if (!started) {
                leave(errand, 0);
            }
        }
    }

    private void leave(Errand errand, int counted) {
        boolean last;
        lock.lock();
        try {
            running.remove(errand);
            completed += counted;
            last = closed && running.isEmpty();
        } finally {
            lock.unlock();
        }
        if (last) {
            terminated.set();
        }
    }

    /** Accepts no task from now on. Does not wait. */
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
     * Shuts down, lets what runs end, and says what became of every task; as {@link ThreadPool#drain}, also where the caller
     * is interrupted.
     *
     * @param grace how long to wait before anything is interrupted
     * @param lastWait how long to wait for what was interrupted
     */
    ShutdownReport drain(Duration grace, Duration lastWait) {
        long begin = time.nanoTime();
        long before = account().completed;
        shutdown();
        boolean calledOff = false;
        boolean ended;
        try {
            ended = terminated.await(Deadline.after(time, grace));
        } catch (InterruptedException impatience) {
            calledOff = true;
            ended = false;
        }
        long middle = time.nanoTime();
        List<Errand> told = ended ? List.of() : account().running;
        told.forEach(errand -> errand.thread.interrupt());
        calledOff |= awaitEnd(Deadline.after(time, lastWait));
        ShutdownReport report = report(before, told, begin, middle, time.nanoTime());
        if (calledOff) {
            Thread.currentThread().interrupt();
        }
        return report;
    }

    /** Waits whatever happens; tells whether the caller was interrupted meanwhile. */
    private boolean awaitEnd(Deadline deadline) {
        boolean calledOff = false;
        while (true) {
            try {
                terminated.await(deadline);
                return calledOff;
            } catch (InterruptedException again) {
                calledOff = true;
            }
        }
    }

    private ShutdownReport report(long before, List<Errand> told, long begin, long middle, long end) {
        Account account = account();
        List<ShutdownReport.Interrupted> interrupted = told.stream()
                .filter(errand -> !account.running.contains(errand))
                .map(errand -> new ShutdownReport.Interrupted(errand.task, errand.task))
                .toList();
        return new ShutdownReport(
                NAME,
                account.running.isEmpty(),
                before,
                account.completed - before - interrupted.size(),
                interrupted,
                List.of(),
                account.running.stream().map(errand -> errand.stillRunning(end)).toList(),
                0,
                Duration.ofNanos(middle - begin),
                Duration.ofNanos(end - middle));
    }

    private record Account(long completed, List<Errand> running) {}

    private Account account() {
        lock.lock();
        try {
            return new Account(completed, new ArrayList<>(running));
        } finally {
            lock.unlock();
        }
    }
}
