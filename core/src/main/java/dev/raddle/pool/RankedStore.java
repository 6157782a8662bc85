package dev.raddle.pool;

import dev.raddle.kernel.SpinLock;
import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Tasks by rank, the highest first, and in the order of arrival within a rank: a line for each rank that has one. */
final class RankedStore extends SpinLock implements Store {

    /*
     * Overview.
     *
     * A line is a linked list, which a task joins at the end and leaves from anywhere. `lines` has no empty one. The lock
     * guards the lines and all links.
     *
     * A pass remembers the last entry that it read. If that has left from the front, all before it had left, and the pass goes on
     * with the front of its rank. If it has left from the middle, it still knows the entry that followed it, and the pass
     * follows these links until it meets one that is here or has left from the front.
     */

    private static final class Entry {
        final Runnable task;
        final int rank;
        final long nanoTime;
        boolean isHere = true;
        boolean leftFromFront;

        @Nullable
        Entry earlier;

        @Nullable
        Entry later; // kept by an entry that has left from the middle

        Entry(Runnable task, int rank, long nanoTime) {
            this.task = task;
            this.rank = rank;
            this.nanoTime = nanoTime;
        }
    }

    private static final class Line {
        Entry first;
        Entry last;

        Line(Entry only) {
            first = only;
            last = only;
        }
    }

    private final TreeMap<Integer, Line> lines = new TreeMap<>(Comparator.reverseOrder()); // guarded by this
    private volatile int size; // written under the lock
    private volatile int capacity;

    RankedStore(int capacity) {
        this.capacity = capacity;
    }

    @Override
    public boolean offer(Runnable task, int rank, long nanoTime) {
        Entry entry = new Entry(task, rank, nanoTime);
        lock();
        try {
            int before = size;
            if (before >= capacity) {
                return false;
            }
            Line line = lines.get(rank);
            if (line == null) {
                lines.put(rank, new Line(entry)); // the one step that may fail
            } else {
                entry.earlier = line.last;
                line.last.later = entry;
                line.last = entry;
            }
            size = before + 1;
            return true;
        } finally {
            unlock();
        }
    }

    @Override
    public @Nullable Runnable poll(Stamp stamp) {
        if (size == 0) {
            return null;
        }
        lock();
        try {
            Map.Entry<Integer, Line> line = lines.firstEntry();
            if (line == null) {
                return null;
            }
            Entry entry = line.getValue().first;
            takeOut(entry, line.getValue());
            stamp.nanoTime = entry.nanoTime;
            return entry.task;
        } finally {
            unlock();
        }
    }

    @Override
    public @Nullable Runnable peek() {
        return locked(() -> lines.isEmpty() ? null : lines.firstEntry().getValue().first.task);
    }

    @Override
    public Pass pass() {
        return new RankedPass();
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public int capacity() {
        return capacity;
    }

    @Override
    public void setCapacity(int capacity) {
        this.capacity = capacity;
    }

    /** Under the lock: unlinks an entry that is here. */
    private void takeOut(Entry entry, Line line) {
        int before = size;
        Entry earlier = entry.earlier;
        Entry later = entry.later;
        if (earlier == null && later == null) {
            lines.remove(entry.rank); // the one step that may fail
        }
        if (earlier != null) {
            earlier.later = later;
            if (later == null) {
                line.last = earlier;
            }
        }
        if (later != null) {
            later.earlier = earlier;
            if (earlier == null) {
                line.first = later;
            }
        }
        entry.isHere = false;
        entry.earlier = null;
        if (earlier == null) {
            entry.leftFromFront = true;
            entry.later = null;
        }
        size = before - 1;
    }

    private final class RankedPass extends Pass {

        private final @Nullable Entry[] entries = new Entry[tasks.length]; // of the tasks that were read last
        private @Nullable Entry kept;
        private @Nullable Entry last; // the last one that was read; null before the first
        private boolean isOver;

        @Override
        int read() {
            return locked(() -> {
                int count = 0;
                while (count < tasks.length) {
                    Entry next = isOver ? null : following();
                    if (next == null) {
                        isOver = true;
                        break;
                    }
                    last = next;
                    entries[count] = next;
                    tasks[count] = next.task;
                    count++;
                }
                return count;
            });
        }

        private @Nullable Entry following() {
            Entry at = last;
            if (at == null) {
                return firstOf(lines.firstEntry());
            }
            do {
                Entry later = at.later;
                if (later == null) {
                    return at.leftFromFront
                            ? firstOf(lines.ceilingEntry(at.rank))
                            : firstOf(lines.higherEntry(at.rank));
                }
                at = later;
            } while (!at.isHere);
            return at;
        }

        private static @Nullable Entry firstOf(Map.@Nullable Entry<Integer, Line> line) {
            return line == null ? null : line.getValue().first;
        }

        @Override
        void keep(int element) {
            kept = entries[element];
        }

        @Override
        boolean removeKept() {
            Entry entry = kept;
            return entry != null
                    && locked(() -> {
                        Line line = entry.isHere ? lines.get(entry.rank) : null;
                        if (line != null) {
                            takeOut(entry, line);
                        }
                        return line != null;
                    });
        }
    }
}
