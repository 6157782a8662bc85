package dev.raddle.kernel;

import dev.raddle.task.WaitReason;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Bounds the slots held at many gates together. Under contention the gates share the slots in proportion to their
 * weights, measured in slot-time: a slot held for 20 ms counts ten times as much as one held for 2 ms. A second bound
 * limits the permits that wait at all gates together.
 *
 * <p>A gate that was idle may take up to half of the cap before the others continue, however many permits they have
 * waiting.
 *
 * @see <a href="https://doi.org/10.1145/248156.248171">Goyal, Vin and Cheng, "Start-time Fair Queueing" (SIGCOMM
 *     1996)</a>
 */
public final class FairCap {

    /*
     * Overview.
     *
     * One word holds two numbers that must be seen together:
     *
     *   used      slots held at all counted gates; at most `max`, except that a lowered max is reached by attrition
     *   backlog   gates that are ready: their first permit fits into the gate and has no slot of the cap
     *
     * While backlog is zero, a permit takes slots by one compare-and-set (tryTake), and so does one that comes first in
     * the only ready gate. Otherwise only the ready gates receive slots, from one thread at a time, the combiner, so no
     * newcomer overtakes. The invariant, whenever no thread is the combiner or about to become it: backlog is zero, or
     * the permit of the first gate does not fit into max - used.
     *
     * A thread that has released slots or made a gate ready calls serve() afterwards. serve() reads the word and
     * returns unless a gate is ready and a slot is free; because both numbers are in one word, the later of the two
     * changes sees the earlier. Then it increments `signals`. The thread that increments it from zero is the combiner.
     * The others return: the combiner resets `signals` by a compare-and-set from the value that it read before its
     * round, so it sees their increment and makes another round. So no thread waits for another (except in serveInTurn,
     * whose caller must know the decision), no change is overlooked, and what the combiner owns needs no lock: the line
     * of ready gates, in the order of fairness (FairLine). The combiner holds one gate's lock at a time. It starts
     * nothing itself: it collects grants, and gives up the role after a batch, so that a thread which submits one task
     * does not serve all others.
     *
     * A ready gate may turn out to have nothing to grant: its waiters withdrew, or it was paused or evicted. It stays
     * in the line and is dropped when it reaches the top. While the cap is full, no gate is dropped in this way, and
     * the cap would retain each gate that ever waited for it. So `emptied` counts how often a ready gate has lost its
     * last waiter, and when that is more than half of the ready gates, the combiner drops all that have nothing to
     * grant. A drop takes time in proportion to the gates, but is preceded by about as many withdrawals.
     *
     * A rate of the cap is a bucket under a lock of its own, the last in the order of locks. Slots and permits of the
     * bucket are taken together. If the rate does not allow the first permit of the line, the cap is `throttled` and
     * has no work until resume() is called: by an alarm, or because that permit may have left its gate.
     *
     * A cap may come into force while permits are held. Each gate then adds the slots held there, once, at its next
     * decision (Gate.countAtCap); until all have, used is too small, never too large.
     */

    /** The value of a bound that is not in force. */
    public static final int UNLIMITED = Integer.MAX_VALUE;

    private static final int ANY_READY = Integer.MAX_VALUE;
    private static final int USED_BITS = 36; // a new cap may find many times the slots that it allows
    private static final long ONE_GATE = 1L << USED_BITS;
    private static final long USED = ONE_GATE - 1;
    private static final int BATCH = 64; // grants per turn as the combiner
    private static final int CACHE_LINE = 8; // longs
    private static final int WORD = CACHE_LINE; // backlog in the upper 28 bits, used in the lower
    private static final int SIGNALS = CACHE_LINE + 1;

    private final AtomicLongArray hot =
            new AtomicLongArray(3 * CACHE_LINE); // `word` and `signals`, alone on their cache line
    private final AtomicReference<@Nullable Gate> arrivals = new AtomicReference<>(); // ready, not yet in the line
    private final AtomicInteger emptied = new AtomicInteger(); // ready gates that have lost all waiters, since a purge
    private final AtomicInteger waiting = new AtomicInteger(); // counted only if bounded
    private final int maxWaiting;
    private volatile int max;
    volatile boolean active; // whether there ever was a maximum
    private final FairLine line = new FairLine(); // owned by the combiner
    final RunningClock clock = new RunningClock();
    private final @Nullable CapRate rate;

    /**
     * Creates a cap.
     *
     * @param max the bound on the slots held at all gates together, at least 1, or {@link #UNLIMITED}
     * @param maxWaiting the bound on the permits waiting at all gates together, at least 0, or {@link #UNLIMITED}
     */
    public FairCap(int max, int maxWaiting) {
        this(max, maxWaiting, null, 0);
    }

