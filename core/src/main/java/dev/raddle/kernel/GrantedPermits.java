package dev.raddle.kernel;

import java.util.ArrayDeque;
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
        private @Nullable ArrayDeque<Gate> throttled; // gates whose first permit only waits for a rate
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
        rated().now = moment(current);
    }

    /**
     * Returns the moment of a decision that has read the clock.
     *
     * @param current the current time of the time source in nanoseconds
     * @return that time, or the next one if it is {@link #NO_TIME}, because the clock may wrap around
     */
    public static long moment(long current) {
        return current == NO_TIME ? current + 1 : current;
    }

    /**
     * Returns the moment of the next decisions.
     *
     * @return the time that was set last, or {@link #NO_TIME}
     */
    public long now() {
        return rated == null ? NO_TIME : rated.now;
    }

    void add(Permit permit) {
        if (first == null) {
            first = permit;
            return;
        }
        if (tail == more.length) {
            @Nullable Permit[] larger = new @Nullable Permit[Math.max(16, 2 * (tail - head + 1))];
            System.arraycopy(more, head, larger, 0, tail - head);
            more = larger;
            tail -= head;
            head = 0;
        }
        more[tail++] = permit;
    }

    /** Adds a gate whose first permit waits for a rate. */
    void addThrottled(Gate gate) {
        Rated own = rated();
        if (own.throttled == null) {
            own.throttled = new ArrayDeque<>();
        }
        own.throttled.push(gate);
    }

    /**
     * Removes a gate whose first permit waits for nothing but a rate. The caller lets the gate advance at the moment
     * that the rate allows.
     *
     * @return the gate, or null if none is left
     */
    public @Nullable Gate pollThrottled() {
        return rated == null || rated.throttled == null ? null : rated.throttled.poll();
    }

    /**
     * Returns whether nothing is to be done: no permit was granted, and no gate waits for a rate.
     *
     * @return true if there is nothing to start and no alarm to arm
     */
    public boolean isEmpty() {
        return first == null && (rated == null || rated.throttled == null || rated.throttled.isEmpty());
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
