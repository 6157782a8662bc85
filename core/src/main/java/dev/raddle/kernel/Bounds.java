package dev.raddle.kernel;

/** The limits of one gate, read in one moment. Implementations are immutable; every number is at least what is said here. */
public interface Bounds {

    /**
     * Returns how many slots may be held at once.
     *
     * @return at least 1
     */
    int concurrency();

    /**
     * Returns the bulkhead: a second bound on the slots held at once. The smaller of the two is in force.
     *
     * @return at least 1
     */
    int maxInFlight();

    /**
     * Returns how many permits may wait at the gate.
     *
     * @return at least 0
     */
    int maxWaiting();

    /**
     * Returns the gate's share of the common cap, relative to the other gates' weights.
     *
     * @return at least 1
     */
    int weight();

    /**
     * Returns the bound in force on the slots held at once.
     *
     * @return the smaller of {@link #concurrency()} and {@link #maxInFlight()}
     */
    default int slots() {
        return Math.min(concurrency(), maxInFlight());
    }
}
