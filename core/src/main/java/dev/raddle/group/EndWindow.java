package dev.raddle.group;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** How the latest tasks of a group have ended. Guarded by the group. */
abstract sealed class EndWindow {

    int ends;
    int failed;
    int slow;

    /** Adds an end. */
    abstract void add(boolean hasFailed, boolean wasSlow, long now);

    /** Forgets what is too old. */
    abstract void age(long now);

    abstract void clear();

    /** Returns the moment from which a new window is equal to this one, or at which it may be forgotten, if later. */
    abstract long forgettableAt(long now);

    final int ends() {
        return ends;
    }

    final double failureRate() {
        return ends == 0 ? 0 : (double) failed / ends;
    }

    final double slowRate() {
        return ends == 0 ? 0 : (double) slow / ends;
    }

    static String percent(double rate) {
        return Math.round(rate * 100) + " %";
    }

    /** A number of ends: a ring of bits, one for each end, or two if slow ones count. */
    static final class Latest extends EndWindow {

        private final int count;
        private final long[] failures;
        private final long @Nullable [] slows;
        private int next; // the place of the oldest end, if all are in use

        Latest(int count, boolean measures) {
            this.count = count;
            int words = (count + 63) >> 6;
            failures = new long[words];
            slows = measures ? new long[words] : null;
        }

        @Override
        void add(boolean hasFailed, boolean wasSlow, long now) {
            ends = Math.min(ends + 1, count);
            failed += put(failures, hasFailed);
            slow += slows == null ? 0 : put(slows, wasSlow);
            next = next + 1 == count ? 0 : next + 1;
        }

        /** Writes a bit in the next place; returns the change of their sum. A place that is unused is zero. */
        private int put(long[] ring, boolean value) {
            int before = (int) (ring[next >> 6] >>> next) & 1;
            int after = value ? 1 : 0;
            ring[next >> 6] ^= (long) (before ^ after) << next;
            return after - before;
        }

        @Override
        void age(long now) {}

        @Override
        void clear() {
            Arrays.fill(failures, 0);
            if (slows != null) {
                Arrays.fill(slows, 0);
            }
            ends = 0;
            failed = 0;
            slow = 0;
            next = 0;
        }

        @Override
        long forgettableAt(long now) {
            return now;
        }
    }

    /** The ends of a time, in ten buckets: the oldest is discarded whole. */
    static final class Recent extends EndWindow {

        private static final int BUCKETS = 10;

        private final long width;
        private final int numbers; // of a bucket: ends, failed, and slow if that counts
        private final int[] buckets;
        private long newestBegin; // the moment at which the newest bucket begins
        private int newest;

        Recent(long span, boolean measures) {
            width = Math.max(1, span / BUCKETS);
            numbers = measures ? 3 : 2;
            buckets = new int[BUCKETS * numbers];
        }

        @Override
        void add(boolean hasFailed, boolean wasSlow, long now) {
            if (ends == 0) {
                newestBegin = now;
            }
            age(now);
            int first = newest * numbers;
            buckets[first]++;
            ends++;
            if (hasFailed) {
                buckets[first + 1]++;
                failed++;
            }
            if (wasSlow && numbers > 2) {
                buckets[first + 2]++;
                slow++;
            }
        }

        @Override
        void age(long now) {
            long passed = (now - newestBegin) / width; // negative if another thread has read a later time
            for (long i = 0; i < passed && ends > 0; i++) {
                newest = (newest + 1) % BUCKETS;
                int first = newest * numbers;
                ends -= buckets[first];
                failed -= buckets[first + 1];
                buckets[first] = 0;
                buckets[first + 1] = 0;
                if (numbers > 2) {
                    slow -= buckets[first + 2];
                    buckets[first + 2] = 0;
                }
            }
            if (passed > 0) {
                newestBegin += passed * width;
            }
        }

        @Override
        void clear() {
            age(newestBegin + BUCKETS * width);
        }

        @Override
        long forgettableAt(long now) {
            age(now);
            return ends == 0 ? now : newestBegin + BUCKETS * width;
        }
    }
}
