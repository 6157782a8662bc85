package dev.raddle.scope;

/**
 * The reaction of a wait for several tasks to a failure. A cancelled task does not count as failed under any policy.
 *
 * @see ThreadScope#await(java.util.Collection)
 */
public enum FailurePolicy {
    /** The first failure, in order of time, cancels the scope's other tasks and is thrown at once. */
    FAIL_FAST(0, true, true),
    /** Waits for all, then throws an {@link AggregateException} with every failure in order of submission. */
    COLLECT_ALL(JoinDecision.ALL, true, true),
    /** Never throws because of failures; the {@link ScopeResult} lists them. */
    SUPERVISOR(JoinDecision.ALL, false, true),
    /** The first failure, in order of time, cancels the scope's other tasks; the {@link ScopeResult} lists it. */
    CANCEL_OTHERS(0, false, true),
    /** Never throws because of failures; the {@link ScopeResult} counts them and lists none. */
    IGNORE_ALL(JoinDecision.ALL, false, false);

    private final int tolerated;
    private final boolean throwing;
    private final boolean listing;

    FailurePolicy(int tolerated, boolean throwing, boolean listing) {
        this.tolerated = tolerated;
        this.throwing = throwing;
        this.listing = listing;
    }

    /** Returns whether the first failure cancels the scope's other tasks. */
    boolean cancelsOthers() {
        return tolerated == 0;
    }

    /** Returns a new decision for one wait. */
    <C> JoinDecision<C, C> newDecision() {
        return new JoinDecision<>(JoinDecision.ALL, tolerated);
    }

    boolean isThrowing() {
        return throwing;
    }

    boolean isListing() {
        return listing;
    }
}
