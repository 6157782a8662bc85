package dev.raddle.kernel;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Permits that have just been granted, oldest first. The thread that collected them starts each of them after it has
 * released every lock: a granted permit occupies its slots until it is released. Confined to one thread.
 */
public final class GrantedPermits {

    /** The moment of a decision that did not read the clock. It grants nothing where there is a rate. */
    public static final long NO_TIME = Long.MIN_VALUE;

    private static final @Nullable Permit[] NONE = {};

    private @Nullable Permit first; // most collections hold one permit or none
    private @Nullable Permit[] more = NONE; // from `head` to `tail`: those after the first
    private int head;
    private int tail;

    private @Nullable Rated rated; // null while no decision has concerned a rate

    /** What decisions under a rate need in addition. */
    private static final class Rated {
        private long now = NO_TIME;
        private Gate[] throttled = {}; // gates whose first permit only waits for a rate
        private int throttledSize;
    }

    /** Creates an empty collection. */
    public GrantedPermits() {}

    private Rated rated() {
        Rated known = rated;
        if (known == null) {
            known = new Rated();
            rated = known;
        }
        return known;
    }

    /**
     * Sets the moment of the next decisions. Needed only for gates with a rate and a cap with a rate.
     *
     * @param current the current time of the time source in nanoseconds
     */
    public void setNow(long current) {
        rated().now = current == NO_TIME ? current + 1 : current; // the clock may wrap around to that moment
    }

    /**
     * Returns the moment of the next decisions.
     *
     * @return the time that was set last, or {@link #NO_TIME}
     */
    public long now() {
        return rated == null ? NO_TIME : rated.now;
    }

    /** Allocates memory for further permits, so that adding them cannot fail. */
    void makeRoom(int permits) {
        int needed = first == null ? permits - 1 : permits;
        if (needed > more.length - tail) {
            @Nullable Permit[] larger = new @Nullable Permit[Math.max(16, 2 * (tail - head + needed))];
            System.arraycopy(more, head, larger, 0, tail - head);
            more = larger;
            tail -= head;
            head = 0;
        }
    }

    /** Adds a permit. Cannot fail if memory was allocated before. */
    void add(Permit permit) {
        makeRoom(1);
        if (first == null) {
            first = permit;
        } else {
            more[tail++] = permit;
        }
    }

    /** Allocates memory for one further throttled gate, so that adding it cannot fail. */
    void makeRoomForThrottled() {
        Rated own = rated();
        if (own.throttledSize == own.throttled.length) {
            own.throttled = Arrays.copyOf(own.throttled, Math.max(1, 2 * own.throttledSize));
        }
    }

    /** Adds a gate whose first permit waits for a rate. Memory was allocated before. */
    void addThrottled(Gate gate) {
        Rated own = rated();
        own.throttled[own.throttledSize++] = gate;
    }

    /**
     * Returns a gate whose first permit waits for nothing but a rate. The caller lets the gate advance at the moment
     * that the rate allows.
     *
     * @return the gate, or null if none is left
     */
    public @Nullable Gate peekThrottled() {
        return rated == null || rated.throttledSize == 0 ? null : rated.throttled[rated.throttledSize - 1];
    }

    /** Removes the gate that {@link #peekThrottled} returned. */
    public void removeThrottled() {
        rated().throttledSize--;
    }

    /**
     * Returns whether nothing is to be done: no permit was granted, and no gate waits for a rate.
     *
     * @return true if there is nothing to start and no alarm to arm
     */
    public boolean isEmpty() {
        return first == null && peekThrottled() == null;
    }

    int size() {
        return first == null ? 0 : 1 + tail - head;
    }

    /**
     * Removes the permit that was granted first.
     *
     * @return the permit, or null if none is left
     */
    public @Nullable Permit poll() {
        Permit oldest = first;
        if (head < tail) {
            first = more[head];
            more[head++] = null;
        } else {
            first = null;
        }
        return oldest;
    }
}
