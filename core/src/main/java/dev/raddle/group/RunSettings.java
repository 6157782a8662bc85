package dev.raddle.group;

import dev.raddle.kernel.Attempts;
import dev.raddle.kernel.TimeLimit;
import dev.raddle.task.RetryPolicy;
import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What distinguishes a run from a plain one: its options, its time limit, its alarms and its placement. */
final class RunSettings {

    final int priority;
    final int cost;
    final @Nullable RetryPolicy retry; // null for one attempt
    final @Nullable Duration queueTimeout; // that of the spec, or else of the policy
    final @Nullable TimeLimit limit;
    final @Nullable Placement placement; // null on a thread of the group's scheduler
    int taken = 1; // guarded by the group
    volatile @Nullable Attempts<?> attempts; // null outside of the callable, and if one attempt is allowed

    volatile boolean wasRetried; // whether more than one attempt was made, so that the run time includes delays

    private volatile boolean mayBeQueued = true; // false once the run has left the queue, or never entered it
    private volatile @Nullable Alarm queueAlarm;
    private @Nullable Alarm limitAlarm; // written by the submitter before the run enters a group

    RunSettings(
            int priority,
            int cost,
            @Nullable RetryPolicy retry,
            @Nullable Duration queueTimeout,
            @Nullable TimeLimit limit,
            @Nullable Placement placement) {
        this.priority = priority;
        this.cost = cost;
        this.retry = retry;
        this.queueTimeout = queueTimeout;
        this.limit = limit;
        this.placement = placement;
    }

    /** Returns whether the run ends after some time even if it never starts. */
    boolean isTimeBounded() {
        return limit != null || (queueTimeout != null && mayBeQueued);
    }

    /** Arms the alarm of the time limit. */
    void armTimeLimit(TimeLimit own, Runnable onTimeout) {
        limitAlarm = own.deadline().alarm(onTimeout);
    }

    /** Cancels the alarm of the time limit, if it is armed. */
    void cancelTimeLimit() {
        if (limitAlarm != null) {
            limitAlarm.cancel();
        }
    }

    /*
     * The submitter arms the alarm of the queue timeout after the run has entered the queue, when the run may have left
     * it again. The submitter writes `queueAlarm` and then reads `mayBeQueued`; the thread that takes the run out of
     * the queue writes `mayBeQueued` and then reads `queueAlarm`. So at least one of them sees both writes and cancels
     * the alarm. An alarm that fires nevertheless finds that the run does not wait, and has no effect.
     */

    /** Arms the alarm of the queue timeout, unless the run has left the queue. */
    void armQueueTimeout(Duration longest, TimeSource time, Runnable onTimeout) {
        if (mayBeQueued) {
            queueAlarm = time.after(longest, onTimeout);
            if (!mayBeQueued) {
                cancelQueueTimeout();
            }
        }
    }

    /** Records that the run has left the queue, or was granted or rejected without entering it. */
    void leaveQueue() {
        mayBeQueued = false;
        cancelQueueTimeout();
    }

    private void cancelQueueTimeout() {
        Alarm set = queueAlarm;
        if (set != null) {
            set.cancel();
        }
    }
}
