package dev.raddle.kernel;

import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The waiting permits of a gate that have several priorities: a list for each, the highest first. Guarded by the gate.
 */
final class PriorityQueues {

    /** The permits of one priority. Its own key in the map, so that a search needs no boxed number. */
    private static final class Level implements Comparable<Level> {
        private int priority;
        private @Nullable Permit last; // null only before the level is in the map, and after it has left

        Level(int priority) {
            this.priority = priority;
        }

        @Override
        public int compareTo(Level other) {
            return Integer.compare(other.priority, priority);
        }
    }

    private final TreeMap<Level, Level> levels = new TreeMap<>();
    private final Level key = new Level(0); // of the current search

    /** Creates a queue of the permits that wait with priority 0, if there are any. */
    PriorityQueues(@Nullable Permit lastOfZero) {
        if (lastOfZero != null) {
            newLevel(0).last = lastOfZero;
        }
    }

    void add(Permit permit) {
        Level known = find(permit);
        Level level = known == null ? newLevel(permit.priority()) : known;
        level.last = Ring.append(level.last, permit);
    }

    void remove(Permit permit) {
        Level level = levelOf(permit);
        level.last = Ring.unlink(level.last, permit);
        if (level.last == null) {
            levels.remove(level);
        }
    }

    boolean isEmpty() {
        return levels.isEmpty();
    }

    Permit first() {
        return Ring.first(Objects.requireNonNull(levels.firstKey().last));
    }

    void forEach(Consumer<Permit> action) {
        levels.keySet().forEach(level -> Ring.forEach(level.last, action));
    }

    @Nullable
    Permit firstWith(Predicate<Permit> property) {
        for (Level level : levels.keySet()) {
            Permit found = Ring.firstWith(level.last, property);
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    int before(Permit permit) {
        Level own = levelOf(permit);
        int[] count = {0};
        levels.headMap(own).keySet().forEach(level -> Ring.forEach(level.last, other -> count[0]++));
        return count[0] + Ring.before(Objects.requireNonNull(own.last), permit);
    }

    private Level newLevel(int priority) {
        Level level = new Level(priority);
        levels.put(level, level);
        return level;
    }

    private Level levelOf(Permit permit) {
        Level level = find(permit);
        if (level == null) {
            throw new AssertionError(permit + " is in no list");
        }
        return level;
    }

    private @Nullable Level find(Permit permit) {
        key.priority = permit.priority();
        return levels.get(key);
    }
}
