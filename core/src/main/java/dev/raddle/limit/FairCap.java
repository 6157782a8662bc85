package dev.raddle.limit;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
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
     * heap, the virtual time, the last pace.
     * It works under one gate's monitor at a time. It starts nothing itself: it collects grants and leaves the role after a
     * batch, so that a thread which came to submit one task is not kept to serve all others.
     *
     * The order is start-time fair queueing. Each gate has a finish tag: the virtual time at which all that was granted to
     * it is paid for. The gate with the smallest tag is first; what is granted costs slots x time / weight. The time is
     * not known in advance, so a power of two near the gate's last run time is charged, and the difference is corrected
     * when the permit is given back. A correction touches only the gate, under its monitor; the heap finds out when the
     * gate reaches the top, and sinks it again if its tag has grown. So shares are exact in the long run whatever the estimate was.
     *
     * A gate that was idle enters at max(its tag, virtual time - credit). The credit is what half of the cap would have cost
     * it: had it been there all the time, that is what it might hold by now, and without it a newcomer's burst would wait
     * for every second slot only. It is spent once; a gate that wants more than its share never becomes idle to earn another.
     * Slots taken while nobody waits are not charged: nobody wanted them.
     *
     * A ready gate may turn out to have nothing to start (its waiters withdrew, it was paused or evicted). It is left where
     * it is and dropped when it reaches the top.
     *
     * A cap may come into force while permits are held. Each gate then adds what runs there, once, at its next decision
     * (Gate.isCapped); until all have, used is too small, never too large.
     */

    /** A maximum that is none. */
    public static final int UNLIMITED = Integer.MAX_VALUE;

    static final long LONGEST_RUN = 1L << 42; // about 73 minutes: what a longer one costs more is not accounted for

    private static final long ONE_GATE = 1L << 32;
    private static final int BATCH = 64; // grants per turn as the combiner
    private static final int LARGEST_CREDIT = 1 << 16; // slots
    private static final int BRANCHES = 4; // of the heap: half as deep as a binary one, children share a cache line

    private final AtomicLong word = new AtomicLong(); // backlog in the upper half, used in the lower
    private final AtomicInteger signals = new AtomicInteger();
    private final AtomicReference<@Nullable Gate> arrivals = new AtomicReference<>(); // ready, not yet in the heap
    private final AtomicInteger waiting = new AtomicInteger(); // counted only if bounded
    private final int maxWaiting;
    private volatile int max;
    private volatile boolean active;

    private long[] tags = new long[16]; // with `gates` a heap; owned by the combiner
    private @Nullable Gate[] gates = new Gate[16]; // owned by the combiner
    private int size; // of the heap; owned by the combiner
    private long virtualTime; // the largest tag that was served; owned by the combiner
    private byte lastPace = 20; // about a millisecond, until something is known; owned by the combiner

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
        return (int) word.get();
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
     * Grants what can be granted, in the order of fairness. Call it after every step at a gate, without its monitor.
     *
     * @param grants receives the permits of any gate that were granted, for the caller to act on
     * @return true if there may be more: act on these, then call again
     */
    public boolean serve(Grants grants) {
        if (!hasWork(word.get()) || signals.getAndIncrement() != 0) {
            return false;
        }
        for (int round = 0; round < BATCH && grants.size() < BATCH; round++) {
            int seen = signals.get();
            takeArrivals();
            while (size > 0 && grants.size() < BATCH && hasWork(word.get()) && serveFirst(grants)) {
                // each step grants a permit, or sinks or drops the first gate
            }
            if (grants.size() < BATCH && signals.compareAndSet(seen, 0)) {
                return false;
            }
        }
        signals.set(0);
        return true;
    }

    /** Whether a gate is ready and a slot is free. If one of the two is missing, who brings it serves. */
    private boolean hasWork(long now) {
        return now >= ONE_GATE && (int) now < max;
    }

    boolean isActive() {
        return active;
    }

    boolean tryTake(int slots) {
        for (; ; ) {
            long now = word.get();
            if (now >= ONE_GATE || now + slots > max) {
                return false;
            }
            if (word.compareAndSet(now, now + slots)) {
                return true;
            }
        }
    }

    void release(int slots) {
        word.addAndGet(-slots);
    }

    void adopt(int slots) {
        word.addAndGet(slots);
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

    void offer(Gate gate) {
        word.addAndGet(ONE_GATE);
        Gate top;
        do {
            top = arrivals.get();
            gate.nextReady = top;
        } while (!arrivals.compareAndSet(top, gate));
    }

    static byte pace(long nanos) {
        return (byte) (63 - Long.numberOfLeadingZeros(Math.clamp(nanos, 2, LONGEST_RUN)));
    }

    static long nanos(byte pace) {
        return 1L << pace;
    }

    private boolean takeAsCombiner(int slots) {
        for (; ; ) {
            long now = word.get();
            if ((int) now + (long) slots > max) {
                return false;
            }
            if (word.compareAndSet(now, now + slots)) {
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
            Gate older = newest.nextReady;
            newest.nextReady = oldest;
            oldest = newest;
            newest = older;
        }
        while (oldest != null) {
            Gate gate = oldest;
            oldest = gate.nextReady;
            gate.nextReady = null;
            insert(gate, firstTag(gate));
        }
    }

    private long firstTag(Gate gate) {
        synchronized (gate) {
            byte pace = gate.pace == Gate.UNKNOWN_PACE ? lastPace : gate.pace;
            long credit = Math.min(max, LARGEST_CREDIT) / 2 * cost(gate, pace, 1);
            long earliest = virtualTime - credit;
            if (gate.finish - earliest < 0) {
                gate.finish = earliest;
            }
            return gate.finish;
        }
    }

    /** Deals with the first gate of the heap; false if it has to wait for a slot of the cap. */
    private boolean serveFirst(Grants grants) {
        Gate gate = at(0);
        synchronized (gate) {
            long tag = tags[0];
            if (gate.finish - tag > 0) { // what it was granted took longer than was charged
                siftDown(0, gate, gate.finish);
                return true;
            }
            Permit first = gate.first();
            int slots = first == null ? 0 : gate.fitting(first);
            if (first != null && slots > 0) {
                if (!takeAsCombiner(slots)) {
                    return false;
                }
                gate.grant(first, slots, grants);
                charge(gate, first, slots);
                if (tag - virtualTime > 0) {
                    virtualTime = tag;
                }
            }
            if (slots > 0 && gate.firstFits()) {
                siftDown(0, gate, gate.finish);
            } else {
                gate.ready = false;
                removeFirst();
                word.addAndGet(-ONE_GATE);
            }
            return true;
        }
    }

    private void charge(Gate gate, Permit permit, int slots) {
        byte pace = gate.pace == Gate.UNKNOWN_PACE ? lastPace : gate.pace;
        permit.charge = pace;
        lastPace = pace;
        gate.finish += cost(gate, pace, slots);
    }

    private static long cost(Gate gate, byte pace, int slots) {
        return Math.max(1, nanos(pace) * slots / gate.weight());
    }

    // A heap in two arrays: comparisons read the tags only, not the gates.

    private void insert(Gate gate, long tag) {
        if (size == gates.length) {
            tags = Arrays.copyOf(tags, 2 * size);
            gates = Arrays.copyOf(gates, 2 * size);
        }
        int hole = size++;
        while (hole > 0) {
            int parent = (hole - 1) / BRANCHES;
            if (tags[parent] - tag <= 0) {
                break;
            }
            move(parent, hole);
            hole = parent;
        }
        put(hole, gate, tag);
    }

    private void removeFirst() {
        int last = --size;
        Gate gate = at(last);
        gates[last] = null;
        if (last > 0) {
            siftDown(0, gate, tags[last]);
        }
    }

    private void siftDown(int start, Gate gate, long tag) {
        int hole = start;
        for (int child; (child = BRANCHES * hole + 1) < size; ) {
            int smallest = child;
            for (int other = child + 1; other < Math.min(child + BRANCHES, size); other++) {
                if (tags[other] - tags[smallest] < 0) {
                    smallest = other;
                }
            }
            if (tag - tags[smallest] <= 0) {
                break;
            }
            move(smallest, hole);
            hole = smallest;
        }
        put(hole, gate, tag);
    }

    private void move(int from, int to) {
        tags[to] = tags[from];
        gates[to] = gates[from];
    }

    private void put(int index, Gate gate, long tag) {
        tags[index] = tag;
        gates[index] = gate;
    }

    private Gate at(int index) {
        Gate gate = gates[index];
        if (gate == null) {
            throw new AssertionError("the heap has " + size + " gates, none at " + index);
        }
        return gate;
    }

    @Override
    public String toString() {
        return used() + " of " + (max == UNLIMITED ? "unlimited" : max) + " slots held";
    }
}
