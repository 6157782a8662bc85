package dev.raddle.scope;

import dev.raddle.kernel.Bounds;
import dev.raddle.kernel.FairCap;
import dev.raddle.kernel.TaskGate;
import dev.raddle.task.Outcome;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * A gate that counts the tasks of a scope exactly. A start is counted in an atomic counter of its own, before the task
 * is visibly running. Everything else is counted and read under the gate's lock, which a task acquires in any case when
 * it ends. The number of running tasks is the difference of starts and ends. A task's end is counted after its start,
 * so a start count read while holding the lock is never less than the number of ends.
 */
abstract class ScopeMeter extends TaskGate {

    private static final AtomicLongFieldUpdater<ScopeMeter> STARTED =
            AtomicLongFieldUpdater.newUpdater(ScopeMeter.class, "started");

    private volatile long started;

    /** The ends without a value. Guarded by the gate's lock. */
    private static final class Others {
        long failed;
        long cancelled;
        long failedBeforeStart;
        long cancelledBeforeStart;

        long sum() {
            return failed + cancelled + failedBeforeStart + cancelledBeforeStart;
        }
    }

    // Guarded by the gate's lock.
    private long submitted;
    private long succeeded;
    private @Nullable Others others; // null while there are none
    private long totalNanos;
    private long maxNanos;
    private long waitNanos;

    ScopeMeter(Bounds bounds, FairCap cap) {
        super(bounds, cap);
    }

    private Others others() {
        Others all = others == null ? new Others() : others;
        others = all;
        return all;
    }

    final void countStart() {
        STARTED.getAndIncrement(this);
    }

    /** Reverts {@link #countStart}, because the task was ended before its callable was called. */
    final void uncountStart() {
        STARTED.getAndDecrement(this);
    }

    final void addSubmission() {
        submitted++;
    }

    final void addEnd(Outcome<?> outcome, long waitedNanos, long ranNanos) {
        waitNanos += waitedNanos;
        totalNanos += ranNanos;
        maxNanos = Math.max(maxNanos, ranNanos);
        switch (outcome.status()) {
            case SUCCESS -> succeeded++;
            case FAILED -> others().failed++;
            default -> others().cancelled++;
        }
    }

    final void addEndBeforeStart(Outcome<?> outcome) {
        if (outcome instanceof Outcome.Failure<?>) {
            others().failedBeforeStart++;
        } else {
            others().cancelledBeforeStart++;
        }
    }

    /** Returns the number of submitted tasks whose end was not counted yet. */
    final long unsettled() {
        return submitted - succeeded - (others == null ? 0 : others.sum());
    }

    final ScopeMetrics readMetrics() {
        Others rest = others == null ? new Others() : others;
        long begun = started;
        return new ScopeMetrics(
                submitted,
                begun,
                succeeded,
                rest.failed,
                rest.cancelled,
                begun - succeeded - rest.failed - rest.cancelled,
                rest.failedBeforeStart,
                rest.cancelledBeforeStart,
                Duration.ofNanos(totalNanos),
                Duration.ofNanos(maxNanos),
                Duration.ofNanos(waitNanos));
    }
}
