package dev.raddle.group;

import dev.raddle.kernel.Gate;
import dev.raddle.kernel.GrantedPermits;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
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
     * A group has at most one alarm, in its extras; the cap has at most one, in a reference. Each is armed after the
     * lock was released. An alarm that fires when it is no longer in its place was replaced, and has no effect.
     */

    private final GroupEngine engine;
    private final Set<Group> unarmed = ConcurrentHashMap.newKeySet(); // their alarms could not be armed
    private volatile boolean hasUnarmed; // whether an alarm of a group or of the cap could not be armed
    private final AtomicReference<@Nullable GroupAlarm> ofCap = new AtomicReference<>();

    GroupAlarms(GroupEngine engine) {
        this.engine = engine;
    }

    /** Lets throttled groups proceed, or arms their alarms. Returns true if tasks may have been granted. */
    boolean proceedOrArm(GrantedPermits grants) {
        boolean more = false;
        for (Gate gate; (gate = grants.pollThrottled()) != null; ) {
            more |= proceedOrArm((Group) gate, grants);
        }
        return more;
    }

    /** As above, for one group. */
    void proceedOrArm(Group group) {
        GrantedPermits grants = new GrantedPermits();
        proceedOrArm(group, grants);
        engine.dispatch(grants);
    }

    private boolean proceedOrArm(Group group, GrantedPermits grants) {
        return arm(group, group.proceedOrAlarm(null, grants));
    }

    /** Arms an alarm of a group; returns true if there is none, so that tasks may have been granted. */
    private boolean arm(Group group, @Nullable GroupAlarm alarm) {
        if (alarm == null) {
            return true;
        }
        try {
            alarm.arm(engine.time, () -> dispatchOffloaded(grants -> arm(group, group.proceedOrAlarm(alarm, grants))));
        } catch (Throwable noTime) {
            group.forget(alarm);
            unarmed.add(group);
            reportUnarmed(noTime);
        }
        return false;
    }

    /** The caller has other tasks to start or to settle. The next task that waits has the alarm armed. */
    private void reportUnarmed(Throwable noTime) {
        hasUnarmed = true;
        engine.sink.report("alarm for tasks that wait for a rate or the end of a hold", noTime);
    }

    /** Arms the alarms that could not be armed before. */
    void armAgain() {
        if (hasUnarmed) {
            hasUnarmed = false;
            for (Group group : List.copyOf(unarmed)) { // it may fail again
                unarmed.remove(group);
                proceedOrArm(group);
            }
            if (engine.cap.isThrottled()) {
                armCap();
            }
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
            next = new GroupAlarm(moment, pending);
        } while (!ofCap.compareAndSet(pending, next));
        GroupAlarm armed = next;
        try {
            armed.arm(engine.time, () -> onCapAlarm(armed));
        } catch (Throwable noTime) {
            ofCap.compareAndSet(armed, null);
            reportUnarmed(noTime);
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
        engine.offloadExecutor.execute(() -> {
            GrantedPermits grants = new GrantedPermits();
            decision.accept(grants);
            engine.dispatch(grants);
        });
    }

    /** Keeps tasks of a group from starting for some time, and returns as {@link Group#hold} does. */
    @Nullable
    Duration hold(Group group, Duration length) {
        if (length.isZero()) { // an alarm that is due at once would still fire too late for a task that does not wait
            return null;
        }
        Duration before = group.hold(length);
        proceedOrArm(group); // the cap may have kept slots for this group
        return before;
    }

    /** Disarms the alarm of a group that was retired. */
    void disarm(Group group) {
        disarm(group.takeAlarm());
        if (hasUnarmed) {
            unarmed.remove(group);
        }
    }

    /** Returns the moment of the pending alarm of the cap, if there is one. */
    OptionalLong capAlarmAt() {
        GroupAlarm pending = ofCap.get();
        return pending == null ? OptionalLong.empty() : OptionalLong.of(pending.moment);
    }

    void disarmCap() {
        disarm(ofCap.getAndSet(null));
    }

    private static void disarm(@Nullable GroupAlarm alarm) {
        if (alarm != null) {
            alarm.disarm();
        }
    }
}
