package dev.raddle.kernel;

import dev.raddle.lock.Padding;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The ready gates of a {@link FairCap}, in the order of fairness. Owned by the cap's combiner. */
final class FairLine extends Padding {

    /*
     * Overview.
     *
     * The order is start-time fair queueing. Each gate has a finish tag: the virtual time at which everything granted
     * to it is paid for. The gate with the smallest tag is first. A grant costs slots x time / weight, where the time
     * is that from the grant to the release, on a clock that stops while the process is stopped (RunningClock). The
     * time is not known in advance, so a power of two near the gate's last one is charged, and the difference is
     * corrected when the permit is released. A correction changes only the gate's tag, under its lock; when the gate
     * reaches the top of the heap and its tag has grown, it sinks again. So shares are exact in the long run,
     * whatever the estimates were.
     *
     * A gate that was idle enters at max(its tag, virtual time - credit). The credit is the cost of half of the cap,
     * which is what the gate might hold if it had never been idle. Without it, a burst at an idle gate would receive
     * only every second slot. The credit is spent once: a gate that wants more than its share never becomes idle, and
     * gets no other. Slots that are taken while no gate is ready are not charged, because no other gate wanted them.
     *
     * The heap is in two arrays, so that comparisons read only the tags, not the gates.
     */

    static final long SHORTEST_RUN = 1L << 10; // about a microsecond: no reading is more exact, and none costs nothing
    static final long LONGEST_RUN = 1L << 42; // about 73 minutes: longer runs are charged as this one

    private static final long LARGEST_CHARGE = 1L << 56; // slots x time: tags may differ by the charges of many grants
    private static final int NARROW = 1 << 14; // slots; for as many, the longest run costs no more than that
    private static final int LARGEST_CREDIT = 1 << 16; // slots
    private static final int BRANCHES = 4; // half as deep as a binary heap; children are adjacent

    private static final byte START_PACE = 20; // of each start, where gates share starts and not slot-time

    private long[] tags = new long[16];
    private @Nullable Gate[] gates = new Gate[16];
    private int size;
    private long virtualTime; // the largest tag served
    private byte lastPace = pace(SHORTEST_RUN); // until a longer run is known

    static byte pace(long nanos) {
        return (byte) (63 - Long.numberOfLeadingZeros(Math.clamp(nanos, 2, LONGEST_RUN)));
    }

    boolean isEmpty() {
        return size == 0;
    }

    /**
     * Moves the first gate, whose lock the caller holds, down the line if its tag has grown; returns whether it has.
     */
    boolean sinkIfLate(Gate first) {
        if (first.finish - tags[0] <= 0) {
            return false;
        }
        sinkFirst(first);
        return true;
    }

    /**
     * Adds a gate, whose lock the caller holds, at a cap of {@code max} slots; {@code byStarts} if the gates share
     * starts and not slots, because there is only a rate.
     */
    void add(Gate gate, int max, boolean byStarts) {
        long credit = Math.min(max, LARGEST_CREDIT) / 2 * cost(gate, byStarts ? START_PACE : paceOf(gate), 1);
        long earliest = virtualTime - credit;
        if (gate.finish - earliest < 0) {
            gate.finish = earliest;
        }
        insert(gate, gate.finish);
    }

    /** Charges the first gate, whose lock the caller holds, for a grant. */
    void charge(Gate first, Permit permit, int slots, boolean byStarts) {
        if (byStarts) {
            permit.charge = 0; // exact: not corrected when it is released
            first.finish += cost(first, START_PACE, permit.cost());
        } else {
            byte pace = paceOf(first);
            permit.charge = pace;
            lastPace = pace;
            first.finish += cost(first, pace, slots);
        }
        if (tags[0] - virtualTime > 0) {
            virtualTime = tags[0];
        }
    }

    /** Moves the first gate, whose lock the caller holds, to the position of its tag. */
    void sinkFirst(Gate first) {
        siftDown(0, first, first.finish);
    }

    void removeFirst() {
        int last = --size;
        Gate gate = at(last);
        gates[last] = null;
        if (last > 0) {
            siftDown(0, gate, tags[last]);
        }
    }

    /** Removes each gate that the cap drops because it has nothing to grant. */
    void purge(FairCap cap, GrantedPermits grants) {
        int kept = 0;
        for (int index = 0; index < size; index++) {
            Gate gate = at(index);
            if (!cap.dropIfUnneeded(gate, grants)) {
                put(kept++, gate, tags[index]);
            }
        }
        Arrays.fill(gates, kept, size, null);
        size = kept;
        for (int parent = (kept - 2) / BRANCHES; kept > 1 && parent >= 0; parent--) {
            siftDown(parent, at(parent), tags[parent]);
        }
    }

    private byte paceOf(Gate gate) {
        return gate.pace == Gate.UNKNOWN_PACE ? lastPace : gate.pace;
    }

    private static long cost(Gate gate, byte pace, int slots) {
        return Math.max(1, charge(1L << pace, slots) / gate.weight());
    }

    /** Returns the product of a run time, at most LONGEST_RUN, and a number of slots, but at most LARGEST_CHARGE. */
    static long charge(long nanos, int slots) {
        return (slots <= NARROW ? nanos : Math.min(nanos, LARGEST_CHARGE / slots)) * slots;
    }

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

    private void siftDown(int from, Gate gate, long tag) {
        int hole = from;
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

    Gate at(int index) {
        Gate gate = gates[index];
        if (gate == null) {
            throw new AssertionError("the line has " + size + " gates, none at " + index);
        }
        return gate;
    }

    @Override
    public String toString() {
        return size + " gates ready";
    }
}
