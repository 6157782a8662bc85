package dev.raddle.bench;

import org.openjdk.jmh.infra.Blackhole;

/** Calibrates work that keeps a processor busy for a given time. */
final class Work {

    private static final long MOST = 1 << 20;
    private static final int TRIES = 100;

    private Work() {}

    /**
     * Returns the number of tokens that {@link Blackhole#consumeCPU} consumes in the given time without disturbance.
     */
    static long tokens(long nanos) {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < TRIES; i++) {
            long start = System.nanoTime();
            Blackhole.consumeCPU(MOST);
            least = Math.min(least, System.nanoTime() - start);
        }
        return MOST * nanos / least;
    }
}
