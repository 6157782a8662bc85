package dev.raddle.scope;

import dev.raddle.task.Outcome;
import java.time.Duration;

/** Sums of what the runs of a scope have done. Confined to a thread or guarded by the lock of {@link PendingRuns}. */
final class ScopeMeter {

    private long running;
    private long succeeded;
    private long failed;
    private long cancelled;
    private long failedBeforeStart;
    private long cancelledBeforeStart;
    private long totalNanos;
    private long maxNanos;
    private long waitNanos;

    void addRunning() {
        running++;
    }

    void addEnd(Outcome<?> outcome, long waitedNanos, long ranNanos) {
        waitNanos += waitedNanos;
        totalNanos += ranNanos;
        maxNanos = Math.max(maxNanos, ranNanos);
        switch (outcome.status()) {
            case SUCCESS -> succeeded++;
            case FAILED -> failed++;
            default -> cancelled++;
        }
    }

    void addEndBeforeStart(Outcome<?> outcome) {
        if (outcome instanceof Outcome.Failure<?>) {
            failedBeforeStart++;
        } else {
            cancelledBeforeStart++;
        }
    }

    /** Adds the sums of ended runs. */
    void add(ScopeMeter ended) {
        succeeded += ended.succeeded;
        failed += ended.failed;
        cancelled += ended.cancelled;
        failedBeforeStart += ended.failedBeforeStart;
        cancelledBeforeStart += ended.cancelledBeforeStart;
        totalNanos += ended.totalNanos;
        maxNanos = Math.max(maxNanos, ended.maxNanos);
        waitNanos += ended.waitNanos;
    }

    ScopeMetrics metrics(long submitted) {
        return new ScopeMetrics(
                submitted,
                running + succeeded + failed + cancelled,
                succeeded,
                failed,
                cancelled,
                running,
                failedBeforeStart,
                cancelledBeforeStart,
                Duration.ofNanos(totalNanos),
                Duration.ofNanos(maxNanos),
                Duration.ofNanos(waitNanos));
    }
}
