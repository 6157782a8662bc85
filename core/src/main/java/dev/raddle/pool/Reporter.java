package dev.raddle.pool;

import dev.raddle.pool.PoolListener.Ended;
import dev.raddle.pool.PoolListener.Stuck;
import dev.raddle.task.NamedTask;
import dev.raddle.time.TimeSource;
import dev.raddle.time.UserCode;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Tells a pool's listener and the flight recorder what becomes of its tasks. */
final class Reporter {

    private static final boolean HAS_RECORDER =
            ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    private final String pool;
    private final TimeSource time;
    private final @Nullable PoolListener listener;
    private final boolean watching;

    Reporter(String pool, TimeSource time, @Nullable PoolListener listener, boolean watchesStuckTasks) {
        this.pool = pool;
        this.time = time;
        this.listener = listener;
        this.watching = listener != null || watchesStuckTasks;
    }

    /** Tells whether anybody wants to know. */
    boolean isOn() {
        return watching || isRecording();
    }

    /** Tells whether the clock is looked at for each task, whatever a recording wants. */
    boolean isWatching() {
        return watching;
    }

    private static boolean isRecording() {
        return HAS_RECORDER && PoolTaskEvent.isOn();
    }

    void accepted(Runnable task) {
        tell(hears -> hears.accepted(task));
    }

    /** Notes when a task starts, before others can see that it runs. */
    void stamp(Worker worker, Runnable task) {
        long now = time.nanoTime();
        worker.startedAt = now;
        worker.recorded =
                isRecording() ? PoolTaskEvent.begun(nameOf(task)) : null; // a future forgets what it is made of
    }

    void started(Worker worker, Runnable task) {
        tell(hears -> hears.started(task, worker.thread()));
    }

    void ended(Worker worker, Runnable task, @Nullable Throwable failure) {
        long acceptedAt = worker.stamp.nanoTime;
        long waited = waited(acceptedAt, worker.startedAt);
        long ran = time.nanoTime() - worker.startedAt;
        tell(hears -> hears.ended(
                new Ended(task, worker.thread(), Duration.ofNanos(waited), Duration.ofNanos(ran), failure)));
        record("ended", task, worker.recorded, worker.thread(), waited, ran, failure);
        worker.recorded = null;
    }

    private static long waited(long acceptedAt, long until) {
        return acceptedAt == Store.Stamp.UNKNOWN ? 0 : until - acceptedAt;
    }

    void rejected(Runnable task) {
        tell(hears -> hears.rejected(task));
        record("rejected", task, null, null, 0, 0, null);
    }

    void handedBack(Runnable task, long acceptedAt) {
        tell(hears -> hears.handedBack(task));
        record("handed back", task, null, null, waited(acceptedAt, time.nanoTime()), 0, null);
    }

    /** Tells of a task that has run for long; without a listener the log hears of it. */
    void stuck(Runnable task, Thread thread, Duration ranFor, List<StackTraceElement> stack) {
        record("stuck", task, null, thread, 0, ranFor.toNanos(), null);
        if (listener != null) {
            tell(hears -> hears.stuck(new Stuck(task, thread, ranFor, stack)));
        } else {
            StringBuilder message = new StringBuilder("task " + UserCode.textOf(PooledTask.given(task)) + " of pool \""
                    + pool + "\" has run for " + ranFor.toMillis() + " ms in thread \"" + thread.getName() + "\"");
            stack.forEach(frame -> message.append("\n\tat ").append(frame));
            UserCode.warn(ThreadPool.class.getName(), message.toString(), null);
        }
    }

    private void tell(Consumer<PoolListener> event) {
        if (listener != null) {
            try {
                event.accept(listener);
            } catch (Throwable failure) {
                report(failure);
            }
        }
    }

    /** Gives what must change nothing to the uncaught exception handler of the thread in which it happened. */
    static void report(Throwable failure) {
        UserCode.uncaught(failure);
    }

    private static String nameOf(Runnable task) {
        Object given = PooledTask.given(task);
        return UserCode.nameOf(given instanceof NamedTask named ? named::name : null, given);
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
        try {
            PoolTaskEvent event = begun == null ? PoolTaskEvent.of(nameOf(task)) : (PoolTaskEvent) begun;
            event.pool = pool;
            event.what = what;
            event.runner = runner == null ? null : runner.getName();
            event.waited = waited;
            event.ran = ran;
            event.failure = failure == null ? null : UserCode.textOf(failure);
            event.commit();
        } catch (Throwable broken) {
            report(broken);
        }
    }
}
