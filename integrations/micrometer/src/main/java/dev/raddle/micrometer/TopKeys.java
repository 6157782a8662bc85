package dev.raddle.micrometer;

import io.micrometer.core.instrument.Clock;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Decides which keys have a row, and so meters, of their own. {@link TaskMeters} says by which rule. */
final class TopKeys {

    /*
     * Overview.
     *
     * A key has a row, or a counter among the candidates, or it is not remembered. A task of a key that has a row adds to
     * the row's traffic, without a lock. All other tasks come under one lock, which guards the candidates and which keys have
     * rows:
     *
     *   (1)  rows.size() <= most,  candidates.size() <= CANDIDATES_PER_ROW * most,  no key has both
     *   (2)  floor <= the least traffic of a row
     *
     * The floor spares most tasks the search for the quietest row. It may be too low, since traffic grows without the lock;
     * it is found anew by who would be let in by it.
     *
     * Rows get their meters and lose them outside of the lock, one after the other in the order of the decisions: else the
     * meters of a key that comes back could be removed as those of its former row. Whoever adds to `changes` comes to
     * makeChanges(); if somebody is at it already, that one goes on with them.
     */

    static final int CANDIDATES_PER_ROW = 10;
    static final Duration HALF_LIFE = Duration.ofMinutes(10);

    private final int most;
    private final Clock clock;
    private final Row other;
    private final Consumer<Row> open;
    private final Consumer<Row> close;
    private final ConcurrentHashMap<String, Row> rows = new ConcurrentHashMap<>(); // changed under the lock
    private final ReentrantLock lock = new ReentrantLock();
    private final SpaceSaving candidates; // guarded by lock
    private long floor; // guarded by lock
    private long halved; // guarded by lock; when
    private boolean ended; // guarded by lock
    private final Queue<Runnable> changes = new ConcurrentLinkedQueue<>(); // in the order of the decisions
    private final AtomicInteger unmade = new AtomicInteger();

    /**
     * Begins without rows.
     *
     * @param most how many there may be
     * @param other the row of all other keys, and of its own key
     * @param open gives a row its meters
     * @param close takes them away
     */
    TopKeys(int most, Clock clock, Row other, Consumer<Row> open, Consumer<Row> close) {
        this.most = most;
        this.clock = clock;
        this.other = other;
        this.open = open;
        this.close = close;
        this.candidates = new SpaceSaving(CANDIDATES_PER_ROW * most);
        this.halved = clock.monotonicTime();
    }

    /** Counts a task that was submitted, and returns the row that it belongs to; {@link #makeChanges} must follow. */
    Row submitted(String key) {
        Row row = rows.get(key);
        if (row != null) {
            row.traffic.increment();
            return row;
        }
        if (most == 0 || key.equals(other.key)) {
            return other;
        }
        long now = clock.monotonicTime();
        lock.lock();
        try {
            halve(now);
            row = decide(key);
        } finally {
            lock.unlock();
        }
        return row == null ? other : row;
    }

    private @Nullable Row decide(String key) {
        Row row = rows.get(key);
        if (row != null) {
            row.traffic.increment(); // since this thread looked
            return row;
        }
        if (ended) {
            return null;
        }
        if (rows.size() < most) {
            return enter(key, 1);
        }
        SpaceSaving.Counter candidate = candidates.count(key);
        long certain = candidate.certain();
        if (certain <= 2 * floor) {
            return null;
        }
        Row quietest = quietest();
        floor = quietest.traffic.sum();
        if (certain <= 2 * floor) {
            return null;
        }
        candidates.remove(candidate);
        rows.remove(quietest.key);
        changes.add(() -> close.accept(quietest));
        candidates.add(quietest.key, floor);
        return enter(key, certain);
    }

    private Row enter(String key, long traffic) {
        Row row = new Row(key, traffic);
        rows.put(key, row);
        changes.add(() -> open.accept(row));
        return row;
    }

    private Row quietest() {
        return rows.values().stream()
                .min(Comparator.comparingLong(row -> row.traffic.sum()))
                .orElseThrow();
    }

    private void halve(long now) {
        long passed = (now - halved) / HALF_LIFE.toNanos();
        if (passed <= 0) {
            return;
        }
        halved += passed * HALF_LIFE.toNanos();
        int times = (int) Math.min(passed, Long.SIZE - 1);
        candidates.halve(times);
        for (Row row : rows.values()) {
            long traffic = row.traffic.sum();
            row.traffic.add((traffic >> times) - traffic);
        }
        floor >>= times;
    }

    /** Has something done to each row, in the order of the other changes. */
    void change(Consumer<Row> action) {
        lock.lock();
        try {
            for (Row row : rows.values()) {
                changes.add(() -> action.accept(row));
            }
        } finally {
            lock.unlock();
        }
        makeChanges();
    }

    /** Takes all rows away. There are none from now on. */
    void end() {
        lock.lock();
        try {
            ended = true;
            for (Row row : rows.values()) {
                changes.add(() -> close.accept(row));
            }
            rows.clear();
        } finally {
            lock.unlock();
        }
        makeChanges();
    }

    /** Gives rows their meters and takes them away, as was decided. Throws what the registry throws, when all is done. */
    void makeChanges() {
        if (changes.isEmpty() || unmade.getAndIncrement() != 0) {
            return;
        }
        RuntimeException first = null;
        int seen = 1;
        do {
            for (Runnable change; (change = changes.poll()) != null; ) {
                try {
                    change.run();
                } catch (RuntimeException failure) {
                    if (first == null) {
                        first = failure;
                    } else {
                        first.addSuppressed(failure);
                    }
                }
            }
            seen = unmade.addAndGet(-seen);
        } while (seen != 0);
        if (first != null) {
            throw first;
        }
    }

    /** Returns the rows that there are now. */
    Collection<Row> rows() {
        return rows.values();
    }

    /** Returns how many keys are remembered. */
    int remembered() {
        lock.lock();
        try {
            return rows.size() + candidates.size();
        } finally {
            lock.unlock();
        }
    }
}
