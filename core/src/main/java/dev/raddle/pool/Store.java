package dev.raddle.pool;

import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Where the tasks of a {@link TaskQueue} lie: an order and a capacity. No method waits, and none calls foreign code. */
interface Store {

    /** Carries the moment at which a task was put in, to the one who takes it out. */
    final class Stamp {
        static final long UNKNOWN = Long.MIN_VALUE;

        long nanoTime = UNKNOWN;
    }

    /**
     * Goes over the tasks in order, for one thread. It meets each task that lies here all the while once; one that comes or
     * leaves meanwhile it may meet or not. It reads a few tasks at a time, and holds no lock in between.
     */
    abstract class Pass {

        private static final int MOST = 64;

        /** The tasks that were read last; an element may be null. */
        final @Nullable Runnable[] tasks = new Runnable[MOST];

        private int count; // of the elements that were read last
        private int next; // the first of them that has not been returned

        /** Reads the next tasks, and returns how many elements of {@link #tasks} that are: 0 at the end. */
        abstract int read();

        /** Remembers the place of one of the tasks that were read last. */
        abstract void keep(int element);

        /** Takes the task out whose place was kept, if it still lies there. */
        abstract boolean removeKept();

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

        /** Remembers the place of the task that {@link #next} has returned. */
        void keep() {
            keep(next - 1);
        }

        /** Takes out the next task with a property, which may be user code, and returns it; null if there was none. */
        @Nullable
        Runnable removeNext(Predicate<Runnable> property) {
            for (Runnable task; (task = next()) != null; ) {
                if (property.test(task)) {
                    keep();
                    if (removeKept()) {
                        return task;
                    }
                }
            }
            return null;
        }
    }

    /**
     * Puts a task in, if there is room. Actions before it <i>happen-before</i> those that follow its removal.
     *
     * @param rank its place in the order, for stores that have one: the higher comes first
     * @param nanoTime to be given back in the stamp
     */
    boolean offer(Runnable task, int rank, long nanoTime);

    /** Takes the first task out, if there is one, and fills the stamp in. */
    @Nullable
    Runnable poll(Stamp stamp);

    @Nullable
    Runnable peek();

    /** Begins a pass over all tasks. */
    Pass pass();

    /** Returns how many lie here; 0 only if in one moment during this call there were none. */
    int size();

    int capacity();

    void setCapacity(int capacity);
}
