package dev.raddle.pool;

import dev.raddle.task.Rejectable;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** Counts and settles the accepted tasks that leave a pool's queue other than to a worker or back to the pool. */
final class Removals {

    private final LongAdder count = new LongAdder();
    private final @Nullable ObservedTasks observed;

    Removals(@Nullable ObservedTasks observed) {
        this.observed = observed;
    }

    static boolean isCancelled(Runnable task) {
        return task instanceof Future<?> future && future.isCancelled();
    }

    /** Adds a task that the pool drops, and settles itself. */
    void addDropped() {
        count.increment();
    }

    /** Adds a task that a caller has received, and must run or reject. */
    void addReceived(Runnable task) {
        count.increment();
        if (observed != null) {
            observed.removed(task);
        }
    }

    /** Adds and rejects a task that no caller has received. */
    void add(Runnable task) {
        addReceived(task);
        Rejectable.reject(task, "was removed from the queue of its pool");
    }

    long sum() {
        return count.sum();
    }
}
