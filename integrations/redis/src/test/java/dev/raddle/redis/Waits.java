package dev.raddle.redis;

import java.util.Arrays;
import java.util.Locale;

/**
 * A histogram of times, with four buckets for each power of two nanoseconds.
 *
 * @param counts the number of times in each bucket
 */
record Waits(long[] counts) {
    static final int BUCKETS = 256;
    private static final int PARTS = 4;

    static int bucket(long nanos) {
        long n = Math.max(nanos, PARTS);
        int power = Long.SIZE - 1 - Long.numberOfLeadingZeros(n);
        return power * PARTS + (int) (n >>> (power - 2) & (PARTS - 1));
    }

    /** Returns the end of a bucket. */
    private static double end(int bucket) {
        return Math.scalb(1 + (bucket % PARTS + 1) / (double) PARTS, bucket / PARTS);
    }

    /** Returns the time in milliseconds that a share of all times does not exceed. */
    double percentile(double share) {
        long rank = (long) Math.ceil(total() * share);
        long seen = 0;
        for (int i = 0; i < counts.length; i++) {
            seen += counts[i];
            if (seen >= rank && seen > 0) {
                return end(i) / 1e6;
            }
        }
        return 0;
    }

    long total() {
        return Arrays.stream(counts).sum();
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "p50 %.2f ms, p90 %.2f ms, p99 %.2f ms, p99.9 %.2f ms, max %.0f ms",
                percentile(0.5),
                percentile(0.9),
                percentile(0.99),
                percentile(0.999),
                percentile(1));
    }
}
