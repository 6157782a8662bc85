package dev.raddle.scope;

import dev.raddle.task.Task;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts the tasks of a scope exactly. A start is counted in an atomic counter of its own, before the task is visibly
 * running. Everything else is counted and read under the gate's lock, which a task acquires in any case when it ends.
 * The number of running tasks is the difference of starts and ends. A task's end is counted after its start, so a start
 * count read while holding the lock is never less than the number of ends.
 */
final class ScopeMeter {

    private final AtomicLong started = new AtomicLong();

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
        started.getAndIncrement();
    }

    /** Reverts {@link #countStart}, because the task was ended before its callable was called. */
    void uncountStart() {
        started.getAndDecrement();
    }

    void countSubmission() {
        submitted++;
    }

    void countEnd(Task.State state, long waitedNanos, long ranNanos) {
        waitNanos += waitedNanos;
        totalNanos += ranNanos;
        maxNanos = Math.max(maxNanos, ranNanos);
        switch (state) {
            case SUCCESS -> succeeded++;
            case FAILED -> failed++;
            default -> cancelled++;
        }
    }

    void countEndBeforeStart(Task.State state) {
        if (state == Task.State.FAILED) {
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
        long begun = started.get();
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
