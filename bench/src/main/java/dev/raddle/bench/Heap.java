package dev.raddle.bench;

import java.lang.ref.Reference;

/** Measures the live heap. */
final class Heap {

    private static final int ROUNDS = 4; // the first clears weak and soft references, the next their holders

    private Heap() {}

    /**
     * Returns the growth of the heap in bytes per object, rounded to a tenth, because the JVM itself allocates a few
     * kilobytes in the meantime.
     */
    static double bytesEach(long before, long after, int objects) {
        return Math.rint(10.0 * (after - before) / objects) / 10;
    }

    /**
     * Collects garbage repeatedly, and returns the number of live bytes, including those of the given objects.
     */
    static long alive(Object... kept) {
        Runtime runtime = Runtime.getRuntime();
        long least = Long.MAX_VALUE;
        try {
            for (int round = 0; round < ROUNDS; round++) {
                System.gc();
                least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
            }
        } finally {
            Reference.reachabilityFence(kept);
        }
        return least;
    }
}
