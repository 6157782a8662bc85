package dev.raddle.pool;

import dev.raddle.time.Deadline;
import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;

/** A task queue as seen by the workers of a pool. */
interface WorkQueue {

    boolean offer(Runnable task);

    /**
     * Removes and returns the first task for a worker, or returns null if there is none. Sets the timestamp if it is
     * known.
     */
    @Nullable
    Runnable poll(TaskBuffer.Timestamp stamp);

    /**
     * Waits for the first task for a worker that is idle and has just polled in vain, and removes and returns it.
     * Returns null if the deadline, which may be null, passed first. May also throw then.
     */
    @Nullable
    Runnable take(Worker worker, @Nullable Deadline deadline) throws InterruptedException;

    /**
     * Removes a task that the pool has just added, without counting it as removed. Returns whether it was still queued.
     */
    boolean takeBack(Runnable task);

    /** Removes a task on behalf of a user. Returns whether it was queued. */
    boolean remove(Object task);

    /** Removes all cancelled futures. */
    void purge();

    /** Removes all tasks, and passes each with its {@link TaskBuffer.Timestamp} to a receiver. */
    void drainAll(ObjLongConsumer<Runnable> receiver);

    boolean isEmpty();

    int size();

    int remainingCapacity();

    /** Returns the queue of threads that wait to add a task. */
    WaiterQueue putters();
}
