package dev.raddle.pool;

import java.util.List;
import java.util.concurrent.Future;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** Where a crew gets its tasks: a queue as the pool sees it. */
interface Intake {

    boolean offer(Runnable task);

    /** Takes the first task for a worker, if there is one, and says when it was put in if that is known. */
    @Nullable
    Runnable poll(Store.Stamp stamp);

    /** Waits for the first task for a worker. */
    Runnable take(Store.Stamp stamp) throws InterruptedException;

    /** Takes a task out that the pool has just put in, as if it never had been. */
    boolean takeBack(Runnable task);

    /** Takes a task out that somebody does not want to be run. */
    boolean remove(Object task);

    /** Takes the first task out, if there is one, to be dropped. */
    @Nullable
    Runnable discard();

    /** Takes those out that have been cancelled. */
    void purge();

    /** Takes everything out, to be handed back, and notes when each was accepted, as its {@link Store.Stamp} says. */
    List<Runnable> drainOut(LongConsumer acceptedAt);

    boolean isEmpty();

    int size();

    int remainingCapacity();

    /** Returns where those wait who want to put something in. */
    WaitingRoom putters();

    /** Tells whether a task gets in only while a worker waits for it. */
    boolean handsOver();

    /** Returns how many tasks have left other than to a worker or back to the pool, as far as that is known. */
    long takenByOthers();

    static boolean isCancelled(Runnable task) {
        return task instanceof Future<?> future && future.isCancelled();
    }
}
