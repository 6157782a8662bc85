package dev.raddle.scope;

/**
 * The reaction of a wait for several tasks to a failure. A cancelled task does not count as failed under any policy.
 *
 * @see ThreadScope#await(java.util.Collection)
 */
public enum FailurePolicy {
    /** The first failure, in order of time, cancels the scope's other tasks and is thrown at once. */
    FAIL_FAST(true, true, true),
    /** Waits for all, then throws an {@link AggregateException} with every failure in order of submission. */
    COLLECT_ALL(false, true, true),
    /** Never throws because of failures; the {@link ScopeResult} lists them. */
    SUPERVISOR(false, false, true),
    /** The first failure, in order of time, cancels the scope's other tasks; the {@link ScopeResult} lists it. */
    CANCEL_OTHERS(true, false, true),
    /** Never throws because of failures; the {@link ScopeResult} counts them and lists none. */
    IGNORE_ALL(false, false, false);

    private final boolean cancelsOthers;
    private final boolean throwing;
    private final boolean listing;

    FailurePolicy(boolean cancelsOthers, boolean throwing, boolean listing) {
        this.cancelsOthers = cancelsOthers;
        this.throwing = throwing;
        this.listing = listing;
    }

    boolean cancelsOthers() {
        return cancelsOthers;
    }

    boolean isThrowing() {
        return throwing;
    }

    boolean isListing() {
        return listing;
    }
}
