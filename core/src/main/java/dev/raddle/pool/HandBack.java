package dev.raddle.pool;

import dev.raddle.pool.Worker.Activity;
import dev.raddle.task.Rejectable;
import java.util.List;
import java.util.PrimitiveIterator;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.stream.LongStream;

/** Stops the workers of a pool, and rejects or cancels the tasks that the pool will not run. */
final class HandBack {

    private final String pool;
    private final Workers workers;
    private final Reporter reporter;
    private final boolean cancelsFutures;

    HandBack(String pool, Workers workers, Reporter reporter, boolean cancelsFutures) {
        this.pool = pool;
        this.workers = workers;
        this.reporter = reporter;
        this.cancelsFutures = cancelsFutures;
    }

    /** Stops the pool and returns the tasks that never started, which have been rejected or cancelled. */
    List<Runnable> stop() {
        List<Runnable> tasks = stop(interrupted -> {});
        cancel(tasks);
        return tasks;
    }

    /** Stops the pool and returns the tasks that never started; passes the running ones to a consumer. */
    List<Runnable> stop(Consumer<Activity> interrupted) {
        if (!reporter.isOn()) {
            return workers.stop(interrupted, moment -> {});
        }
        LongStream.Builder moments = LongStream.builder();
        List<Runnable> tasks = workers.stop(interrupted, moments);
        PrimitiveIterator.OfLong acceptedAt = moments.build().iterator();
        tasks.forEach(task -> reporter.handedBack(task, acceptedAt.nextLong()));
        return tasks;
    }

    /** Rejects tasks that are handed back, or cancels them if that is wanted. */
    void cancel(List<Runnable> tasks) {
        tasks.forEach(task -> cancel(task, "was handed back by pool"));
    }

    /** Rejects a task that is dropped, or cancels it if that is wanted. */
    void drop(Runnable task) {
        cancel(task, "was dropped by pool");
    }

    private void cancel(Runnable task, String what) {
        boolean isShutdown = workers.control.state() >= Control.SHUTDOWN;
        String why = isShutdown ? "which was shut down" : "which is full";
        if (!Rejectable.reject(task, what + " \"" + pool + "\", " + why) && cancelsFutures) {
            cancelFuture(task);
        }
    }

    /**
     * Cancels a task that will not run, if it is a future. Reports an exception, which a future of a user may throw.
     */
    static void cancelFuture(Runnable task) {
        if (task instanceof Future<?> future) {
            try {
                future.cancel(false);
            } catch (Throwable failure) {
                Reporter.report(failure); // the caller has other tasks to end
            }
        }
    }
}
