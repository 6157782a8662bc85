package dev.raddle.scope;

import dev.raddle.kernel.TimeLimit;
import dev.raddle.task.Outcome;
import dev.raddle.time.Alarm;
import dev.raddle.time.Deadline;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * A task that was submitted, and whose time comes later. Until then it is nowhere but in the scope's list of what is scheduled.
 */
final class ScheduledRun<T> extends ScopeRun<T> implements ScheduledTask<T> {

    private final Deadline moment;
    private volatile @Nullable Alarm alarm;

    ScheduledRun(
            ThreadScope scope, long id, Callable<? extends T> callable, Deadline moment, @Nullable TimeLimit limit) {
        super(
                scope,
                id,
                null,
                callable,
                scope.defaultRank(),
                scope.retryPolicy(),
                limit,
                scope.capture(),
                moment.nanoTime());
        this.moment = moment;
    }

    /** Lets the run be admitted when its moment comes. */
    void schedule() {
        alarm = moment.alarm(() -> scope.elsewhere().execute(this::begin));
        if (isDecided()) {
            cancelAlarm();
        }
    }

    private void begin() {
        if (isDecided() || !scope.gate().beginErrand()) {
            return; // who closes the gate cancels what is scheduled
        }
        try {
            scope.admit(this, false);
            scope.unschedule(this); // not before: whoever cancels everything looks here first, and then into the gate
        } finally {
            scope.gate().endErrand();
        }
    }

    private void cancelAlarm() {
        Alarm set = alarm;
        if (set != null) {
            set.cancel();
        }
    }

    @Override
    protected void settled(Outcome<T> outcome) {
        scope.unschedule(this);
        cancelAlarm();
        super.settled(outcome);
    }

    @Override
    public boolean isPeriodic() {
        return false;
    }
}
