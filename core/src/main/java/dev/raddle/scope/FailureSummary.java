package dev.raddle.scope;

import dev.raddle.task.Outcome;
import dev.raddle.task.Task;
import dev.raddle.time.UserCode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Applies a scope's failure policy to the outcomes of a wait for several tasks, all settled. */
final class FailureSummary {

    private FailureSummary() {}

    /** Returns the result, or throws if the policy requires that. */
    static ScopeResult of(ScopeTasks scope, List<ScopeRun<?>> runs) {
        FailurePolicy policy = scope.options.failurePolicy;
        List<ScopeRun<?>> failed = List.of(); // mostly nothing has failed
        ScopeTimeoutException expired = null;
        int succeeded = 0;
        for (ScopeRun<?> run : runs) {
            switch (run.settledOutcome()) {
                case Outcome.Success<?> success -> succeeded++;
                case Outcome.Failure<?> failure -> {
                    failed = failed.isEmpty() ? new ArrayList<>() : failed;
                    failed.add(run);
                }
                case Outcome.Cancelled<?> cancelled ->
                    expired = expired != null ? expired : scope.pending.expiredBy(cancelled.cause());
                default -> throw new AssertionError("a task of a scope is neither rejected nor skipped");
            }
        }
        if (expired != null) {
            for (ScopeRun<?> run : failed) {
                UserCode.addSuppressed(expired, errorOf(run));
            }
            throw expired;
        }
        if (!failed.isEmpty()) {
            failed.sort(Comparator.comparingLong(Task::id)); // in order of submission
            if (policy.isThrowing()) {
                throw policy == FailurePolicy.FAIL_FAST ? firstOf(failed) : allOf(failed, scope, runs.size());
            }
        }
        List<Throwable> listed = policy.isListing() && !failed.isEmpty()
                ? failed.stream().map(FailureSummary::errorOf).toList()
                : List.of();
        return new ScopeResult(runs.size(), succeeded, failed.size(), runs.size() - succeeded - failed.size(), listed);
    }

    private static RuntimeException firstOf(List<ScopeRun<?>> failed) {
        ScopeRun<?> first = failed.getFirst();
        for (ScopeRun<?> run : failed) {
            if (run.endNanos() - first.endNanos() < 0) {
                first = run;
            }
        }
        Throwable thrown = errorOf(first);
        failed.forEach(run -> UserCode.addSuppressed(thrown, errorOf(run)));
        return first.asThrown(first.settledOutcome());
    }

    private static AggregateException allOf(List<ScopeRun<?>> failed, ScopeTasks scope, int total) {
        return new AggregateException(
                failed.size() + " of " + total + " tasks in scope \"" + scope.name + "\" failed",
                failed.stream().map(FailureSummary::errorOf).toList());
    }

    private static Throwable errorOf(ScopeRun<?> run) {
        return run.settledOutcome() instanceof Outcome.Failure<?> failure
                ? failure.error()
                : new AssertionError(run + " has not failed");
    }
}
