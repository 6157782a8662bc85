package dev.raddle.scope;

import dev.raddle.task.Task;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAccumulator;

/**
 * Counts a scope's tasks, exactly. A start is counted before anybody can see the task run, and an end after, so who reads the
 * ends first and the starts last never sees more ends than starts; what runs is the difference.
 */
final class ScopeMeter {

    private final AtomicLong submitted = new AtomicLong();
    private final AtomicLong started = new AtomicLong();
    private final AtomicLong succeeded = new AtomicLong();
    private final AtomicLong failed = new AtomicLong();
    private final AtomicLong cancelled = new AtomicLong();
    private final AtomicLong failedBeforeStart = new AtomicLong();
    private final AtomicLong cancelledBeforeStart = new AtomicLong();
    private final AtomicLong totalNanos = new AtomicLong();
    private final AtomicLong waitNanos = new AtomicLong();
    private final LongAccumulator maxNanos = new LongAccumulator(Math::max, 0);

    void submitted() {
        submitted.incrementAndGet();
    }

    void started(long waited) {
        waitNanos.addAndGet(waited);
        started.incrementAndGet();
    }

    /** Takes back what {@link #started} counted: the task was cancelled at the last moment. */
    void neverStarted(long waited) {
        started.decrementAndGet();
        waitNanos.addAndGet(-waited);
    }

    void ended(Task.State state, long ranNanos) {
        totalNanos.addAndGet(ranNanos);
        maxNanos.accumulate(ranNanos);
        switch (state) {
            case SUCCESS -> succeeded.incrementAndGet();
            case FAILED -> failed.incrementAndGet();
            default -> cancelled.incrementAndGet();
        }
    }

    void endedBeforeStart(Task.State state) {
        (state == Task.State.FAILED ? failedBeforeStart : cancelledBeforeStart).incrementAndGet();
    }

    ScopeMetrics read() {
        long ok = succeeded.get();
        long bad = failed.get();
        long off = cancelled.get();
        Duration total = Duration.ofNanos(totalNanos.get());
        Duration max = Duration.ofNanos(maxNanos.get());
        long badBefore = failedBeforeStart.get();
        long offBefore = cancelledBeforeStart.get();
        long begun = started.get();
        Duration waited = Duration.ofNanos(waitNanos.get());
        long running = begun - ok - bad - off;
        return new ScopeMetrics(
                submitted.get(), begun, ok, bad, off, running, badBefore, offBefore, total, max, waited);
    }
}
