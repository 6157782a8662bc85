package dev.raddle.scope;

import java.time.Duration;
import java.util.List;

/** Says that the deadline of a scope has passed: what had not ended by then was cancelled. */
public final class ScopeTimeoutException extends RuntimeException {

    private static final long serialVersionUID = 1;

    /** What the scope is called. */
    private final String scope;

    /** How much time it had. */
    private final Duration budget;

    /** What had not ended. */
    private final transient List<String> unfinished;

    ScopeTimeoutException(String message, String scope, Duration budget, List<String> unfinished) {
        super(message);
        this.scope = scope;
        this.budget = budget;
        this.unfinished = unfinished;
    }

    /**
     * Returns what the scope is called.
     *
     * @return its name
     */
    public String scope() {
        return scope;
    }

    /**
     * Returns how much time the scope had.
     *
     * @return the length from where its deadline was set to the deadline
     */
    public Duration budget() {
        return budget;
    }

    /**
     * Returns the names of the tasks that had not ended at the deadline.
     *
     * @return the names, in order of submission; empty if this exception was serialized
     */
    public List<String> unfinished() {
        return unfinished == null ? List.of() : unfinished;
    }
}