    /**
     * Creates a cap.
     *
     * @param max the bound on the slots held at all gates together, at least 1, or {@link #UNLIMITED}
     * @param maxWaiting the bound on the permits waiting at all gates together, at least 0, or {@link #UNLIMITED}
     * @param rate the bound on the permits granted per time at all gates together, or null
     * @param now the current time of the time source in nanoseconds; ignored without a rate
     */
    public FairCap(int max, int maxWaiting, @Nullable RateLimit rate, long now) {
        this.max = max;
        this.maxWaiting = maxWaiting;
        this.rate = rate == null ? null : new CapRate(rate, now);
        this.active = max != UNLIMITED || rate != null;
    }

    /**
     * Returns the maximum in force.
     *
     * @return the bound on the slots held
     */
    public int max() {
        return max;
    }

    /**
     * Returns the number of slots held.
     *
     * @return the number of slots, or 0 if there never was a maximum; at most {@link Integer#MAX_VALUE}
     */
    public int used() {
        return (int) Math.min(hot.get(WORD) & USED, Integer.MAX_VALUE);
    }

    /**
     * Changes the maximum. The next {@link #serve} grants additional slots; a lower maximum is reached as permits are
     * released. If there was no maximum before, the caller makes every gate {@linkplain Gate#recount recount} first.
     *
     * @param slots the new maximum, at least 1, or {@link #UNLIMITED}
     */
    public void setMax(int slots) {
        max = slots;
        active = true;
    }

    /**
     * Grants free slots to ready gates, in the order of fairness. Called after every step at a gate, without its lock.
     *
     * @param grants the collection to which granted permits, of any gate, are added; the caller starts them
     * @return true if more may be granted: the caller starts these and calls again
     */
    public boolean serve(GrantedPermits grants) {
        long now = hot.get(WORD);
        if (!hasWork(now) && !hasManyEmptied(now)) {
            return false;
        }
        return hot.getAndIncrement(SIGNALS) == 0 && serveAsCombiner(grants);
    }

    /**
     * As {@link #serve}, but if another thread is serving, waits until that has finished its turn. So when this method
     * has returned false, each ready gate has received the slots that were free when it was called, as far as its
     * permits fit.
     *
     * @param grants the collection to which granted permits, of any gate, are added; the caller starts them
     * @return true if more may be granted: the caller starts these and calls again
     */
    @SuppressWarnings("ThreadPriorityCheck") // the serving thread may need this processor
    public boolean serveInTurn(GrantedPermits grants) {
        while (hasWork()) {
            if (hot.compareAndSet(SIGNALS, 0, 1)) {
                return serveAsCombiner(grants);
            }
            Thread.yield();
        }
        return false;
    }

    private boolean serveAsCombiner(GrantedPermits grants) {
        for (int round = 0; round < BATCH && grants.size() < BATCH; round++) {
            long seen = hot.get(SIGNALS);
            takeArrivals();
            if (hasManyEmptied(hot.get(WORD))) {
                emptied.set(0); // first, so that a gate that loses its waiters meanwhile is counted again
                line.purge(this, grants);
            }
            while (!line.isEmpty() && grants.size() < BATCH && hasWork(hot.get(WORD)) && serveFirst(grants)) {
                // each step grants a permit, or sinks or removes the first gate
            }
            if (grants.size() < BATCH && hot.compareAndSet(SIGNALS, seen, 0)) {
                return false;
            }
        }
        hot.set(SIGNALS, 0);
        return true;
    }

    /** Returns whether a gate is ready and a slot is free. If not, the thread that changes that calls serve(). */
    private boolean hasWork(long now) {
        return now >= ONE_GATE && (now & USED) < max && (rate == null || !rate.isThrottled);
    }

    private boolean hasManyEmptied(long now) {
        return now >= ONE_GATE && emptied.get() > Math.max(BATCH, (now >> USED_BITS) / 2);
    }

    /**
     * Returns whether {@link #serve} may have something to grant. If not, the thread that changes that calls it.
     *
     * @return true if a gate is ready and a slot is free
     */
    public boolean hasWork() {
        return hasWork(hot.get(WORD));
    }

    /**
     * Returns whether no slot is free.
     *
     * @return true if at least the maximum is held; false if there never was a maximum
     */
    public boolean isFull() {
        return (hot.get(WORD) & USED) >= max;
    }

    /**
     * Returns the clock by which held slots are charged.
     *
     * @return the clock, always the same
     */
    public RunningClock clock() {
        return clock;
    }

    /**
     * Returns whether there is anything to serve.
     *
     * @return true if there ever was a maximum or a rate
     */
    public boolean isActive() {
        return active;
    }

