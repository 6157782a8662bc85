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

    private @Nullable Permit first; // most collections hold one permit or none
    private @Nullable ArrayDeque<Permit> more; // after the first
    private @Nullable ArrayDeque<Gate> throttled; // gates whose first permit only waits for a rate
    private long now = NO_TIME;

    /** Creates an empty collection. */
    public GrantedPermits() {}

    /**
     * Sets the moment of the next decisions. Needed only for gates with a rate and a cap with a rate.
     *
     * @param current the current time of the time source in nanoseconds
     */
    public void setNow(long current) {
        now = moment(current);
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
        return now;
    }

    void add(Permit permit) {
        if (first == null) {
            first = permit;
            return;
        }
        ArrayDeque<Permit> rest = more;
        if (rest == null) {
            rest = new ArrayDeque<>();
            more = rest;
        }
        rest.add(permit);
    }

    /** Adds a gate whose first permit waits for a rate. */
    void addThrottled(Gate gate) {
        if (throttled == null) {
            throttled = new ArrayDeque<>();
        }
        throttled.push(gate);
    }

    /**
     * Removes a gate whose first permit waits for nothing but a rate. The caller lets the gate advance at the moment
     * that the rate allows.
     *
     * @return the gate, or null if none is left
     */
    public @Nullable Gate pollThrottled() {
        return throttled == null ? null : throttled.poll();
    }

    /**
     * Returns whether nothing is to be done: no permit was granted, and no gate waits for a rate.
     *
     * @return true if there is nothing to start and no alarm to arm
     */
    public boolean isEmpty() {
        return first == null && (throttled == null || throttled.isEmpty());
    }

    int size() {
        return first == null ? 0 : more == null ? 1 : 1 + more.size();
    }

    /**
     * Removes the permit that was granted first.
     *
     * @return the permit, or null if none is left
     */
    public @Nullable Permit poll() {
        Permit oldest = first;
        first = more == null ? null : more.poll();
        return oldest;
    }
}
