package dev.raddle.group;

import dev.raddle.kernel.Gate;
import dev.raddle.kernel.GrantedPermits;
import dev.raddle.kernel.StackRoom;
import dev.raddle.task.Scheduler;
import dev.raddle.time.Deadline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The alarms of a {@link GroupEngine} for tasks that wait for a rate or for the end of a hold. */
final class GroupAlarms {

    /*
     * Overview.
     *
     * A group has at most one alarm of each kind, in a map that is changed under the group's lock; the cap has at most
     * one, in a reference. Each is armed after the lock was released. An alarm that fires when it is no longer in its
     * place was replaced, and has no effect.
     *
     * Tasks wait for these alarms, so a failure must not lose one. If an alarm cannot be armed, the tasks that would
     * wait for it are ended, and a hold that would not end is undone. If what an alarm does fails, for example because
     * the heap is exhausted, it is repeated on a new thread.
     */

    /** The pending alarms of groups whose first task waits for the rate; changed under the group's lock. */
    final ConcurrentHashMap<Group, GroupAlarm> throttles = new ConcurrentHashMap<>();

    /** The ends of the holds of groups; changed under the group's lock. */
    final ConcurrentHashMap<Group, GroupAlarm> holds = new ConcurrentHashMap<>();

    private final GroupEngine engine;
    private final AtomicReference<@Nullable GroupAlarm> ofCap = new AtomicReference<>();

    GroupAlarms(GroupEngine engine) {
        this.engine = engine;
    }

    /** Lets throttled groups proceed, or arms their alarms. Returns true if tasks may have been granted. */
    boolean proceedOrArm(GrantedPermits grants) {
        boolean more = false;
        for (Gate gate; (gate = grants.peekThrottled()) != null; ) {
            grants.removeThrottled();
            more |= proceedOrArm((Group) gate, grants);
        }
        return more;
    }

    /** As above, for one group. */
    void proceedOrArm(Group group) {
        GrantedPermits grants = new GrantedPermits();
        try {
            proceedOrArm(group, grants);
        } finally {
            engine.dispatch(grants);
        }
    }

    private boolean proceedOrArm(Group group, GrantedPermits grants) {
        try {
            StackRoom.ensureForSections();
            GroupAlarm alarm = group.throttle(engine.time.nanoTime(), grants);
            if (alarm == null) {
                return true;
            }
            armThrottle(group, alarm);
            return false;
        } catch (Throwable failure) { // tasks wait for the alarm
            Scheduler.virtualThreads().execute(() -> proceedOrArm(group));
            throw failure;
        }
    }

    private void armThrottle(Group group, GroupAlarm alarm) {
        try {
            alarm.arm(
                    engine.time,
                    () -> dispatchOffloaded(grants -> group.endThrottle(alarm, engine.time.nanoTime(), grants)));
        } catch (Throwable noAlarm) {
            throttles.remove(group, alarm);
            abortWaiting(List.of(group), noAlarm);
        }
    }

    /** Drains all queues before it ends the first run, because each end lets the cap serve the others. */
    private static void abortWaiting(Collection<Group> throttled, Throwable noAlarm) {
        ArrayList<GroupRun<?>> waited = new ArrayList<>();
        try {
            throttled.forEach(group -> group.drainWaiting(waited));
        } finally {
            waited.forEach(run -> GroupEngine.abort(run, noAlarm));
        }
    }

    /** Arms the alarm of the throttled cap, unless an earlier one is armed. */
    void armCap() {
        armCap(engine.cap::allowedAt);
    }

    /**
     * As above. The moment is read after the pending alarm, and again if that has been replaced, because another thread
     * may have found a later moment: that of a permit which was the first in the line before or after this one.
     */
    void armCap(LongSupplier allowedAt) {
        GroupAlarm next;
        GroupAlarm pending;
        do {
            pending = ofCap.get();
            long moment = allowedAt.getAsLong();
            if (pending != null && pending.moment - moment <= 0) {
                return;
            }
            next = new GroupAlarm(null, moment, pending);
        } while (!ofCap.compareAndSet(pending, next));
        armCap(next);
    }

    private void armCap(GroupAlarm next) {
        try {
            next.arm(engine.time, () -> onCapAlarm(next));
        } catch (Throwable noAlarm) {
            ofCap.compareAndSet(next, null);
            engine.cap.resume();
            abortWaiting(engine.groups.values(), noAlarm);
        }
    }

    private void onCapAlarm(GroupAlarm alarm) {
        if (ofCap.compareAndSet(alarm, null)) { // first, so that an alarm is armed if the cap is throttled again
            engine.cap.resume();
            dispatchOffloaded(grants -> {});
        }
    }

    /** Makes a decision and starts the granted runs, on another thread because the caller is an alarm. */
    private void dispatchOffloaded(Consumer<GrantedPermits> decision) {
        Runnable action = () -> decideAndDispatch(decision);
        try {
            engine.offloadExecutor.execute(action);
        } catch (Throwable failure) { // tasks wait for the decision
            Scheduler.virtualThreads().execute(action);
            throw failure;
        }
    }

    private void decideAndDispatch(Consumer<GrantedPermits> decision) {
        GrantedPermits grants = new GrantedPermits();
        try {
            StackRoom.ensureForSections();
            decision.accept(grants);
        } catch (Throwable failure) { // for example, the heap is exhausted; the decision has had no effect
            Scheduler.virtualThreads().execute(() -> decideAndDispatch(decision));
            throw failure;
        } finally {
            engine.dispatch(grants);
        }
    }

    /** Keeps tasks of a group from starting for some time, unless the group is retired. */
    void hold(Group group, Duration length) {
        if (length.isZero()) {
            return; // an alarm that is due at once would still fire too late for a task that does not wait
        }
        GroupAlarm alarm = group.hold(engine.time.nanoTime() + Deadline.nanos(length));
        if (alarm != null) {
            armHold(group, alarm);
            engine.dispatch(new GrantedPermits()); // the cap may have kept slots for this group
        }
    }

    private void armHold(Group group, GroupAlarm alarm) {
        try {
            alarm.arm(engine.time, () -> dispatchOffloaded(grants -> endHold(group, alarm, grants)));
        } catch (Throwable noAlarm) {
            dispatchOffloaded(grants -> group.undoHold(alarm, engine.time.nanoTime(), grants));
            throw noAlarm;
        }
    }

    private void endHold(Group group, GroupAlarm alarm, GrantedPermits grants) {
        GroupAlarm rest = group.endHold(alarm, engine.time.nanoTime(), grants);
        if (rest != null) {
            armHold(group, rest);
        }
    }

    /** Cancels the alarms of a group that was retired. */
    void cancel(Group group) {
        if (!throttles.isEmpty() || !holds.isEmpty()) {
            cancel(throttles.remove(group));
            cancel(holds.remove(group));
        }
    }

    /** Returns the moment of the pending alarm of the cap, if there is one. */
    OptionalLong capAlarmAt() {
        GroupAlarm pending = ofCap.get();
        return pending == null ? OptionalLong.empty() : OptionalLong.of(pending.moment);
    }

    void cancelOfCap() {
        cancel(ofCap.getAndSet(null));
    }

    private static void cancel(@Nullable GroupAlarm alarm) {
        if (alarm != null) {
            alarm.cancel();
        }
    }
}
