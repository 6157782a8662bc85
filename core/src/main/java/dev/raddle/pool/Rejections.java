package dev.raddle.pool;

import dev.raddle.task.Outcome;
import dev.raddle.task.Rejection;
import dev.raddle.time.Deadline;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * The tasks that a pool does not accept at once: what its policies do with them, and the rejections, each of which is
 * recorded once, when it is certain that the pool does not accept the task.
 */
final class Rejections {

    /*
     * Overview.
     *
     * A handler, or one to which it delegates, may make the pool accept the task after all: BlockPolicy does. So a
     * rejection is pending while the handler runs, and then
     *
     *   is withdrawn   by BlockPolicy, when the pool has accepted the task or a worker has run it
     *   is recorded    before the handler submits the task again, or else when the handler has returned or thrown
     *
     * A thread has one pending rejection, or several if a handler runs or submits other tasks; `pending` has the
     * innermost. What the handler does with a future in the meantime does not settle the submission (see
     * ObservedTasks): it is rejected, whatever the handler does.
     */

    private static final class Pending {
        private final Runnable task;
        private ObservedTasks.@Nullable Submission submission;
        private @Nullable Rejection reason; // null unless tasks are observed
        private boolean recorded;
        private boolean withdrawn;

        Pending(Runnable task) {
            this.task = task;
        }
    }

    private final ThreadPool pool;
    private final Workers workers;
    private final WorkQueue queue;
    private final Observation observation;
    private final @Nullable ObservedTasks observed;
    private final ConcurrentHashMap<Thread, Pending> pending = new ConcurrentHashMap<>();

    Rejections(ThreadPool pool, Workers workers, WorkQueue queue, Observation observation) {
        this.pool = pool;
        this.workers = workers;
        this.queue = queue;
        this.observation = observation;
        this.observed = observation.tasks;
    }

    /** Calls the handler for a task, and records the rejection unless it is withdrawn. */
    void handle(Runnable task, RejectionHandler handler) {
        Thread thread = Thread.currentThread();
        Pending outer = pending.get(thread);
        Pending rejection = new Pending(task);
        if (observed != null) {
            rejection.submission = observed.beginRejection(task);
            rejection.reason = rejection(reason());
        }
        pending.put(thread, rejection);
        try {
            handler.rejected(task, pool);
        } finally {
            if (outer == null) {
                pending.remove(thread);
            } else {
                pending.put(thread, outer);
            }
            record(rejection);
        }
    }

    private void record(Pending rejection) {
        if (rejection.recorded || rejection.withdrawn) {
            return;
        }
        rejection.recorded = true;
        observation.rejected(rejection.task);
        if (observed != null) {
            observed.rejected(rejection.submission, new Outcome.Rejected<>(Objects.requireNonNull(rejection.reason)));
        }
    }

    private @Nullable Pending pending(Runnable task) {
        Pending rejection = pending.get(Thread.currentThread());
        return rejection != null && rejection.task == task ? rejection : null;
    }

    /** Records the pending rejection of a task, if there is one, because the handler is about to act on the task. */
    void record(Runnable task) {
        Pending rejection = pending.isEmpty() ? null : pending(task);
        if (rejection != null) {
            record(rejection);
        }
    }

    void noteAccepted(Runnable task) {
        record(task); // the handler has submitted it again
        observation.accepted(task);
    }

    /** Withdraws the pending rejection of a task for now: the pool may accept it. */
    private void withdraw(Runnable task) {
        Pending rejection = pending(task);
        if (rejection != null && !rejection.recorded) {
            rejection.withdrawn = true;
            if (rejection.submission != null) {
                rejection.submission.continueWaiting();
            }
        }
    }

    /** Makes the rejection of a task that was withdrawn pending again, for a reason. */
    private void renew(Runnable task, String why) {
        Pending rejection = pending(task);
        if (rejection != null && rejection.withdrawn) {
            rejection.withdrawn = false;
            rejection.reason = rejection(why);
            rejection.submission = observed == null ? null : observed.beginRejection(task);
        }
    }

    // ---- reasons

    private String reason() {
        return pool.isShutdown()
                ? "it has been shut down"
                : pool.getPoolSize() == 0 ? "no thread was available" : "it is full";
    }

