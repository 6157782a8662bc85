package dev.raddle.group;

import dev.raddle.kernel.PendingAlarm;
import dev.raddle.kernel.TimeLimit;
import dev.raddle.task.RetryPolicy;
import dev.raddle.time.Alarm;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What distinguishes a run from a plain one: its options, its time limit, its origin, and the alarm of its queue
 * timeout, which this object is. That is disarmed when the run leaves the queue, or is granted or rejected without
 * entering it.
 */
final class RunSettings extends PendingAlarm {

    final int priority;
    final int cost;
    final @Nullable RetryPolicy retry; // null for one attempt
    final @Nullable Duration queueTimeout; // that of the spec, or else of the policy
    final @Nullable TimeLimit limit;
    final @Nullable Origin origin; // null if it was submitted to the executor
    final @Nullable ClassLoader loader; // the context class loader of the submitter
    int taken = 1; // guarded by the group
    boolean wasRetried; // whether it succeeded after more than one attempt; written and read by the runner

    private @Nullable Alarm limitAlarm; // written by the submitter before the run enters a group

    RunSettings(
            int priority,
            int cost,
            @Nullable RetryPolicy retry,
            @Nullable Duration queueTimeout,
            @Nullable TimeLimit limit,
            @Nullable Origin origin,
            @Nullable ClassLoader loader) {
        this.priority = priority;
        this.cost = cost;
        this.retry = retry;
        this.queueTimeout = queueTimeout;
        this.limit = limit;
        this.origin = origin;
        this.loader = loader;
    }

    /** Returns whether the run ends after some time even if it never starts. */
    boolean isTimeBounded() {
        return limit != null || (queueTimeout != null && !isDisarmed());
    }

    /** Arms the alarm of the time limit. */
    void armTimeLimit(TimeLimit own, Runnable onTimeout) {
        limitAlarm = own.deadline().alarm(onTimeout);
    }

    /** Disarms the alarm of the time limit, if it is armed. */
    void disarmTimeLimit() {
        if (limitAlarm != null) {
            limitAlarm.cancel();
        }
    }
}
