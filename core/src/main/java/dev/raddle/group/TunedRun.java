package dev.raddle.group;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import dev.raddle.kernel.Attempts;
import dev.raddle.kernel.GrantedPermits;
import dev.raddle.kernel.TimeLimit;
import dev.raddle.task.Outcome;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.TaskSpec;
import dev.raddle.time.Alarm;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** A run with a priority, a cost, a retry policy or a time limit of its own. */
class TunedRun<T> extends GroupRun<T> {

    private final int priority;
    private final int cost;
    private final @Nullable Duration queueTimeout;
    private int taken = 1; // guarded by the group
    private final @Nullable RetryPolicy retry;
    private final @Nullable TimeLimit limit;
    private volatile @Nullable Attempts<T> attempts; // null before the first, and if there is only one
    private volatile @Nullable Alarm alarm;
    private volatile boolean waits = true; // false once it has left the queue, or never entered it
    private @Nullable Alarm limitAlarm; // written by the submitter before the run is anywhere

    TunedRun(TaskSpec<T> spec, long submitNanos, @Nullable TimeLimit limit) {
        super(spec.name(), spec.callable(), submitNanos);
        this.priority = spec.priorityOr(0);
        this.cost = spec.cost();
        this.queueTimeout = spec.queueTimeout();
        this.retry = spec.retry();
        this.limit = limit;
    }

    @Override
    protected final T enter(Callable<? extends T> callable) throws Exception {
        if (retry == null || retry.maxAttempts() == 1) {
            return callable.call();
        }
        Attempts<T> all = new Attempts<>(callable, retry, this::isDecided, time(), taskId(), limit);
        attempts = all;
        try {
            return all.call();
        } finally {
            attempts = null; // it keeps the callable
        }
    }

    @Override
    protected final boolean endsByItself() {
        return limit != null || (queueTimeout != null && waits);
    }

    @Override
    protected final int cost() {
        return cost;
    }

    @Override
    public final int priority() {
        return priority;
    }

    @Override
    protected final void taken(int slots) {
        taken = slots;
    }

    @Override
    protected final int taken() {
        return taken;
    }

    /*
     * The alarm is set by the submitter after the run has entered the queue, when it may have left it again. Each side writes
     * its field first and reads the other's then, so at least one of them sees both and cancels the alarm. One that rings
     * nevertheless finds that the run does not wait and does nothing.
     */

    @Override
    final void arm() {
        if (limit != null) {
            try {
                limitAlarm = limit.deadline().alarm(() -> outOfTime(limit));
            } catch (Throwable noAlarm) {
                end(new Outcome.Failure<>(noAlarm), true, Runnable::run);
            }
        }
    }

    @Override
    final void disarm() {
        if (limitAlarm != null) {
            limitAlarm.cancel();
        }
    }

    @Override
    protected void settled(Outcome<T> outcome) {
        disarm();
        super.settled(outcome);
    }

    /** Runs in the time source's thread, as does {@link #timedOut}. */
    private void outOfTime(TimeLimit over) {
        giveUpWaiting();
        end(over.outcome(taskId(), attempts, isRunning()), true, group().owner.elsewhere());
        giveUpWaiting(); // it may have entered meanwhile
    }

    /** Leaves the queue, and lets another thread start what that makes possible: this one may be an alarm's. */
    private void giveUpWaiting() {
        GrantedPermits grants = new GrantedPermits();
        if (withdraw(grants)) {
            leftQueue();
            group().owner.elsewhere().execute(() -> group().owner.dispatch(grants));
        }
    }

    @Override
    final void waitsInQueue() {
        Duration longest = queueTimeout;
        if (longest != null && longest.isZero()) {
            timedOut(longest);
        } else if (longest != null && waits) {
            try {
                alarm = time().after(longest, () -> timedOut(longest));
            } catch (Throwable noAlarm) {
                end(new Outcome.Failure<>(noAlarm), false, Runnable::run);
                giveUpWaiting();
            }
            if (!waits) {
                cancelAlarm();
            }
        }
    }

    @Override
    final void leftQueue() {
        waits = false;
        cancelAlarm();
    }

    private void cancelAlarm() {
        Alarm set = alarm;
        if (set != null) {
            set.cancel();
        }
    }

    /** Runs in the time source's thread: it decides here, and leaves what is foreign to another. */
    private void timedOut(Duration longest) {
        GrantedPermits grants = new GrantedPermits();
        if (withdraw(grants)) {
            String reason = RejectionReason.QUEUE_TIMEOUT + ": queue timeout after " + MILLISECONDS.convert(longest)
                    + " ms, " + group().load();
            group().owner.elsewhere().execute(() -> {
                group().owner.dispatch(grants);
                group().owner.reject(this, reason, false);
            });
        }
    }
}
