package dev.raddle.kernel;

import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A queue in which permits of several priorities wait: a ring for each, the highest first. Guarded by its gate. */
final class PriorityQueues {

    private final TreeMap<Integer, Permit> lasts = new TreeMap<>(Comparator.reverseOrder());

    /** Creates a queue from those that waited before anybody had a priority. */
    PriorityQueues(@Nullable Permit lastOfZero) {
        if (lastOfZero != null) {
            lasts.put(0, lastOfZero);
        }
    }

    void add(Permit permit) {
        Integer rank = permit.priority(); // made before the ring is changed, for there may be no memory
        lasts.put(rank, Ring.append(lasts.get(rank), permit));
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
        for (Map.Entry<Integer, Permit> rank : lasts.entrySet()) {
            if (rank.getKey() == permit.priority()) {
                return count[0] + Ring.before(rank.getValue(), permit);
            }
            Ring.forEach(rank.getValue(), other -> count[0]++);
        }
        throw new AssertionError(permit + " stands in no rank");
    }
}
