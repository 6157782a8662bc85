package dev.raddle.micrometer;

import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.PriorityQueue;

/**
 * Counts the occurrences of keys, for more keys than it remembers. Not thread-safe.
 *
 * @see <a href="https://doi.org/10.1007/978-3-540-30570-5_27">Metwally, Agrawal, El Abbadi: Efficient Computation of
 *     Frequent and Top-k Elements in Data Streams (2005)</a>
 */
final class SpaceSaving {

    /*
     * Overview.
     *
     * There are at most `capacity` counters. A key without a counter takes over the one with the smallest count: the
     * count continues from there, and its previous value is the error. So for a key with n occurrences, of `all`
     * occurrences in total:
     *
     *     (1)  count - error <= occurrences since it has the counter <= n <= count
     *     (2)  a key with more than all / capacity occurrences has a counter
     *
     * The smallest count is found in a heap by rank. A rank is a former value of the count, never larger than its
     * present value; the smallest count is found when the counter at the top has its present count as its rank. Each
     * counted occurrence causes at most one correction of a rank.
     */

    /** The counter of one key. */
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

        /** Returns the minimum number of occurrences of the key. */
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

    /** Counts an occurrence of a key. */
    Counter count(String key) {
        Counter counter = counters.get(key);
        if (counter == null) {
            counter = counters.size() < capacity ? added(key, 0) : takenOver(key);
        }
        counter.count++;
        return counter;
    }

    /** Adds a key that was counted elsewhere. There must be a free counter, and no counter of the key. */
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

    /** Halves all counts {@code times} times. The order of the ranks is unchanged. */
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
