package dev.raddle.pool;

import dev.raddle.kernel.Recorder;
import dev.raddle.pool.PoolListener.Ended;
import dev.raddle.pool.PoolListener.Stuck;
import dev.raddle.task.NamedTask;
import dev.raddle.task.Outcome;
import dev.raddle.task.Rejectable;
import dev.raddle.task.Rejection;
import dev.raddle.time.TimeSource;
import dev.raddle.time.UserCode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The events of a pool's tasks: counts them, and passes them to the pool's listener, to the submissions of its task
 * listener and to the flight recorder. Rejects or cancels the tasks that the pool does not run.
 */
final class Observation {

    private static final String LOGGER = "dev.raddle.pool.ThreadPool";

    private final String pool;
    private final TimeSource time;
    private final @Nullable PoolListener listener;
    private final boolean cancelsFutures; // that are handed back or dropped
    final @Nullable ObservedTasks tasks; // null without a task listener and propagators
    final boolean recordsTimes; // of every task, whether or not a recording is on
    final boolean isNotified; // of accepted tasks
    final LongAdder rejected = new LongAdder();
    final LongAdder handedBack = new LongAdder();
    final LongAdder removed = new LongAdder();

    Observation(PoolBuilder settings) {
        pool = settings.name;
        time = settings.timeSource;
        listener = settings.listener;
        cancelsFutures = settings.cancelHandedBack;
        tasks = settings.taskListener == null && !settings.propagation.hasPropagators()
                ? null
                : new ObservedTasks(settings);
        recordsTimes = listener != null || settings.stuckAfter != null;
        isNotified = listener != null || tasks != null;
    }

    /** Returns whether starts and ends are reported at all. */
    boolean isOn() {
        return recordsTimes || (Recorder.isInUse() && isRecording());
    }

    private static boolean isRecording() {
        return Recorder.isInUse() && PoolTaskEvent.ANY.isEnabled(); // the class needs the recorder
    }

    // ---- of a submission

    void accepted(Runnable task) {
        notifyListener(listener -> listener.accepted(task));
        if (tasks != null) {
            tasks.accepted(task);
        }
    }

    /** Settles the last submission of a task: the pool has thrown instead of accepting or rejecting it. */
    void failed(Runnable task, Throwable failure) {
        settle(task, true, new Outcome.Failure<>(failure));
    }

    void rejected(Runnable task) {
        rejected.increment();
        notifyListener(listener -> listener.rejected(task));
        record("rejected", task, null, null, 0, 0, null);
    }

    /** Settles the last submission of a task, which its handler has submitted again in vain. */
    void notResubmitted(Runnable task) {
        settle(task, true, rejection(Rejection.Reason.POOL, "it was dropped"));
    }

    // ---- of an accepted task that does not run

    void handedBack(Runnable task, long acceptedAt) {
        handedBack.increment();
        settle(task, false, rejection(Rejection.Reason.SHUTDOWN, "it was handed back"));
        notifyListener(listener -> listener.handedBack(task));
        record("handed back", task, null, null, waited(acceptedAt, time.nanoTime()), 0, null);
    }

    void dropped(Runnable task) {
        removed.increment();
        settle(task, false, rejection(Rejection.Reason.POOL, "it was dropped"));
    }

    void removed(Runnable task) {
        removed.increment();
        if (tasks != null) {
            settle(task, false, removal());
        }
    }

    /** Notes and rejects a task that was removed from the queue and that no caller has received. */
    void removedUnreceived(Runnable task) {
        removed(task);
        rejectTask(task, "was removed from the queue of its pool");
    }

    /** Rejects a task that will never run, if it is a {@code Rejectable}; returns whether it is one. */
    static boolean rejectTask(Runnable task, String reason) {
        if (!(task instanceof Rejectable rejectable)) {
            return false;
        }
        try {
            rejectable.reject(new RejectedExecutionException(PooledTask.subject(task) + " " + reason));
        } catch (Throwable failure) {
            UserCode.uncaught(failure);
        }
        return true;
    }

    /** Rejects tasks that are handed back, or cancels them if that is wanted. */
    void reject(List<Runnable> handedBack) {
        handedBack.forEach(task -> reject(task, "was handed back", true));
    }

    /** Rejects a task that is dropped, or cancels it if that is wanted. */
    void reject(Runnable dropped, boolean isShutdown) {
        reject(dropped, "was dropped", isShutdown);
    }

