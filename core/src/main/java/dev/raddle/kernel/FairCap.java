package dev.raddle.kernel;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A bound on the slots held at many gates together, shared between the gates that want more than there is in proportion to
 * their weights, measured in slot-time: a slot held for 20 ms counts ten times one held for 2 ms. Also bounds how many
 * permits may wait at all those gates together.
 *
 * <p>A gate that comes back after being idle gets up to half of the cap before the others continue, however many permits
 * they have waiting.
 *
 * @see <a href="https://doi.org/10.1145/248156.248171">Goyal, Vin and Cheng, "Start-time Fair Queueing" (SIGCOMM 1996)</a>
 */
public final class FairCap {

    /*
     * Overview.
     *
     * One word holds two numbers that must be seen together:
     *
     *   used      slots held at all gates that are counted; at most `max`, except that a lowered max is reached by attrition
     *   backlog   gates that are ready: their first permit fits into the gate and has no slot of the cap
     *
     * While backlog is zero a permit takes slots by one compare-and-set (tryTake). While it is not, slots go to the ready
     * gates alone, by one thread at a time, the combiner: so no newcomer overtakes. The invariant, whenever no combiner is
     * at work or about to be: backlog is zero, or the first gate's permit does not fit into max - used.
     *
     * Becoming the combiner: whoever may have changed something, by freeing slots or by making a gate ready, calls serve()
     * afterwards. It looks at the word: unless a gate is ready and a slot is free, there is nothing to do, and as both are
     * in one word, the later of the two changes sees the earlier. It counts `signals` up; who counts from zero is the
     * combiner, the others leave, for the combiner sees their count before it can put the number back to zero and goes
     * round again. So nobody waits for anybody, a change is never overlooked, and what the combiner owns needs no lock: the
     * line of ready gates, in which they stand in the order of fairness (FairLine).
     * It works under one gate's lock at a time. It starts nothing itself: it collects grants and leaves the role after a
     * batch, so that a thread which came to submit one task is not kept to serve all others.
     *
     * A ready gate may turn out to have nothing to start (its waiters withdrew, it was paused or evicted). It is left where
     * it is and dropped when it reaches the top.
     *
     * A cap may come into force while permits are held. Each gate then adds what runs there, once, at its next decision
     * (Gate.isCapped); until all have, used is too small, never too large.
     */

    /** A maximum that is none. */
    public static final int UNLIMITED = Integer.MAX_VALUE;

    private static final long ONE_GATE = 1L << 32;
    private static final int BATCH = 64; // grants per turn as the combiner
    private static final int CACHE_LINE = 8; // longs
    private static final int WORD = CACHE_LINE; // backlog in the upper half, used in the lower
    private static final int SIGNALS = CACHE_LINE + 1;

    private final AtomicLongArray hot =
            new AtomicLongArray(3 * CACHE_LINE); // `word` and `signals`, alone on their cache line
    private final AtomicReference<@Nullable Gate> arrivals = new AtomicReference<>(); // ready, not yet in the line
    private final AtomicInteger waiting = new AtomicInteger(); // counted only if bounded
    private final int maxWaiting;
    private volatile int max;
    private volatile boolean active;
    private final FairLine line = new FairLine(); // owned by the combiner

    /**
     * Creates a cap.
     *
     * @param max how many slots may be held at all gates together, at least 1, or {@link #UNLIMITED}
     * @param maxWaiting how many permits may wait at all gates together, at least 0, or {@link #UNLIMITED}
     */
    public FairCap(int max, int maxWaiting) {
        this.max = max;
        this.maxWaiting = maxWaiting;
        this.active = max != UNLIMITED;
    }

    /**
     * Returns the maximum in force.
     *
     * @return slots
     */
    public int max() {
        return max;
    }

    /**
     * Returns how many slots are held.
     *
     * @return slots, or 0 if there never was a maximum
     */
    public int used() {
        return (int) hot.get(WORD);
    }

    /**
     * Changes the maximum. More slots are granted by the next {@link #serve}, fewer are reached by attrition. If there was
     * no maximum before, the caller lets every gate {@linkplain Gate#recount() recount} before it serves.
     *
     * @param slots the maximum from now on, at least 1, or {@link #UNLIMITED}
     */
    public void setMax(int slots) {
        max = slots;
        active = true;
    }

