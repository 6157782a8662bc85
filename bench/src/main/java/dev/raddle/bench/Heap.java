package dev.raddle.bench;

import java.lang.ref.Reference;

/** What is alive. */
final class Heap {

    private static final int ROUNDS =
            4; // what is only weakly or softly alive goes in the first, its keepers in the next

    private Heap() {}

    /**
     * Returns by how many bytes the heap has grown for each of many objects, to a tenth, because the JVM itself
     * allocates a few kilobytes meanwhile.
     */
    static double bytesEach(long before, long after, int objects) {
        return Math.rint(10.0 * (after - before) / objects) / 10;
    }

    /**
     * Collects garbage until nothing more goes, and returns the bytes that are left, those of some objects included.
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
