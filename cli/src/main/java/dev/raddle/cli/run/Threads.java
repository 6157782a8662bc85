package dev.raddle.cli.run;

import dev.raddle.cli.file.value.Failure;
import dev.raddle.task.Scheduler;
import dev.raddle.time.Deadline;
import dev.raddle.time.Signal;
import dev.raddle.time.TimeSource;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;

/**
 * The threads of a run: a new virtual thread for each task. They are drained when the run is terminated or, at the
 * latest, when it has ended: tasks have time to end, are then interrupted, and every task is accounted for. No task
 * waits here, so none is handed back.
 */
final class Threads implements Scheduler, AutoCloseable {
    /** The maximum time for a process tree to end after it has been killed. */
    private static final Duration AFTER_KILL = Duration.ofSeconds(5);

    /*
     * A task is added to `running` when it is accepted, and removed in the same step that counts it as completed. So a
     * thread that holds the monitor finds each accepted task in exactly one of the two.
     *
     * A thread that cuts the grace period short sets `graceEnded` and then interrupts the drainer, which reads
     * `graceEnded` when it begins. So the later of the two sees the effect of the other.
     */
    private final Set<Execution> running = new LinkedHashSet<>(); // guarded by this
    private long completed; // guarded by this
    private long completedBefore; // when the drain began; guarded by this
    private boolean closed; // guarded by this

    private final Signal terminated = new Signal();
    private final CompletableFuture<Account> account = new CompletableFuture<>();
    private final Thread drainer = Thread.ofVirtual().name("raddle-drain").unstarted(this::endTasks);
    private volatile boolean graceEnded;

    private final ThreadFactory threads =
            Thread.ofVirtual().inheritInheritableThreadLocals(false).factory();
    private final Duration grace;
    private final TimeSource time;

    /**
     * Creates the threads of a run.
     *
     * @param grace the time before running tasks are interrupted, and again the time for their processes to end after
     *     that
     */
    Threads(Duration grace, TimeSource time) {
        this.grace = grace;
        this.time = time;
    }

    /**
     * Starts the JDK's timers before any process. They start when first needed; at the limit of processes and threads
     * an alarm would fail, and a virtual thread that waits for some time would never continue.
     */
    static void startTimers() throws IOException, InterruptedException {
        TimeSource.system().after(Duration.ZERO, () -> {});
        if (!Thread.ofVirtual().start(() -> LockSupport.parkNanos(1)).join(Duration.ofMinutes(1))) {
            throw new IOException(Failure.TOO_MANY);
        }
    }

    /** A task and its thread. */
    private final class Execution implements Runnable {
        private final Runnable task;
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
    }

    @Override
    public void execute(Runnable task) {
        Execution execution = new Execution(task);
        synchronized (this) {
            if (closed) {
                throw new RejectedExecutionException("no further task is accepted, the run is ending");
            }
            running.add(execution);
        }
        try {
            execution.thread.start();
        } catch (Throwable e) {
            leave(execution, 0);
            throw e;
        }
    }

    private void leave(Execution execution, int counted) {
        boolean last;
        synchronized (this) {
            running.remove(execution);
            completed += counted;
            last = closed && running.isEmpty();
        }
        if (last) {
            terminated.set();
        }
    }

    /**
     * Accepts no further task. Tasks that run have the grace period to end, and are then interrupted. Does not wait.
     */
    void drain() {
        boolean empty;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            completedBefore = completed;
            empty = running.isEmpty();
        }
        if (empty) {
            terminated.set();
        }
        drainer.start();
    }

    private void endTasks() {
        try {
            await(Deadline.after(time, graceEnded ? Duration.ZERO : grace));
            List<Execution> overdue = running();
            overdue.forEach(execution -> execution.thread.interrupt());
            Deadline last = Deadline.after(time, grace.plus(AFTER_KILL));
            while (!await(last)) {
                // the grace period has ended already
            }
            account.complete(account(overdue.size()));
        } catch (Throwable e) {
            account.completeExceptionally(e);
        }
    }

    /** Waits until all tasks have ended or a time has passed; returns false if {@link #endGrace} interrupts it. */
    private boolean await(Deadline deadline) {
        try {
            terminated.await(deadline);
            return true;
        } catch (InterruptedException e) {
            return false;
        }
    }

    private synchronized List<Execution> running() {
        return List.copyOf(running);
    }

    private synchronized Account account(long overdue) {
        long interrupted = overdue - running.size();
        long during = completed - completedBefore - interrupted;
        return new Account(completedBefore, during, interrupted, List.of(), running.size());
    }

    /** Ends the grace period of running tasks. Does not wait. */
    void endGrace() {
        graceEnded = true;
        drainer.interrupt();
    }

    /** Returns the outcomes of all accepted tasks; completed when they are final. */
    CompletableFuture<Account> account() {
        return account;
    }

    /** Starts the drain if it has not begun, and waits for its end. */
    @Override
    public void close() {
        drain();
        account.join();
    }
}
