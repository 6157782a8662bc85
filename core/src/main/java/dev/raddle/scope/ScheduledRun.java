package dev.raddle.scope;

import dev.raddle.kernel.PendingAlarm;
import dev.raddle.kernel.StackRoom;
import dev.raddle.task.Outcome;
import dev.raddle.time.Deadline;
import java.time.Duration;
import java.util.concurrent.Callable;

/**
 * A task that is admitted after a delay. Until then it is only in the scope's set of scheduled tasks.
 */
final class ScheduledRun<T> extends ScopeRun<T> {

    private final Deadline moment;
    private final PendingAlarm alarm = new PendingAlarm();

    private ScheduledRun(ScopeTasks scope, Callable<? extends T> callable, Deadline moment) {
        super(scope, scope.nextId(), null, callable, scope.defaultSettings(), moment.nanoTime());
        this.moment = moment;
    }

    /** Submits a task after a delay. */
    static <T> ScheduledRun<T> submit(ScopeTasks scope, Duration delay, Callable<? extends T> callable) {
        ScheduledRun<T> run = new ScheduledRun<>(scope, callable, Deadline.after(scope.time, delay));
        StackRoom.ensure(); // a counted run must be ended
        scope.countSubmission(run);
        scope.schedule(run, run::schedule);
        return run;
    }

    /** Arms the alarm that admits this run. */
    private void schedule() {
        alarm.arm(time(), moment.remaining(), () -> scope.offload().execute(this::begin));
    }

    private void begin() {
        if (isDecided() || !scope.gate.beginTimerSubmission()) {
            return; // the thread that closes the gate cancels the scheduled tasks
        }
        try {
            scope.admit(this, true);
            scope.unschedule(this); // after admit: a thread that cancels all reads this set first, and then the gate
        } finally {
            scope.gate.endTimerSubmission();
        }
    }

    @Override
    protected void settled(Outcome<T> outcome) {
        scope.unschedule(this);
        alarm.disarm();
        super.settled(outcome);
    }
}