    /**
     * GrantedPermits what can be granted, in the order of fairness. Call it after every step at a gate, without its lock.
     *
     * @param grants receives the permits of any gate that were granted, for the caller to act on
     * @return true if there may be more: act on these, then call again
     */
    public boolean serve(GrantedPermits grants) {
        if (!hasWork(hot.get(WORD))) {
            return false;
        }
        StackRoom.ensure(); // a combiner that stops halfway leaves a gate ready beside a free slot
        if (hot.getAndIncrement(SIGNALS) != 0) {
            return false;
        }
        boolean resigned = false;
        try {
            for (int round = 0; round < BATCH && grants.size() < BATCH; round++) {
                long seen = hot.get(SIGNALS);
                takeArrivals();
                while (!line.isEmpty() && grants.size() < BATCH && hasWork(hot.get(WORD)) && serveFirst(grants)) {
                    // each step grants a permit, or sinks or removes the first gate
                }
                if (grants.size() < BATCH && hot.compareAndSet(SIGNALS, seen, 0)) {
                    resigned = true;
                    return false;
                }
            }
            return true;
        } finally {
            if (!resigned) {
                hot.set(SIGNALS, 0);
            }
        }
    }

    /** Whether a gate is ready and a slot is free. If one of the two is missing, who brings it serves. */
    private boolean hasWork(long now) {
        return now >= ONE_GATE && (int) now < max;
    }

    /**
     * Tells whether {@link #serve} may have something to grant. If not, who changes that will serve.
     *
     * @return true if a gate is ready and a slot is free
     */
    public boolean hasWork() {
        return hasWork(hot.get(WORD));
    }

    boolean isActive() {
        return active;
    }

    boolean tryTake(int slots) {
        for (; ; ) {
            long now = hot.get(WORD);
            if (now >= ONE_GATE || now + slots > max) {
                return false;
            }
            if (hot.compareAndSet(WORD, now, now + slots)) {
                return true;
            }
        }
    }

    void release(int slots) {
        hot.addAndGet(WORD, -slots);
    }

    void adopt(int slots) {
        hot.addAndGet(WORD, slots);
    }

    boolean tryWait() {
        if (maxWaiting == UNLIMITED) {
            return true;
        }
        for (; ; ) {
            int now = waiting.get();
            if (now >= maxWaiting) {
                return false;
            }
            if (waiting.compareAndSet(now, now + 1)) {
                return true;
            }
        }
    }

    void stopWaiting() {
        if (maxWaiting != UNLIMITED) {
            waiting.getAndDecrement();
        }
    }

    /** Hears, under a gate's lock, that it is ready. */
    void offer(Gate gate) {
        hot.addAndGet(WORD, ONE_GATE);
        Gate top;
        do {
            top = arrivals.get();
            gate.nextReady = top == null ? gate : top;
        } while (!arrivals.compareAndSet(top, gate));
    }

    private boolean takeAsCombiner(int slots) {
        for (; ; ) {
            long now = hot.get(WORD);
            if ((int) now + (long) slots > max) {
                return false;
            }
            if (hot.compareAndSet(WORD, now, now + slots)) {
                return true;
            }
        }
    }

    private void takeArrivals() {
        if (arrivals.get() == null) {
            return;
        }
        Gate newest = arrivals.getAndSet(null);
        Gate oldest = null;
        while (newest != null) { // a stack gives them newest first
            Gate older = after(newest);
            newest.nextReady = oldest == null ? newest : oldest;
            oldest = newest;
            newest = older;
        }
        while (oldest != null) {
            Gate gate = oldest;
            oldest = after(gate);
            gate.nextReady = gate;
            gate.lock();
            try {
                line.add(gate, max);
            } finally {
                gate.unlock();
            }
        }
    }

    private static @Nullable Gate after(Gate gate) {
        return gate.nextReady == gate ? null : gate.nextReady;
    }

    /** Deals with the first gate of the line; false if it has to wait for a slot of the cap. */
    private boolean serveFirst(GrantedPermits grants) {
        Gate gate = line.first();
        gate.lock();
        try {
            return line.sinkIfLate(gate) || serve(gate, grants);
        } finally {
            gate.unlock();
        }
    }

    private boolean serve(Gate first, GrantedPermits grants) {
        Permit permit = first.first();
        int slots = permit == null ? 0 : first.fitting(permit);
        if (permit != null && slots > 0) {
            if (!takeAsCombiner(slots)) {
                return false;
            }
            first.grant(permit, slots, grants);
            line.charge(first, permit, slots);
        }
        if (slots > 0 && first.firstFits()) {
            line.sinkFirst(first);
        } else {
            first.nextReady = null;
            line.removeFirst();
            hot.addAndGet(WORD, -ONE_GATE);
        }
        return true;
    }

    @Override
    public String toString() {
        return used() + " of " + (max == UNLIMITED ? "unlimited" : max) + " slots held";
    }
}
