package dev.raddle.scope;

import java.time.Duration;
import java.util.List;

/** Thrown when the deadline of a scope has passed. Tasks that had not ended by then were cancelled. */
public final class ScopeTimeoutException extends RuntimeException {

    private static final long serialVersionUID = 1;

    /** The name of the scope. */
    private final String scope;

    /** The time that the scope had. */
    private final Duration budget;

    /** The names of the tasks that had not ended. */
    private final transient List<String> unfinished;

    ScopeTimeoutException(String message, String scope, Duration budget, List<String> unfinished) {
        super(message);
        this.scope = scope;
        this.budget = budget;
        this.unfinished = unfinished;
    }

    /** {@return the name of the scope} */
    public String scope() {
        return scope;
    }

    /** {@return the time that the scope had, from the moment at which its deadline was set} */
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
