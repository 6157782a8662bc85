package dev.raddle.pool;

import dev.raddle.kernel.Recorder;
import dev.raddle.pool.PoolListener.Ended;
import dev.raddle.pool.PoolListener.Stuck;
import dev.raddle.task.NamedTask;
import dev.raddle.time.TimeSource;
import dev.raddle.time.UserCode;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Reports the events of a pool's tasks to its listener and to the flight recorder. */
final class Reporter {

    private static final String LOGGER = "dev.raddle.pool.ThreadPool";

    private final String pool;
    private final TimeSource time;
    private final @Nullable PoolListener listener;
    private final boolean recordsTimes;

    Reporter(String pool, TimeSource time, @Nullable PoolListener listener, boolean detectsStuckTasks) {
        this.pool = pool;
        this.time = time;
        this.listener = listener;
        this.recordsTimes = listener != null || detectsStuckTasks;
    }

    /** Returns whether events are reported at all. */
    boolean isOn() {
        return recordsTimes || isRecording();
    }

    /** Returns whether the times of every task are recorded, whether or not a recording is on. */
    boolean recordsTimes() {
        return recordsTimes;
    }

    /** Returns whether a listener is notified. */
    boolean hasListener() {
        return listener != null;
    }

    private static boolean isRecording() {
        return Recorder.isInUse() && PoolTaskEvent.ANY.isEnabled(); // the class needs the recorder
    }

    void accepted(Runnable task) {
        notifyListener(listener -> listener.accepted(task));
    }

    /** Records the start time of a task, before other threads can see that it runs. */
    void recordStart(Worker worker, Runnable task) {
        long now = time.nanoTime();
        worker.startedAt = now;
        worker.event = begun(task);
    }

    /** Begins the event of a task, whose name is read now because a future clears its original. */
    private static @Nullable Object begun(Runnable task) {
        return isRecording() ? PoolTaskEvent.begun(nameOf(task)) : null;
    }

    void started(Worker worker, Runnable task) {
        notifyListener(listener -> listener.started(task, worker.thread()));
    }

    void ended(Worker worker, Runnable task, @Nullable Throwable failure) {
        long acceptedAt = worker.queuedAt.nanoTime;
        long waited = waited(acceptedAt, worker.startedAt);
        long ran = time.nanoTime() - worker.startedAt;
        notifyListener(listener -> listener.ended(
                new Ended(task, worker.thread(), Duration.ofNanos(waited), Duration.ofNanos(ran), failure)));
        record("ended", task, worker.event, worker.thread(), waited, ran, failure);
        worker.event = null;
    }

    private static long waited(long acceptedAt, long until) {
        return acceptedAt == TaskBuffer.Timestamp.UNKNOWN ? 0 : until - acceptedAt;
    }

    void rejected(Runnable task) {
        notifyListener(listener -> listener.rejected(task));
        record("rejected", task, null, null, 0, 0, null);
    }

    void handedBack(Runnable task, long acceptedAt) {
        notifyListener(listener -> listener.handedBack(task));
        record("handed back", task, null, null, waited(acceptedAt, time.nanoTime()), 0, null);
    }

    /** Reports a task that runs for long, to the log if there is no listener. */
    void stuck(Runnable task, Thread thread, Duration ranFor, List<StackTraceElement> stack) {
        record("stuck", task, null, thread, 0, ranFor.toNanos(), null);
        if (listener != null) {
            notifyListener(listener -> listener.stuck(new Stuck(task, thread, ranFor, stack)));
        } else {
            String text = UserCode.textOf(PooledTask.original(task));
            StringBuilder message = new StringBuilder("task " + text + " of pool \"" + pool + "\" has run for "
                    + ranFor.toMillis() + " ms in thread \"" + thread.getName() + "\"");
            stack.forEach(frame -> message.append("\n\tat ").append(frame));
            UserCode.warn(LOGGER, message.toString(), null);
        }
    }

    private void notifyListener(Consumer<PoolListener> notification) {
        if (listener != null) {
            try {
                notification.accept(listener);
            } catch (Throwable failure) {
                report(failure);
            }
        }
    }

    /** Passes an exception that must have no other effect to the uncaught exception handler of the current thread. */
    static void report(Throwable failure) {
        UserCode.uncaught(failure);
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
        PoolTaskEvent event = begun == null ? PoolTaskEvent.of(nameOf(task)) : (PoolTaskEvent) begun;
        event.pool = pool;
        event.what = what;
        event.runner = runner == null ? null : runner.getName();
        event.waited = waited;
        event.ran = ran;
        event.failure = failure == null ? null : UserCode.textOf(failure);
        event.commit();
    }
}
