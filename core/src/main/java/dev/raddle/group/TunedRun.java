package dev.raddle.group;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import dev.raddle.limit.Grants;
import dev.raddle.task.TaskSpec;
import dev.raddle.time.Alarm;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A run with a priority, a cost or a queue timeout of its own. */
class TunedRun<T> extends GroupRun<T> {

    private final int priority;
    private final int cost;
    private final @Nullable Duration queueTimeout;
    private int taken = 1; // guarded by the group
    private volatile @Nullable Alarm alarm;
    private volatile boolean waits = true; // false once it has left the queue, or never entered it

    TunedRun(TaskSpec<T> spec, long submitNanos) {
        super(spec.name(), spec.callable(), submitNanos);
        this.priority = spec.priority();
        this.cost = spec.cost();
        this.queueTimeout = spec.queueTimeout();
    }

    @Override
    protected final int cost() {
        return cost;
    }

    @Override
    protected final int priority() {
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
    final void waitsInQueue() {
        Duration longest = queueTimeout;
        if (longest != null && longest.isZero()) {
            timedOut(longest);
        } else if (longest != null && waits) {
            alarm = time().after(longest, () -> timedOut(longest));
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
        Grants grants = new Grants();
        if (group().withdraw(this, grants)) {
            String reason = RejectionReason.QUEUE_TIMEOUT + ": queue timeout after " + MILLISECONDS.convert(longest)
                    + " ms, " + group().load();
            group().owner.elsewhere(() -> {
                group().owner.dispatch(grants);
                group().owner.reject(this, reason, false);
            });
        }
    }
}
