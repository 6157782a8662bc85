package dev.raddle.scope;

import java.util.List;

/**
 * The result of a wait for several tasks. {@code total} is the sum of the other three numbers.
 *
 * @param total the number of tasks
 * @param succeeded the number of tasks that have a value
 * @param failed the number of tasks that failed
 * @param cancelled the number of tasks that were cancelled
 * @param failures the exceptions of failed tasks, in order of submission; empty under {@link FailurePolicy#IGNORE_ALL}
 */
public record ScopeResult(int total, int succeeded, int failed, int cancelled, List<Throwable> failures) {

    /** Copies the list. */
    public ScopeResult {
        failures = List.copyOf(failures);
    }
}