    /**
     * Takes slots, and as much of the rate as a permit costs, if both are free. If the rate refuses the combiner, this
     * cap has no work until {@link #resume}.
     *
     * @param ready the largest number of ready gates beside which slots are taken: {@link #ANY_READY} by the combiner
     */
    boolean tryTake(int slots, int cost, long now, int ready) {
        if (rate == null) {
            return tryTake(slots, ready);
        }
        rate.lock();
        try {
            boolean isAllowed = rate.allows(cost, now);
            if (!isAllowed && ready == ANY_READY) {
                rate.throttle(cost);
            }
            if (!isAllowed || !tryTake(slots, ready)) {
                return false;
            }
            rate.take(cost, now);
            return true;
        } finally {
            rate.unlock();
        }
    }

    /** Returns what keeps a permit waiting that fits into its gate; nothing if there never was a maximum or a rate. */
    WaitReason obstacle(int cost, long now) {
        if (!active) {
            return WaitReason.NOTHING;
        }
        return rate != null && (rate.isThrottled || (!isFull() && rate.locked(() -> !rate.allows(cost, now))))
                ? WaitReason.GLOBAL_RATE
                : WaitReason.GLOBAL_CAP;
    }

    private boolean tryTake(int slots, int ready) {
        for (; ; ) {
            long now = hot.get(WORD);
            if (now >> USED_BITS > ready || (now & USED) + slots > max) {
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

    /** Adds a ready gate, whose lock the caller holds. */
    void offer(Gate gate) {
        hot.addAndGet(WORD, ONE_GATE);
        Gate top;
        do {
            top = arrivals.get();
            gate.nextReady = top == null ? gate : top;
        } while (!arrivals.compareAndSet(top, gate));
    }

    /** Records that a ready gate, whose lock the caller holds, has lost its last waiter other than by a grant. */
    void noteEmptied() {
        emptied.getAndIncrement();
    }

    /** Drops a gate of the line if it has nothing to grant; returns whether it had not. Called by the combiner. */
    boolean dropIfUnneeded(Gate gate, GrantedPermits grants) {
        gate.lock();
        try {
            if (gate.firstFits(grants.now())) {
                return false;
            }
            gate.noteIfThrottled(grants);
            gate.nextReady = null;
            hot.addAndGet(WORD, -ONE_GATE);
            return true;
        } finally {
            gate.unlock();
        }
    }

    /**
     * Returns the rate of all gates together.
     *
     * @return the limit, or null if there is none
     */
    public @Nullable RateLimit rate() {
        return rate == null ? null : rate.limit;
    }

    /**
     * Returns whether the rate keeps the next permit waiting. The thread that has called {@link #serve} calls this
     * method afterwards; if it returns true, one thread arms an alarm for {@link #allowedAt()} that calls {@link
     * #resume()}.
     *
     * @return true until {@code resume} is called
     */
    public boolean isThrottled() {
        return rate != null && rate.isThrottled;
    }

    /**
     * Returns the moment from which the rate allows the next permit.
     *
     * @return the moment in nanoseconds of the time source, if {@link #isThrottled} returned true
     */
    public long allowedAt() {
        return rate == null ? 0 : rate.allowedAt;
    }

    /** Lets {@link #serve} grant again, as far as the rate allows. */
    public void resume() {
        if (rate != null && rate.isThrottled) {
            rate.isThrottled = false;
        }
    }

    private int largestCredit() {
        return rate == null ? max : Math.min(max, rate.limit.rate().burst());
    }

    private void takeArrivals() {
        Gate newest = arrivals.get() == null ? null : arrivals.getAndSet(null);
        Gate oldest = null;
        while (newest != null) { // the stack is newest first
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
                line.add(gate, largestCredit(), max == UNLIMITED);
            } finally {
                gate.unlock();
            }
        }
    }

    private static @Nullable Gate after(Gate gate) {
        return gate.nextReady == gate ? null : gate.nextReady;
    }

    /** Serves the first gate of the line. Returns false if its permit has to wait for slots of the cap. */
    private boolean serveFirst(GrantedPermits grants) {
        Gate gate = line.at(0);
        gate.lock();
        try {
            return line.sinkIfLate(gate) || serve(gate, grants);
        } finally {
            gate.unlock();
        }
    }

    private boolean serve(Gate first, GrantedPermits grants) {
        long now = grants.now();
        Permit permit = first.first();
        int slots = permit == null ? 0 : first.fitting(permit, now);
        if (permit != null && slots > 0) {
            if (!tryTake(slots, permit.cost(), now, ANY_READY)) {
                return false;
            }
            first.grant(permit, slots, grants);
            permit.granted(now == GrantedPermits.NO_TIME ? now : clock.at(now));
            line.charge(first, permit, slots, max == UNLIMITED);
            first.servedByCap(now);
        }
        if (slots > 0 && first.firstFits(now)) {
            line.sinkFirst(first);
        } else {
            first.noteIfThrottled(grants);
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
