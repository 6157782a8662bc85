package dev.raddle.bench;

import java.util.Arrays;

/** Times in nanoseconds that many threads collect, and their quantiles. */
final class Samples {

    private long[] nanos = new long[1024]; // guarded by this
    private int count; // guarded by this

    synchronized void add(long time) {
        if (count == nanos.length) {
            nanos = Arrays.copyOf(nanos, 2 * count);
        }
        nanos[count++] = time;
    }

    /** Adds all times of another object, to which no thread adds further ones. */
    synchronized void addAll(Samples others) {
        for (int i = 0; i < others.count; i++) {
            add(others.nanos[i]);
        }
    }

    synchronized int count() {
        return count;
    }

    /** Returns the smallest time that is not exceeded by this share of all. */
    synchronized long quantile(double share) {
        if (count == 0) {
            throw new IllegalStateException("no time was measured");
        }
        long[] sorted = Arrays.copyOf(nanos, count);
        Arrays.sort(sorted);
        return sorted[(int) Math.ceil(share * count) - 1];
    }
}
