package dev.raddle.scope;

import java.util.List;

/**
 * How the tasks ended that were waited for. {@code total} is the sum of the other three numbers.
 *
 * @param total how many tasks were waited for
 * @param succeeded how many have a value
 * @param failed how many failed
 * @param cancelled how many were cancelled
 * @param failures what the failed ones threw, in order of submission; empty under {@link FailurePolicy#IGNORE_ALL}
 */
public record ScopeResult(int total, int succeeded, int failed, int cancelled, List<Throwable> failures) {

    /** Copies the list. */
    public ScopeResult {
        failures = List.copyOf(failures);
    }

    /**
     * Tells whether a task failed.
     *
     * @return true if at least one did, listed or not
     */
    public boolean hasFailures() {
        return failed > 0;
    }
}
