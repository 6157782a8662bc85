package dev.raddle.scope;

import dev.raddle.kernel.PendingAlarm;
import dev.raddle.kernel.StackRoom;
import dev.raddle.task.Outcome;
import dev.raddle.time.Deadline;
import dev.raddle.time.Signal;
import java.time.Duration;
import java.util.concurrent.Callable;

/**
 * A task that is admitted after a delay. Until then it is only counted and listed in the scope.
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
        Signal submitted = new Signal(); // until then an alarm that fires has no effect
        Runnable begin = () -> scope.offload().execute(() -> submitted.whenSet(run::begin));
        run.alarm.arm(scope.time, run.moment.remaining(), begin);
        scope.add(run);
        submitted.set();
        return run;
    }

    private void begin() {
        if (!isDecided()) {
            scope.admit(this);
        }
    }

    @Override
    protected void settled(Outcome<T> outcome) {
        alarm.disarm();
        super.settled(outcome);
    }
}
