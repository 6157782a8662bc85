package dev.raddle.scope;

import dev.raddle.task.Outcome;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;

/**
 * Counts the tasks of a scope exactly. A start is counted in an atomic counter of its own, before the task is visibly
 * running. Everything else is counted and read under the gate's lock, which a task acquires in any case when it ends.
 * The number of running tasks is the difference of starts and ends. A task's end is counted after its start, so a start
 * count read while holding the lock is never less than the number of ends.
 */
final class ScopeMeter {

    private static final AtomicLongFieldUpdater<ScopeMeter> STARTED =
            AtomicLongFieldUpdater.newUpdater(ScopeMeter.class, "started");

    private volatile long started;

    // Guarded by the gate's lock.
    private long submitted;
    private long succeeded;
    private long failed;
    private long cancelled;
    private long failedBeforeStart;
    private long cancelledBeforeStart;
    private long totalNanos;
    private long maxNanos;
    private long waitNanos;

    void countStart() {
        STARTED.getAndIncrement(this);
    }

    /** Reverts {@link #countStart}, because the task was ended before its callable was called. */
    void uncountStart() {
        STARTED.getAndDecrement(this);
    }

    void countSubmission() {
        submitted++;
    }

    void countEnd(Outcome<?> outcome, long waitedNanos, long ranNanos) {
        waitNanos += waitedNanos;
        totalNanos += ranNanos;
        maxNanos = Math.max(maxNanos, ranNanos);
        switch (outcome.status()) {
            case SUCCESS -> succeeded++;
            case FAILED -> failed++;
            default -> cancelled++;
        }
    }

    void countEndBeforeStart(Outcome<?> outcome) {
        if (outcome instanceof Outcome.Failure<?>) {
            failedBeforeStart++;
        } else {
            cancelledBeforeStart++;
        }
    }

    /** Returns the number of submitted tasks whose end was not counted yet. */
    long unsettled() {
        return submitted - succeeded - failed - cancelled - failedBeforeStart - cancelledBeforeStart;
    }

    ScopeMetrics read() {
        long begun = started;
        return new ScopeMetrics(
                submitted,
                begun,
                succeeded,
                failed,
                cancelled,
                begun - succeeded - failed - cancelled,
                failedBeforeStart,
                cancelledBeforeStart,
                Duration.ofNanos(totalNanos),
                Duration.ofNanos(maxNanos),
                Duration.ofNanos(waitNanos));
    }
}