    private Rejection rejection(String why) {
        return Rejection.of(pool.isShutdown() ? Rejection.Reason.SHUTDOWN : Rejection.Reason.POOL, why);
    }

    /** Returns the exception for a task that is not accepted for the present reason. */
    RejectedExecutionException exception(Runnable task) {
        return exception(task, reason());
    }

    private RejectedExecutionException exception(Runnable task, String why) {
        return new RejectedExecutionException(PooledTask.subject(PooledTask.original(task)) + " was rejected by pool \""
                + pool.name() + "\": " + why + "; " + pool.getActiveCount() + " of "
                + workers.maxThreads + " threads are running tasks, " + queue.size()
                + " tasks are waiting, remaining capacity " + queue.remainingCapacity());
    }

    // ---- policies

    /** Drops a task that was not accepted. */
    void drop(Runnable task) {
        observation.reject(task, pool.isShutdown());
    }

    /** Runs a task in the submitter's thread, or drops it if the pool has been shut down. */
    void runInSubmitter(Runnable task) {
        record(task);
        if (pool.isShutdown()) {
            drop(task);
        } else {
            task.run();
        }
    }

    /** Submits a task until it is accepted, and drops the oldest one each time. */
    void acceptInPlaceOfOldest(Runnable task) {
        record(task);
        boolean madeRoom = dropOldest();
        if (!madeRoom && (pool.isShutdown() || workers.isDirectHandoff)) {
            drop(task);
            return;
        }
        if (observed != null) {
            observed.submitted(task);
        }
        try {
            if (resubmit(task, madeRoom)) {
                noteAccepted(task);
                return;
            }
        } catch (Throwable failure) {
            observation.failed(task, failure);
            throw failure;
        }
        observation.notResubmitted(task);
        drop(task);
    }

    private boolean resubmit(Runnable task, boolean madeRoomBefore) {
        boolean foundNone = !madeRoomBefore;
        while (!workers.accept(task)) {
            boolean madeRoom = dropOldest();
            if (!madeRoom && (foundNone || pool.isShutdown())) {
                return false;
            }
            foundNone = !madeRoom; // a worker took it first, or no thread is available and none will be
        }
        return true;
    }

    /** Drops the oldest task, unless the pool is shut down; returns false if none was dropped. */
    private boolean dropOldest() {
        Runnable oldest = pool.isShutdown() ? null : queue.poll(new TaskBuffer.Timestamp());
        if (oldest == null) {
            return false;
        }
        observation.dropped(oldest);
        drop(oldest);
        workers.tryTerminateQuietly(); // the pool may have been shut down, and this was its last task
        return true;
    }

    /** Waits until a task is accepted, up to a timeout; a worker of the pool runs the task instead. */
    void awaitAcceptance(Runnable task, @Nullable Duration timeout) {
        withdraw(task);
        Thread thread = Thread.currentThread();
        if (!pool.isShutdown() && workers.registry.anyMatch(worker -> worker.thread() == thread)) {
            if (observed == null) {
                task.run();
            } else {
                observed.run(task);
            }
            return;
        }
        String failure;
        try {
            failure = tryAwaitAcceptance(task, timeout);
        } catch (Throwable thrown) {
            observation.failed(task, thrown);
            throw thrown;
        }
        if (failure != null) {
            renew(task, failure);
            throw exception(task, failure);
        }
        noteAccepted(task);
    }

    /** Waits until a task is accepted. Returns null, or the reason if the task was not accepted. */
    private @Nullable String tryAwaitAcceptance(Runnable task, @Nullable Duration timeout) {
        if (timeout != null && !timeout.isPositive()) {
            return reason();
        }
        Deadline deadline = timeout == null ? null : Deadline.after(pool.time, timeout);
        WaiterQueue.Waiter waiter = workers.waiterFor(task, deadline);
        try {
            if (workers.awaitAccept(task, waiter)) {
                return null;
            }
            return timeout == null || !waiter.isExpired() ? reason() : "no capacity became available within " + timeout;
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            return "the submitter was interrupted while it waited";
        }
    }
}
