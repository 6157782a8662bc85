package dev.raddle.scope;

import dev.raddle.task.Task;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts a scope's tasks, exactly. A start is counted before anybody can see the task run, in a number of its own. Everything
 * else is counted, and read, under the gate's lock, which a task takes anyhow when it ends. Who reads the ends first and the
 * starts last never sees more ends than starts; what runs is the difference.
 */
final class ScopeMeter {

    private final AtomicLong started = new AtomicLong();

    // Guarded by the gate.
    private long submitted;
    private long succeeded;
    private long failed;
    private long cancelled;
    private long failedBeforeStart;
    private long cancelledBeforeStart;
    private long totalNanos;
    private long maxNanos;
    private long waitNanos;

    void started() {
        started.getAndIncrement();
    }

    /** Takes back what {@link #started} counted: the task was ended at the last moment. */
    void neverStarted() {
        started.getAndDecrement();
    }

    void submitted() {
        submitted++;
    }

    void ended(Task.State state, long waitedNanos, long ranNanos) {
        waitNanos += waitedNanos;
        totalNanos += ranNanos;
        maxNanos = Math.max(maxNanos, ranNanos);
        switch (state) {
            case SUCCESS -> succeeded++;
            case FAILED -> failed++;
            default -> cancelled++;
        }
    }

    void endedBeforeStart(Task.State state) {
        if (state == Task.State.FAILED) {
            failedBeforeStart++;
        } else {
            cancelledBeforeStart++;
        }
    }

    /** Returns how many were submitted and have not been counted at their end. */
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