    private void reject(Runnable task, String what, boolean isShutdown) {
        String why = isShutdown ? "which was shut down" : "which is full";
        if (!rejectTask(task, what + " by pool \"" + pool + "\", " + why) && cancelsFutures) {
            cancelFuture(task);
        }
    }

    /** Cancels a task if it is a future. Reports an exception, which a future of a user may throw. */
    static void cancelFuture(Runnable task) {
        if (task instanceof Future<?> future) {
            try {
                future.cancel(false);
            } catch (Throwable failure) {
                UserCode.uncaught(failure); // the caller has other tasks to end
            }
        }
    }

    static boolean isCancelled(Runnable task) {
        return task instanceof Future<?> future && future.isCancelled();
    }

    /** Settles a task whose {@code beforeExecute} has thrown, unless a future was settled by its cancellation. */
    void skipped(Runnable task, Throwable failure) {
        settle(task, false, new Outcome.Failure<>(failure));
    }

    /** Settles the tasks that a terminated pool has accepted, and that were removed without its knowledge. */
    void end() {
        if (tasks != null) {
            tasks.settleAccepted(removal());
        }
    }

    private void settle(Runnable task, boolean last, Outcome<?> outcome) {
        if (tasks != null) {
            tasks.settleWaiting(task, last, outcome);
        }
    }

    private Outcome<?> rejection(Rejection.Reason reason, String what) {
        return new Outcome.Rejected<>(Rejection.of(reason, what + " by pool \"" + pool + "\""));
    }

    private Outcome<?> removal() {
        return new Outcome.Cancelled<>(
                new CancellationException("it was removed from the queue of pool \"" + pool + "\""));
    }

    // ---- of a task that runs

    /** Records the start time of a task, before other threads can see that it runs. */
    void recordStart(Worker worker, Runnable task) {
        worker.startedAt = time.nanoTime();
        worker.event = isRecording() ? begunEvent(task) : null;
    }

    /** Begins the event of a task, whose name is read now because a future clears its original. */
    private static Object begunEvent(Runnable task) {
        PoolTaskEvent event = new PoolTaskEvent(nameOf(task));
        event.begin();
        return event;
    }

    void started(Worker worker, Runnable task) {
        notifyListener(listener -> listener.started(task, worker.thread()));
    }

    void ended(Worker worker, Runnable task, @Nullable Throwable failure) {
        long waited = waited(worker.queuedAt.nanoTime, worker.startedAt);
        long ran = time.nanoTime() - worker.startedAt;
        notifyListener(listener -> listener.ended(
                new Ended(task, worker.thread(), Duration.ofNanos(waited), Duration.ofNanos(ran), failure)));
        record("ended", task, worker.event, worker.thread(), waited, ran, failure);
        worker.event = null;
    }

    private static long waited(long acceptedAt, long until) {
        return acceptedAt == TaskBuffer.Timestamp.UNKNOWN ? 0 : until - acceptedAt;
    }

    /** Reports a task that runs for long, to the log if there is no listener. */
    void stuck(Stuck event) {
        record("stuck", event.task(), null, event.thread(), 0, event.ranFor().toNanos(), null);
        if (listener != null) {
            notifyListener(listener -> listener.stuck(event));
            return;
        }
        String subject = PooledTask.subject(PooledTask.original(event.task()));
        StringBuilder message = new StringBuilder(subject + " of pool \"" + pool + "\" has run for "
                + event.ranFor().toMillis() + " ms in thread \""
                + event.thread().getName() + "\"");
        event.stack().forEach(frame -> message.append("\n\tat ").append(frame));
        UserCode.warn(LOGGER, message.toString(), null);
    }

    private void notifyListener(Consumer<PoolListener> notification) {
        if (listener != null) {
            UserCode.run(() -> notification.accept(listener));
        }
    }

    /** Returns the name of a task, or of its class or that of the callable. */
    static String nameOf(Runnable task) {
        Object original = PooledTask.original(task);
        return UserCode.nameOf(original instanceof NamedTask named ? named::name : null, original);
    }

    private void record(
            String what,
            Runnable task,
            @Nullable Object begun,
            @Nullable Thread runner,
            long waited,
            long ran,
            @Nullable Throwable failure) {
        if (!isRecording()) {
            return;
        }
        PoolTaskEvent event = begun == null ? new PoolTaskEvent(nameOf(task)) : (PoolTaskEvent) begun;
        event.pool = pool;
        event.what = what;
        event.runner = runner == null ? null : runner.getName();
        event.waited = waited;
        event.ran = ran;
        event.failure = failure == null ? null : UserCode.textOf(failure);
        event.commit();
    }
}
