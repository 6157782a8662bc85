package dev.raddle.micrometer;

import dev.raddle.time.UserCode;
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

/** Decides which keys have a row, and so meters, of their own. {@link TaskMeters} documents the rule. */
final class TopKeys {

    /*
     * Overview.
     *
     * A key has a row, or a counter among the candidates, or it is not remembered. A task of a key with a row adds to
     * the row's traffic, without a lock. All other tasks take one lock, which guards the candidates and the set of keys
     * with rows:
     *
     *     (1)  rows.size() <= maxRows,  candidates.size() <= CANDIDATES_PER_ROW * maxRows,  no key has both
     *     (2)  floor <= the least traffic of a row
     *
     * The floor avoids the search for the quietest row for most tasks. It may be too low, because traffic grows without
     * the lock; a thread whose key exceeds it computes it again.
     *
     * Meters of rows are added and removed outside the lock, one after the other in the order of the decisions:
     * otherwise the meters of a key that returns could be removed as those of its former row. A thread that adds to
     * `changes` then calls makeChanges(); if another thread is already in it, that thread also makes these changes.
     */

    static final int CANDIDATES_PER_ROW = 10;
    static final Duration HALF_LIFE = Duration.ofMinutes(10);

    private final int maxRows;
    private final Clock clock;
    private final Row other;
    private final Consumer<Row> open;
    private final Consumer<Row> close;
    private final ConcurrentHashMap<String, Row> rows = new ConcurrentHashMap<>(); // changed under the lock
    private final ReentrantLock lock = new ReentrantLock();
    private final SpaceSaving candidates; // guarded by lock
    private long floor; // guarded by lock
    private long lastHalving; // guarded by lock; the time of the last halving
    private boolean removed; // guarded by lock
    private final Queue<Runnable> changes = new ConcurrentLinkedQueue<>(); // in the order of the decisions
    private final AtomicInteger pendingChanges = new AtomicInteger();

    /**
     * Creates an object without rows.
     *
     * @param maxRows the maximum number of rows
     * @param other the row of all other keys, and of the key with its name
     * @param open the action that adds the meters of a row
     * @param close the action that removes them
     */
    TopKeys(int maxRows, Clock clock, Row other, Consumer<Row> open, Consumer<Row> close) {
        this.maxRows = maxRows;
        this.clock = clock;
        this.other = other;
        this.open = open;
        this.close = close;
        this.candidates = new SpaceSaving(CANDIDATES_PER_ROW * maxRows);
        this.lastHalving = clock.monotonicTime();
    }

    /** Counts a submitted task, and returns its row; the caller must call {@link #makeChanges} afterwards. */
    Row submitted(String key) {
        Row row = rows.get(key);
        if (row != null) {
            row.traffic.increment();
            return row;
        }
        if (maxRows == 0 || key.equals(other.key)) {
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
            row.traffic.increment(); // since the caller read the rows
            return row;
        }
        if (removed) {
            return null;
        }
        if (rows.size() < maxRows) {
            return addRow(key, 1);
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
        return addRow(key, certain);
    }

    private Row addRow(String key, long traffic) {
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
        long passed = (now - lastHalving) / HALF_LIFE.toNanos();
        if (passed <= 0) {
            return;
        }
        lastHalving += passed * HALF_LIFE.toNanos();
        int times = (int) Math.min(passed, Long.SIZE - 1);
        candidates.halve(times);
        for (Row row : rows.values()) {
            long traffic = row.traffic.sum();
            row.traffic.add((traffic >> times) - traffic);
        }
        floor >>= times;
    }

    /** Applies an action to each row, in the order of the other changes. */
    void applyToAll(Consumer<Row> action) {
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

    /** Removes all rows. None is added afterwards. */
    void removeAll() {
        lock.lock();
        try {
            removed = true;
            for (Row row : rows.values()) {
                changes.add(() -> close.accept(row));
            }
            rows.clear();
        } finally {
            lock.unlock();
        }
        makeChanges();
    }

    /**
     * Adds and removes meters of rows, as decided. Throws the exceptions of the registry after all changes are made.
     */
    void makeChanges() {
        if (changes.isEmpty() || pendingChanges.getAndIncrement() != 0) {
            return;
        }
        RuntimeException first = null;
        int seen = 1;
        do {
            for (Runnable applyToAll; (applyToAll = changes.poll()) != null; ) {
                try {
                    applyToAll.run();
                } catch (RuntimeException failure) {
                    if (first == null) {
                        first = failure;
                    } else {
                        UserCode.addSuppressed(first, failure);
                    }
                }
            }
            seen = pendingChanges.addAndGet(-seen);
        } while (seen != 0);
        if (first != null) {
            throw first;
        }
    }

    /** Returns the row of a key, or null if it has none. */
    @Nullable
    Row row(String key) {
        return rows.get(key);
    }

    /** Returns the current rows. */
    Collection<Row> rows() {
        return rows.values();
    }

    /** Returns the number of remembered keys. */
    int remembered() {
        lock.lock();
        try {
            return rows.size() + candidates.size();
        } finally {
            lock.unlock();
        }
    }
}
