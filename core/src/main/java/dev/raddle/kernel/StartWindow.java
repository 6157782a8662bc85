package dev.raddle.kernel;

/** What is left of a strict rate. */
final class StartWindow extends Allowance {

    /*
     * Overview.
     *
     * A strict rate allows at most `count` starts in every window of one period. Whether one more start keeps that
     * depends only on the `count` latest starts, so at most as many moments are kept, in a ring, oldest first:
     *
     *   a start of cost k is allowed   if k of `count` places are free: never used, or used a period ago or longer
     *   and uses                       k places with the moment of the start
     *
     * A start that costs more than `count` is allowed when all places are free. It uses them as if it started `count`
     * permits in each period until it has had all; so moments in the ring may be in the future.
     *
     * The ring begins small and doubles when it is full, because most groups use less than their rate. Moments a period
     * old are discarded at each start, so each costs O(1) in all, and the ring is as long as the busiest period needs.
     * A longer period therefore does not count starts that are older than the period before it.
     */
    private static final int SHORTEST = 8;

    private final long created;
    private long[] starts = new long[SHORTEST]; // a ring of `size` moments from `first`, oldest first
    private int first;
    private int size;

    /** Creates a window without starts. */
    StartWindow(RateLimit limit, long now) {
        super(limit);
        created = now;
    }

    /** Returns a window in which a number of starts took place just now. */
    static StartWindow after(int used, RateLimit limit, long now) {
        StartWindow window = new StartWindow(limit, now);
        window.add(now, used);
        return window;
    }

    @Override
    boolean isFull(long now) {
        return size == 0 || isOver(at(size - 1), now);
    }

    @Override
    long fullAt() {
        return size == 0 ? created : at(size - 1) + limit.period();
    }

    @Override
    boolean allows(int cost, long now) {
        int used = usedFor(cost);
        return used <= 0 || isOver(at(used - 1), now);
    }

    @Override
    long allowedAt(int cost) {
        int used = usedFor(cost);
        return used <= 0 ? created : at(used - 1) + limit.period();
    }

    /** Returns how many of the oldest places must be a period old before a start; zero or less if enough are free. */
    private int usedFor(int cost) {
        return size + Math.min(cost, limit.count()) - limit.count();
    }

    @Override
    void take(int cost, long now) {
        discardOld(now);
        int count = limit.count();
        int periods = (cost - 1) / count; // after the first
        int rest = cost - periods * count;
        if (periods > 0) {
            add(limit.periodsAfter(now, periods - 1), count - rest);
        }
        add(limit.periodsAfter(now, periods), rest);
    }

    /** The starts of the last period count under the new rate, as far as it could have allowed them at once. */
    @Override
    Allowance change(RateLimit to, long now) {
        discardOld(now);
        if (!to.isStrict()) {
            Bucket bucket = new Bucket(to, now);
            if (size > 0) {
                bucket.take(Math.min(size, to.rate().burst()), now);
            }
            return bucket;
        }
        limit = to;
        discard(size - to.count());
        return this;
    }

    /** Returns the length of the ring. For tests. */
    int places() {
        return starts.length;
    }

    private boolean isOver(long start, long now) {
        return now - start >= limit.period();
    }

    /** Returns a moment of the ring; the oldest has the index 0. */
    private long at(int index) {
        int place = first + index;
        return starts[place < starts.length ? place : place - starts.length];
    }

    private void discardOld(long now) {
        int old = 0;
        while (old < size && isOver(at(old), now)) {
            old++;
        }
        discard(old);
    }

    private void discard(int oldest) {
        if (oldest > 0) {
            first = (first + oldest) % starts.length;
            size -= oldest;
        }
    }

    private void add(long moment, int times) {
        if (size + times > starts.length) {
            grow(size + times);
        }
        for (int i = 0; i < times; i++) {
            starts[(first + size++) % starts.length] = moment;
        }
    }

    private void grow(int least) {
        long[] longer = new long[Math.max(least, Math.min(2 * starts.length, limit.count()))];
        int untilEnd = Math.min(size, starts.length - first);
        System.arraycopy(starts, first, longer, 0, untilEnd);
        System.arraycopy(starts, 0, longer, untilEnd, size - untilEnd);
        starts = longer;
        first = 0;
    }
}
