package dev.raddle.kernel;

import org.jspecify.annotations.Nullable;

/** The limits of one gate, as a snapshot. Implementations are immutable. */
public interface Bounds {

    /**
     * Returns the bound on the slots held at once.
     *
     * @return a number of slots, at least 1, or 0 if the limits are not known yet
     */
    int concurrency();

    /**
     * Returns the bulkhead: a second bound on the slots held at once. The smaller of the two is in force.
     *
     * @return a number of slots, at least 1
     */
    int maxInFlight();

    /**
     * Returns the bound on the permits that wait at the gate.
     *
     * @return a number of permits, at least 0
     */
    int maxWaiting();

    /**
     * Returns the gate's share of the common cap, relative to the other gates' weights.
     *
     * @return the weight, at least 1
     */
    int weight();

    /**
     * Returns the bound on the permits that are granted per time.
     *
     * @return the limit, or null if there is none; this implementation returns null
     */
    default @Nullable RateLimit rate() {
        return null;
    }

    /**
     * Returns the bound in force on the slots held at once.
     *
     * @return the smaller of {@link #concurrency()} and {@link #maxInFlight()}
     */
    default int slots() {
        return Math.min(concurrency(), maxInFlight());
    }
}
