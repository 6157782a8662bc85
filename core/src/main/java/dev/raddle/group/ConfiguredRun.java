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

/** A run with options: a priority, a cost, a queue timeout, a retry policy or a time limit. */
class ConfiguredRun<T> extends GroupRun<T> {

    private final int priority;
    private final int cost;
    private final @Nullable Duration queueTimeout;
    private int taken = 1; // guarded by the group
    private final @Nullable RetryPolicy retry;
    private final @Nullable TimeLimit limit;
    private volatile @Nullable Attempts<T> attempts; // null outside of enter(), and if one attempt is allowed
    private volatile @Nullable Alarm alarm;
    private volatile boolean mayBeQueued = true; // false once it has left the queue, or never entered it
    private @Nullable Alarm limitAlarm; // written by the submitter before the run enters a group

    ConfiguredRun(TaskSpec<T> spec, long submitNanos, @Nullable TimeLimit limit) {
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
            attempts = null; // it would retain the callable
        }
    }

    @Override
    public final boolean isTimeBounded() {
        return limit != null || (queueTimeout != null && mayBeQueued);
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
     * The submitter sets `alarm` after the run has entered the queue, when the run may have left it again. The
     * submitter writes `alarm` and then reads `mayBeQueued`; the thread that takes the run out of the queue writes
     * `mayBeQueued` and then reads `alarm`. So at least one of them sees both writes and cancels the alarm. An alarm
     * that fires nevertheless finds that the run does not wait, and has no effect.
     */

    @Override
    final void armTimeLimit() {
        if (limit != null) {
            try {
                limitAlarm = limit.deadline().alarm(() -> onTimeout(limit));
            } catch (Throwable noAlarm) {
                end(new Outcome.Failure<>(noAlarm), true, Runnable::run);
            }
        }
    }

    @Override
    final void cancelTimeLimit() {
        if (limitAlarm != null) {
            limitAlarm.cancel();
        }
    }

    @Override
    protected void settled(Outcome<T> outcome) {
        cancelTimeLimit();
        super.settled(outcome);
    }

    /** Ends this run when its time limit has passed. Called in the time source's thread. */
    private void onTimeout(TimeLimit exceeded) {
        withdrawAndDispatch();
        end(
                exceeded.outcome(taskId(), attempts, isRunning()),
                true,
                group().owner.offloadExecutor());
        withdrawAndDispatch(); // it may have entered meanwhile
    }

    /** Leaves the queue. The runs granted by that are started on another thread, because the caller may be an alarm. */
    private void withdrawAndDispatch() {
        GrantedPermits grants = new GrantedPermits();
        if (withdraw(grants)) {
            onDequeued();
            group().owner.offloadExecutor().execute(() -> group().owner.dispatch(grants));
        }
    }

    @Override
    final void onQueued() {
        Duration longest = queueTimeout;
        if (longest != null && longest.isZero()) {
            onQueueTimeout(longest);
        } else if (longest != null && mayBeQueued) {
            try {
                alarm = time().after(longest, () -> onQueueTimeout(longest));
            } catch (Throwable noAlarm) {
                end(new Outcome.Failure<>(noAlarm), false, Runnable::run);
                withdrawAndDispatch();
            }
            if (!mayBeQueued) {
                cancelAlarm();
            }
        }
    }

    @Override
    final void onDequeued() {
        mayBeQueued = false;
        cancelAlarm();
    }

    private void cancelAlarm() {
        Alarm set = alarm;
        if (set != null) {
            set.cancel();
        }
    }

    /** Called in the time source's thread: withdraws this run here, and calls user code on another thread. */
    private void onQueueTimeout(Duration longest) {
        GrantedPermits grants = new GrantedPermits();
        if (withdraw(grants)) {
            String reason = RejectionReason.QUEUE_TIMEOUT + ": queue timeout after " + MILLISECONDS.convert(longest)
                    + " ms, " + group().load();
            group().owner.offloadExecutor().execute(() -> {
                group().owner.dispatch(grants);
                group().owner.reject(this, reason, false);
            });
        }
    }
}
