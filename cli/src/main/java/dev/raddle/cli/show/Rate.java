package dev.raddle.cli.show;

/** The number of ends per second, computed from the last few. It falls while nothing ends. */
final class Rate {
    private static final int REMEMBERED = 64;
    private static final double SECOND = 1e9;

    private final long[] moments = new long[REMEMBERED];
    private final long start;
    private long count;

    /** Creates a rate that is measured from a moment on. */
    Rate(long start) {
        this.start = start;
    }

    void ended(long nanos) {
        moments[(int) (count++ % REMEMBERED)] = nanos;
    }

    /** Returns the ends per second, or 0 if there are too few to compute it. */
    double perSecond(long now) {
        long known = Math.min(count, REMEMBERED);
        long since = count <= REMEMBERED ? start : moments[(int) (count % REMEMBERED)];
        long nanos = now - since;
        return known == 0 || nanos <= 0 ? 0 : known * SECOND / nanos;
    }
}
