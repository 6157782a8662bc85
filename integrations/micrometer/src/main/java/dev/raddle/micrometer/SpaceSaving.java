package dev.raddle.micrometer;

import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.PriorityQueue;

/**
 * Counts how often keys come, for more keys than it remembers. Not safe for many threads.
 *
 * @see <a href="https://doi.org/10.1007/978-3-540-30570-5_27">Metwally, Agrawal, El Abbadi: Efficient Computation of Frequent
 *     and Top-k Elements in Data Streams (2005)</a>
 */
final class SpaceSaving {

    /*
     * Overview.
     *
     * There are at most `capacity` counters. A key without one takes over the smallest: its count goes on from there, and
     * what was there before is its error. So of a key that came n times, and of n that came in all:
     *
     *   (1)  count - error <= times that it came since it has the counter <= times that it came <= count
     *   (2)  a key that came more often than all / capacity has a counter
     *
     * The smallest is found in a heap by rank. A rank is a count as it was once, never larger than it is now; the smallest
     * is found when a counter on top has the rank that it should have. Each counted key costs one correction at most.
     */

    /** What is known of one key. */
    static final class Counter {
        private String key;
        private long count;
        private long error;
        private long rank;

        private Counter(String key, long count) {
            this.key = key;
            this.count = count;
            this.rank = count;
        }

        /** How often the key came, at least. */
        long certain() {
            return count - error;
        }
    }

    private final int capacity;
    private final Map<String, Counter> counters = new HashMap<>();
    private final PriorityQueue<Counter> byRank =
            new PriorityQueue<>(Comparator.comparingLong(counter -> counter.rank));

    SpaceSaving(int capacity) {
        this.capacity = capacity;
    }

    /** Counts a key that came once more. */
    Counter count(String key) {
        Counter counter = counters.get(key);
        if (counter == null) {
            counter = counters.size() < capacity ? added(key, 0) : takenOver(key);
        }
        counter.count++;
        return counter;
    }

    /** Goes on with a key that was counted elsewhere. There must be room, and no counter of it. */
    void add(String key, long count) {
        added(key, count);
    }

    private Counter added(String key, long count) {
        Counter counter = new Counter(key, count);
        counters.put(key, counter);
        byRank.add(counter);
        return counter;
    }

    private Counter takenOver(String key) {
        Counter smallest = smallest();
        counters.remove(smallest.key);
        smallest.key = key;
        smallest.error = smallest.count;
        counters.put(key, smallest);
        return smallest;
    }

    private Counter smallest() {
        for (; ; ) {
            Counter top = byRank.element();
            if (top.rank == top.count) {
                return top;
            }
            byRank.remove();
            top.rank = top.count;
            byRank.add(top);
        }
    }

    void remove(Counter counter) {
        counters.remove(counter.key);
        byRank.remove(counter);
    }

    /** Forgets half of what was counted, several times over. The order of the ranks stays. */
    void halve(int times) {
        for (Counter counter : counters.values()) {
            counter.count >>= times;
            counter.error >>= times;
            counter.rank >>= times;
        }
    }

    int size() {
        return counters.size();
    }
}
