package dev.raddle.cli.show;

/** How many things end a second, judged by the last few. It falls while nothing ends. */
final class Rate {
    private static final int REMEMBERED = 64;
    private static final double SECOND = 1e9;

    private final long[] moments = new long[REMEMBERED];
    private final long start;
    private long count;

    /** A rate that is watched from a moment on. */
    Rate(long start) {
        this.start = start;
    }

    void ended(long nanos) {
        moments[(int) (count++ % REMEMBERED)] = nanos;
    }

    /** Things a second; 0 if there is nothing to judge by. */
    double perSecond(long now) {
        long known = Math.min(count, REMEMBERED);
        long since = count <= REMEMBERED ? start : moments[(int) (count % REMEMBERED)];
        long nanos = now - since;
        return known == 0 || nanos <= 0 ? 0 : known * SECOND / nanos;
    }
}
