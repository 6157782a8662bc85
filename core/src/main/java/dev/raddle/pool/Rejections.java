package dev.raddle.pool;

import dev.raddle.task.Outcome;
import dev.raddle.task.Rejection;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** The rejections of a pool: each is recorded once, when it is certain that the pool does not accept the task. */
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

    private final Reporter reporter;
    private final @Nullable ObservedTasks observed;
    private final LongAdder count = new LongAdder();
    private final ConcurrentHashMap<Thread, Pending> pending = new ConcurrentHashMap<>();

    Rejections(Reporter reporter, @Nullable ObservedTasks observed) {
        this.reporter = reporter;
        this.observed = observed;
    }

    long sum() {
        return count.sum();
    }

    /** Calls the handler of a pool for a task, and records the rejection unless it is withdrawn. */
    void handle(Runnable task, RejectionHandler handler, ThreadPool pool) {
        Thread thread = Thread.currentThread();
        Pending outer = pending.get(thread);
        Pending rejection = new Pending(task);
        if (observed != null) {
            rejection.submission = observed.beginRejection(task);
            rejection.reason = pool.rejection(null);
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
        count.increment();
        reporter.rejected(rejection.task);
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

    /** Withdraws the pending rejection of a task for now: the pool may accept it. */
    void withdraw(Runnable task) {
        Pending rejection = pending(task);
        if (rejection != null && !rejection.recorded) {
            rejection.withdrawn = true;
            if (rejection.submission != null) {
                rejection.submission.continueWaiting();
            }
        }
    }

    /** Makes the rejection of a task that was withdrawn pending again, for a reason. */
    void renew(Runnable task, Rejection reason) {
        Pending rejection = pending(task);
        if (rejection != null && rejection.withdrawn) {
            rejection.withdrawn = false;
            rejection.reason = reason;
            rejection.submission = observed == null ? null : observed.beginRejection(task);
        }
    }
}
