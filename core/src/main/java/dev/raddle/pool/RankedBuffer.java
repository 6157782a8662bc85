package dev.raddle.pool;

import dev.raddle.lock.SpinLock;
import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A priority buffer: tasks of the highest rank first, in FIFO order within a rank. */
final class RankedBuffer extends SpinLock implements TaskBuffer {

    /*
     * Overview.
     *
     * Each rank has a linked list, to which tasks are appended and from which they are removed at any position.
     * `queues` contains no empty list. The lock guards the lists and all links.
     *
     * A cursor remembers the last entry that it read. If that entry has since been removed from the head of its list,
     * all entries before it had been removed, and the cursor continues with the head of that list. If it has been
     * removed from the middle, it still links to the entry that followed it, and the cursor follows these links until
     * it reaches an entry that is linked or has been removed from the head.
     */

    private static final class Entry {
        final Runnable task;
        final int rank;
        final long nanoTime;
        boolean linked = true;
        boolean removedFromHead;

        @Nullable
        Entry previous;

        @Nullable
        Entry next; // kept when the entry is removed from the middle

        Entry(Runnable task, int rank, long nanoTime) {
            this.task = task;
            this.rank = rank;
            this.nanoTime = nanoTime;
        }
    }

    private static final class RankQueue {
        Entry first;
        Entry last;

        RankQueue(Entry only) {
            first = only;
            last = only;
        }
    }

    private final TreeMap<Integer, RankQueue> queues = new TreeMap<>(Comparator.reverseOrder()); // guarded by this
    private volatile int size; // written under the lock
    private volatile int capacity;

    RankedBuffer(int capacity) {
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
            RankQueue queue = queues.get(rank);
            if (queue == null) {
                queues.put(rank, new RankQueue(entry));
            } else {
                entry.previous = queue.last;
                queue.last.next = entry;
                queue.last = entry;
            }
            size = before + 1;
            return true;
        } finally {
            unlock();
        }
    }

    @Override
    public @Nullable Runnable poll(Timestamp stamp) {
        if (size == 0) {
            return null;
        }
        lock();
        try {
            Map.Entry<Integer, RankQueue> queue = queues.firstEntry();
            if (queue == null) {
                return null;
            }
            Entry entry = queue.getValue().first;
            unlink(entry, queue.getValue());
            stamp.nanoTime = entry.nanoTime;
            return entry.task;
        } finally {
            unlock();
        }
    }

    @Override
    public @Nullable Runnable peek() {
        return locked(() -> queues.isEmpty() ? null : queues.firstEntry().getValue().first.task);
    }

    @Override
    public Cursor cursor() {
        return new RankedCursor();
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public boolean hasTask() {
        return size != 0;
    }

    @Override
    public int capacity() {
        return capacity;
    }

    @Override
    public void setCapacity(int capacity) {
        this.capacity = capacity;
    }

    /** Unlinks a linked entry. Called under the lock. */
    private void unlink(Entry entry, RankQueue queue) {
        int before = size;
        Entry previous = entry.previous;
        Entry next = entry.next;
        if (previous == null && next == null) {
            queues.remove(entry.rank);
        }
        if (previous != null) {
            previous.next = next;
            if (next == null) {
                queue.last = previous;
            }
        }
        if (next != null) {
            next.previous = previous;
            if (previous == null) {
                queue.first = next;
            }
        }
        entry.linked = false;
        entry.previous = null;
        if (previous == null) {
            entry.removedFromHead = true;
            entry.next = null;
        }
        size = before - 1;
    }

    private final class RankedCursor extends Cursor {

        private final @Nullable Entry[] entries = new Entry[tasks.length]; // parallel to `tasks`
        private @Nullable Entry marked;
        private @Nullable Entry last; // the last entry that was read; null before the first
        private boolean exhausted;

        @Override
        int read() {
            return locked(() -> {
                int count = 0;
                while (count < tasks.length) {
                    Entry next = exhausted ? null : nextEntry();
                    if (next == null) {
                        exhausted = true;
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

        private @Nullable Entry nextEntry() {
            Entry at = last;
            if (at == null) {
                return firstOf(queues.firstEntry());
            }
            do {
                Entry next = at.next;
                if (next == null) {
                    return at.removedFromHead
                            ? firstOf(queues.ceilingEntry(at.rank))
                            : firstOf(queues.higherEntry(at.rank));
                }
                at = next;
            } while (!at.linked);
            return at;
        }

        private static @Nullable Entry firstOf(Map.@Nullable Entry<Integer, RankQueue> queue) {
            return queue == null ? null : queue.getValue().first;
        }

        @Override
        void mark(int element) {
            marked = entries[element];
        }

        @Override
        boolean removeMarked() {
            Entry entry = marked;
            return entry != null
                    && locked(() -> {
                        RankQueue queue = entry.linked ? queues.get(entry.rank) : null;
                        if (queue != null) {
                            unlink(entry, queue);
                        }
                        return queue != null;
                    });
        }
    }
}
