package dev.raddle.pool;

import dev.raddle.limit.SpinLock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Tasks by rank, the highest first, and in the order of arrival within a rank: a line for each rank that has one. */
final class RankedStore extends SpinLock implements Store {

    private record Entry(Runnable task, long nanoTime) {}

    private final TreeMap<Integer, ArrayDeque<Entry>> lines =
            new TreeMap<>(Comparator.reverseOrder()); // guarded by this
    private volatile int size; // written under the lock
    private volatile int capacity;

    RankedStore(int capacity) {
        this.capacity = capacity;
    }

    @Override
    public boolean offer(Runnable task, int rank, long nanoTime) {
        lock();
        try {
            if (size >= capacity) {
                return false;
            }
            Entry entry = new Entry(task, nanoTime); // before the line: if memory runs out, no empty one is left
            lines.computeIfAbsent(rank, none -> new ArrayDeque<>()).add(entry);
            count(1);
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
            Map.Entry<Integer, ArrayDeque<Entry>> line = lines.firstEntry();
            if (line == null) {
                return null;
            }
            Entry entry = line.getValue().remove();
            if (line.getValue().isEmpty()) {
                lines.remove(line.getKey());
            }
            count(-1);
            stamp.nanoTime = entry.nanoTime;
            return entry.task;
        } finally {
            unlock();
        }
    }

    @Override
    public @Nullable Runnable peek() {
        return locked(
                () -> lines.isEmpty() ? null : lines.firstEntry().getValue().element().task);
    }

    @Override
    public boolean remove(Runnable task) {
        return drop(each -> each == task, 1) == 1;
    }

    @Override
    public int removeAll(Set<Runnable> tasks) {
        return drop(tasks::contains, Integer.MAX_VALUE);
    }

    @Override
    public List<Runnable> snapshot() {
        return locked(() -> {
            List<Runnable> tasks = new ArrayList<>(size);
            lines.values().forEach(line -> line.forEach(entry -> tasks.add(entry.task)));
            return tasks;
        });
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

    private void count(int change) {
        int count = size;
        size = count + change;
    }

    private int drop(Predicate<Runnable> unwanted, int most) {
        return locked(() -> {
            int dropped = 0;
            for (Iterator<ArrayDeque<Entry>> each = lines.values().iterator(); each.hasNext() && dropped < most; ) {
                ArrayDeque<Entry> line = each.next();
                for (Iterator<Entry> entries = line.iterator(); entries.hasNext() && dropped < most; ) {
                    if (unwanted.test(entries.next().task)) {
                        entries.remove();
                        dropped++;
                    }
                }
                if (line.isEmpty()) {
                    each.remove();
                }
            }
            count(-dropped);
            return dropped;
        });
    }
}
