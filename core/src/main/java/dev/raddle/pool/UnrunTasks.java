package dev.raddle.pool;

import dev.raddle.task.Rejectable;
import dev.raddle.time.UserCode;
import java.util.List;
import java.util.concurrent.Future;

/** Ends the tasks that a pool does not run: those that it hands back or drops, and those removed from its queue. */
final class UnrunTasks {

    private final String pool;
    private final Observation observation;
    private final boolean cancelsFutures;

    UnrunTasks(PoolBuilder settings, Observation observation) {
        this.pool = settings.name;
        this.observation = observation;
        this.cancelsFutures = settings.cancelHandedBack;
    }

    /** Rejects tasks that are handed back, or cancels them if that is wanted. */
    void handBack(List<Runnable> tasks) {
        tasks.forEach(task -> end(task, "was handed back", true));
    }

    /** Rejects a task that is dropped, or cancels it if that is wanted. */
    void drop(Runnable task, boolean isShutdown) {
        end(task, "was dropped", isShutdown);
    }

    private void end(Runnable task, String what, boolean isShutdown) {
        String why = isShutdown ? "which was shut down" : "which is full";
        if (!Rejectable.reject(task, what + " by pool \"" + pool + "\", " + why) && cancelsFutures) {
            cancelFuture(task);
        }
    }

    /** Notes and rejects a task that was removed from the queue and that no caller has received. */
    void remove(Runnable task) {
        observation.removed(task);
        Rejectable.reject(task, "was removed from the queue of its pool");
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
}
