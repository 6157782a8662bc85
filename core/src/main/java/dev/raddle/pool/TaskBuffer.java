package dev.raddle.pool;

import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The storage of a {@link TaskQueue}: keeps tasks in an order, up to a capacity. No method waits or calls user code.
 */
interface TaskBuffer extends BooleanSupplier {

    /** An out parameter for the time at which a task was added. */
    final class Timestamp {
        static final long UNKNOWN = Long.MIN_VALUE;

        long nanoTime = UNKNOWN;
    }

    /**
     * A weakly consistent iteration over the tasks in order, for one thread. It returns each task that stays in the
     * buffer during the whole iteration exactly once, and may or may not return one that is added or removed meanwhile.
     * It reads a few tasks at a time, and holds no lock in between.
     */
    abstract class Cursor {

        private static final int CHUNK = 64;

        /** The tasks that were read last; elements may be null. */
        final @Nullable Runnable[] tasks = new Runnable[CHUNK];

        private int count; // the number of elements that were read last
        private int next; // the index of the first one that has not been returned

        /** Reads the next tasks into {@link #tasks} and returns the number of elements, or 0 at the end. */
        abstract int read();

        /** Marks the position of one of the tasks that were read last. */
        abstract void mark(int element);

        /** Removes the marked task if it is still in its position. Returns whether it was removed. */
        abstract boolean removeMarked();

        /** Returns the next task, or null at the end. */
        @Nullable
        Runnable next() {
            while (true) {
                while (next < count) {
                    Runnable task = tasks[next++];
                    if (task != null) {
                        return task;
                    }
                }
                count = read();
                next = 0;
                if (count == 0) {
                    return null;
                }
            }
        }

        /** Marks the position of the task that {@link #next} has returned. */
        void mark() {
            mark(next - 1);
        }

        /**
         * Removes and returns the next task that matches a predicate, which may be user code; returns null if there is
         * none.
         */
        @Nullable
        Runnable removeNext(Predicate<Runnable> matches) {
            for (Runnable task; (task = next()) != null; ) {
                if (matches.test(task)) {
                    mark();
                    if (removeMarked()) {
                        return task;
                    }
                }
            }
            return null;
        }
    }

    /**
     * Adds a task unless the buffer is full. Actions before it <i>happen-before</i> those that follow its removal.
     *
     * @param rank the priority, for a buffer ordered by priority: a higher one comes first
     * @param nanoTime the time to be returned by {@link #poll}
     * @return false if the buffer is full
     */
    boolean offer(Runnable task, int rank, long nanoTime);

    /** Removes and returns the first task and sets the timestamp, or returns null if the buffer is empty. */
    @Nullable
    Runnable poll(Timestamp stamp);

    @Nullable
    Runnable peek();

    /** Returns a cursor over all tasks. */
    Cursor cursor();

    /** Returns the number of tasks; 0 only if the buffer was empty at some time during this call. */
    int size();

    /** Returns whether there is a task; false only if the buffer was empty at some time during this call. */
    boolean hasTask();

    /** Returns {@link #hasTask}. */
    @Override
    default boolean getAsBoolean() {
        return hasTask();
    }

    int capacity();

    void setCapacity(int capacity);
}
