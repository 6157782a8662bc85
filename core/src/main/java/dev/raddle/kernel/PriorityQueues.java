package dev.raddle.kernel;

import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The waiting permits of a gate that have several priorities: a list for each, the highest first. Guarded by the gate.
 */
final class PriorityQueues {

    private final TreeMap<Integer, Permit> lasts = new TreeMap<>(Comparator.reverseOrder());

    /** Creates a queue of the permits that wait with priority 0, if there are any. */
    PriorityQueues(@Nullable Permit lastOfZero) {
        if (lastOfZero != null) {
            lasts.put(0, lastOfZero);
        }
    }

    void add(Permit permit) {
        Integer priority = permit.priority(); // allocated before the list is changed, because that may fail
        lasts.put(priority, Ring.append(lasts.get(priority), permit));
    }

    void remove(Permit permit) {
        Permit last = Ring.unlink(lasts.get(permit.priority()), permit);
        if (last == null) {
            lasts.remove(permit.priority());
        } else {
            lasts.put(permit.priority(), last);
        }
    }

    boolean isEmpty() {
        return lasts.isEmpty();
    }

    Permit first() {
        return Ring.first(lasts.firstEntry().getValue());
    }

    void forEach(Consumer<Permit> action) {
        lasts.values().forEach(last -> Ring.forEach(last, action));
    }

    int before(Permit permit) {
        int[] count = {0};
        for (Map.Entry<Integer, Permit> entry : lasts.entrySet()) {
            if (entry.getKey() == permit.priority()) {
                return count[0] + Ring.before(entry.getValue(), permit);
            }
            Ring.forEach(entry.getValue(), other -> count[0]++);
        }
        throw new AssertionError(permit + " is in no list");
    }
}
