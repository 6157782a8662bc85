package dev.raddle.pool;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Where the tasks of a {@link TaskQueue} lie: an order and a capacity. No method waits, and none calls foreign code. */
interface Store {

    /** Carries the moment at which a task was put in, to the one who takes it out. */
    final class Stamp {
        static final long UNKNOWN = Long.MIN_VALUE;

        long nanoTime = UNKNOWN;
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

    /** Takes the first occurrence of this very task out. */
    boolean remove(Runnable task);

    /** Takes all occurrences of these very tasks out, and returns how many there were. */
    int removeAll(Set<Runnable> tasks);

    /** Returns what lies here in one moment, in order. */
    List<Runnable> snapshot();

    /** Returns how many lie here; 0 only if in one moment during this call there were none. */
    int size();

    int capacity();

    void setCapacity(int capacity);
}
