package dev.raddle.scope;

import dev.raddle.kernel.PendingAlarm;
import dev.raddle.task.Outcome;
import dev.raddle.time.Deadline;
import java.time.Duration;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/**
 * A periodic job: a run that is never admitted itself, and submits a task for each round. A round begins after the
 * previous one has ended, so rounds never overlap.
 */
final class PeriodicRun extends ScopeRun<Object> {

    /** The moment of the next round. */
    enum Rhythm {
        /** A period after the end of the round before it. */
        FIXED_DELAY,
        /** A period after the moment of the round before it. A round that is late begins at once. */
        FIXED_RATE,
        /** The same, unless that has passed: then the first of the following moments that has not. */
        FIXED_RATE_SKIPPING
    }

    private final Runnable job;
    private final long period;
    private final Rhythm rhythm;
    private long moment; // the due time of the current round; used only by the round
    private volatile PendingAlarm alarm = new PendingAlarm(); // of the next round
    private volatile @Nullable ScopeRun<?> round;

    private PeriodicRun(ScopeTasks scope, Runnable job, Deadline first, Duration period, Rhythm rhythm) {
        super(scope, scope.nextId(), null, Executors.callable(job), scope.defaultSettings(), first.nanoTime());
        neverPending();
        this.job = job;
        this.period = Deadline.nanos(period);
        this.rhythm = rhythm;
        this.moment = first.nanoTime();
    }

    /** Begins a periodic job. */
    static PeriodicRun submit(ScopeTasks scope, Duration delay, Runnable job, Duration period, Rhythm rhythm) {
        Deadline first = scope.momentAfter(delay);
        PeriodicRun run = new PeriodicRun(scope, job, first, period, rhythm);
        scope.schedule(run, run::schedule);
        return run;
    }

    /** Arms the alarm of the next round. That round may begin, and arm the alarm of its successor, before this ends. */
    private void schedule() {
        PendingAlarm next = new PendingAlarm();
        alarm = next; // before isDecided is read: the thread that ends this job disarms the alarm that it finds
        if (!isDecided()) {
            next.arm(
                    time(),
                    new Deadline(time(), moment).remaining(),
                    () -> scope.offload().execute(this::beginRound));
        }
    }

    private void beginRound() {
        if (isDecided() || !scope.pending.beginTimerSubmission()) {
            return;
        }
        try {
            ScopeRun<?> next = new ScopeRun<>(
                    scope, scope.nextId(), name(), Executors.callable(job), scope.limited(settings()), moment);
            scope.submit(next);
            round = next;
            next.whenSettled(() -> roundEnded(next));
            if (isDecided()) {
                stop();
            }
        } catch (Throwable failure) {
            fail(failure);
        } finally {
            scope.pending.endTimerSubmission();
        }
    }

    private void roundEnded(ScopeRun<?> ended) {
        switch (ended.settledOutcome()) {
            case Outcome.Success<?> success -> scheduleNext();
            case Outcome.Failure<?> failure -> fail(failure.error());
            case Outcome.Cancelled<?> cancelled ->
                end(new Outcome.Cancelled<>(cancelled.cause()), false, Runnable::run);
            default -> throw new AssertionError("a task of a scope is neither rejected nor skipped");
        }
    }

    private void scheduleNext() {
        try {
            moment = nextMoment();
            schedule();
        } catch (Throwable failure) {
            fail(failure);
        }
    }

    private long nextMoment() {
        long next = moment + period;
        if (rhythm == Rhythm.FIXED_RATE) {
            return next;
        }
        long now = time().nanoTime();
        if (rhythm == Rhythm.FIXED_DELAY) {
            return now + period;
        }
        long missed = Math.max(0, Math.ceilDiv(now - next, period));
        return next + missed * period;
    }

    /** Ends the job, of which usually no thread waits for the end, and reports why. */
    private void fail(Throwable failure) {
        end(new Outcome.Failure<>(failure), false, Runnable::run);
        sink().report("periodic task \"" + name() + "\" in scope \"" + scope.name + "\", which stops", failure);
    }

    private void stop() {
        alarm.disarm();
        ScopeRun<?> running = round;
        if (running != null) {
            running.cancel();
        }
    }

    @Override
    protected void settled(Outcome<Object> outcome) {
        scope.unschedule(this);
        stop();
        super.settled(outcome);
    }

    // Each round notifies listeners. The job itself is not a task that runs.

    @Override
    void notifyListener(Outcome<Object> outcome) {}

    @Override
    boolean isTask() {
        return false;
    }
}
