package dev.raddle.kernel;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The waiting permits of a gate that have several priorities: a list for each, the highest first. Guarded by the gate.
 *
 * <p>The static methods operate on the queue of a gate, whatever form it has: null if it is empty, its last permit
 * while all have priority 0, and an object of this class from the first permit of another priority on, until it is
 * empty.
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

    /** Appends a permit to those of its priority; returns the queue in its new form. */
    static Object append(@Nullable Object queue, Permit permit) {
        if (queue instanceof PriorityQueues priorities) {
            priorities.add(permit);
            return priorities;
        }
        if (permit.priority() == 0) {
            return Ring.append((Permit) queue, permit);
        }
        PriorityQueues priorities = new PriorityQueues((Permit) queue);
        priorities.add(permit);
        return priorities;
    }

    /** Removes a permit; returns the queue in its new form. */
    static @Nullable Object unlink(@Nullable Object queue, Permit permit) {
        if (queue instanceof PriorityQueues priorities) {
            priorities.remove(permit);
            return priorities.levels.isEmpty() ? null : priorities;
        }
        return Ring.unlink((Permit) queue, permit);
    }

    /** Returns the permits in order, in a new list for a number of them. */
    static List<Permit> toList(@Nullable Object queue, int size) {
        List<Permit> permits = new ArrayList<>(size);
        if (queue instanceof PriorityQueues priorities) {
            for (Level level : priorities.levels.keySet()) {
                Ring.addTo(permits, level.last);
            }
        } else {
            Ring.addTo(permits, (Permit) queue);
        }
        return permits;
    }

    /** Calls an action for the first permit of each priority: one of these waits for longest. */
    static void forEachFirst(@Nullable Object queue, Consumer<Permit> action) {
        if (queue instanceof PriorityQueues priorities) {
            priorities.levels.keySet().forEach(level -> action.accept(Ring.first(Objects.requireNonNull(level.last))));
        } else if (queue instanceof Permit last) {
            action.accept(Ring.first(last));
        }
    }

    /** Returns the first permit with a property, or null if there is none. */
    static @Nullable Permit firstWith(@Nullable Object queue, Predicate<Permit> property) {
        if (queue instanceof PriorityQueues priorities) {
            for (Level level : priorities.levels.keySet()) {
                Permit found = Ring.firstWith(level.last, property);
                if (found != null) {
                    return found;
                }
            }
            return null;
        }
        return Ring.firstWith((Permit) queue, property);
    }

    /** Returns the number of permits before one that waits. */
    static int before(@Nullable Object queue, Permit permit) {
        if (queue instanceof Permit last) {
            return Ring.before(last, permit);
        }
        PriorityQueues priorities = (PriorityQueues) Objects.requireNonNull(queue);
        Level own = priorities.levelOf(permit);
        int[] count = {0};
        priorities.levels.headMap(own).keySet().forEach(level -> Ring.forEach(level.last, other -> count[0]++));
        return count[0] + Ring.before(Objects.requireNonNull(own.last), permit);
    }

    private void add(Permit permit) {
        Level known = find(permit);
        Level level = known == null ? newLevel(permit.priority()) : known;
        level.last = Ring.append(level.last, permit);
    }

    private void remove(Permit permit) {
        Level level = levelOf(permit);
        level.last = Ring.unlink(level.last, permit);
        if (level.last == null) {
            levels.remove(level);
        }
    }

    Permit first() {
        return Ring.first(Objects.requireNonNull(levels.firstKey().last));
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
