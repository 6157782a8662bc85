package dev.raddle.group;

import dev.raddle.group.AdaptiveLimit.Sample;
import java.util.Arrays;

/**
 * The measurements of a group since the last decision about its adaptive limit. A few additions per task, and no
 * allocation.
 *
 * <p>The median is read from a histogram of {@value #BUCKETS} buckets, eight for each power of two nanoseconds.
 */
final class LimitWindow {

    /*
     * A window begins at a moment in the future, if the limit was changed much: the tasks that end before it have run
     * partly under the former limit. It is full if it has the wanted number of tasks and the shortest length. A slow
     * callee gets a longer window, which ends with fewer tasks.
     */
    private static final int SUB_BITS = 3;
    private static final int BUCKETS = (45 << SUB_BITS); // run times beyond 2^45 ns, ten hours, share the last one
    static final long WITH_FIRST = Long.MIN_VALUE; // the window begins with the first task that ends
    static final int FULL = 200; // tasks that a window has at most to wait for
    private static final int FEW = 20; // tasks that suffice after LONG_NANOS
    private static final long LONG_NANOS = 10_000_000_000L;

    private final int[] histogram = new int[BUCKETS];
    private long begin;
    private long shortest; // the window's length
    private int wanted; // tasks
    private int count;
    private int drops;
    private long sum;
    private long min = Long.MAX_VALUE;
    private int maxRunning;

    /** Empties the window, which begins at a moment or WITH_FIRST, and is full after some tasks and some time. */
    void begin(long moment, int tasks, long shortestNanos) {
        begin = moment;
        wanted = tasks;
        shortest = shortestNanos;
        if (count > 0) {
            Arrays.fill(histogram, 0);
        }
        count = 0;
        drops = 0;
        sum = 0;
        min = Long.MAX_VALUE;
        maxRunning = 0;
    }

    /** Makes the window last until more tasks were counted. */
    void extend(int tasks) {
        wanted = tasks;
    }

    /** Counts a task; returns whether the window is full. */
    boolean add(boolean isDrop, long ranNanos, long longest, int running, long now) {
        if (begin == WITH_FIRST) {
            begin = now - ranNanos;
        }
        long age = now - begin;
        if (age < 0) {
            return false;
        }
        if (isDrop) {
            drops++;
        } else {
            count++;
            sum += Math.min(ranNanos, longest);
            min = Math.min(min, ranNanos);
            histogram[bucket(ranNanos)]++;
        }
        maxRunning = Math.max(maxRunning, running);
        int all = count + drops;
        return all >= wanted ? age >= shortest : all >= FEW && age >= LONG_NANOS;
    }

    Sample sample(int limit, long baselineNanos, long now) {
        return new Sample(
                limit,
                count,
                drops,
                now - begin,
                median(),
                count == 0 ? 0 : sum / count,
                count == 0 ? 0 : min,
                baselineNanos,
                maxRunning);
    }

    private static int bucket(long nanos) {
        if (nanos < 1 << SUB_BITS) {
            return (int) nanos;
        }
        int shift = 63 - SUB_BITS - Long.numberOfLeadingZeros(nanos);
        return Math.min(BUCKETS - 1, (shift << SUB_BITS) + (int) (nanos >>> shift));
    }

    /** Returns the smallest number of a bucket. */
    private static long floor(int bucket) {
        int shift = Math.max(0, (bucket >> SUB_BITS) - 1);
        return (long) (bucket - (shift << SUB_BITS)) << shift;
    }

    private long median() {
        int left = count / 2;
        for (int bucket = 0; bucket < BUCKETS; bucket++) {
            int here = histogram[bucket];
            if (left < here) {
                return floor(bucket) + (floor(bucket + 1) - floor(bucket)) * (2L * left + 1) / (2L * here);
            }
            left -= here;
        }
        return 0;
    }
}
