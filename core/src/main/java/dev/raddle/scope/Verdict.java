package dev.raddle.scope;

import dev.raddle.task.Outcome;
import dev.raddle.task.Task;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** What is made of tasks that were waited for, all of which have ended. */
record Verdict(ThreadScope scope, List<ScopeRun<?>> runs) {

    /** Returns the result, or throws what the policy wants to be thrown. */
    ScopeResult under(FailurePolicy policy) {
        List<ScopeRun<?>> failed = new ArrayList<>();
        int succeeded = 0;
        for (ScopeRun<?> run : runs) {
            switch (run.result()) {
                case Outcome.Success<?> success -> succeeded++;
                case Outcome.Failure<?> failure -> failed.add(run);
                case Outcome.Cancelled<?> cancelled -> throwIfExpired(cancelled);
                default -> throw new AssertionError("a task of a scope is neither rejected nor skipped");
            }
        }
        failed.sort(Comparator.comparingLong(Task::id)); // in order of submission
        if (policy.isThrowing() && !failed.isEmpty()) {
            throw policy == FailurePolicy.FAIL_FAST ? firstOf(failed) : allOf(failed);
        }
        List<Throwable> listed =
                policy.isListing() ? failed.stream().map(Verdict::errorOf).toList() : List.of();
        return new ScopeResult(runs.size(), succeeded, failed.size(), runs.size() - succeeded - failed.size(), listed);
    }

    private void throwIfExpired(Outcome.Cancelled<?> cancelled) {
        ScopeTimeoutException expired = scope.expiredBy(cancelled.cause());
        if (expired != null) {
            throw expired;
        }
    }

    private static RuntimeException firstOf(List<ScopeRun<?>> failed) {
        ScopeRun<?> first = failed.getFirst();
        for (ScopeRun<?> run : failed) {
            if (run.decidedNanos() - first.decidedNanos() < 0) {
                first = run;
            }
        }
        Throwable thrown = errorOf(first);
        List<Throwable> known = List.of(thrown.getSuppressed());
        for (ScopeRun<?> run : failed) {
            Throwable later = errorOf(run);
            if (later != thrown && !known.contains(later)) {
                thrown.addSuppressed(later);
            }
        }
        return first.asThrown(first.result());
    }

    private AggregateException allOf(List<ScopeRun<?>> failed) {
        return new AggregateException(
                failed.size() + " of " + runs.size() + " tasks in scope \"" + scope.name() + "\" failed",
                failed.stream().map(Verdict::errorOf).toList());
    }

    private static Throwable errorOf(ScopeRun<?> run) {
        return run.result() instanceof Outcome.Failure<?> failure
                ? failure.error()
                : new AssertionError(run + " has not failed");
    }
}
