package dev.raddle.time;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** An alarm of a {@link Wheel}, and at the same time the list node in its slot. */
final class WheelAlarm implements Alarm {

    static final int FIRED = -1;
    static final int CANCELLED = -2;

    final long tick; // the first at which it may fire

    int slot = CANCELLED; // its slot, FIRED or CANCELLED; guarded by the wheel
    WheelAlarm previous = this; // guarded by the wheel
    WheelAlarm next = this; // guarded by the wheel

    private final Wheel wheel;
    // null once it has ended; guarded by the wheel, then owned by the thread that fires or cancels it
    private @Nullable Runnable action;

    WheelAlarm(Wheel wheel, long tick, Runnable action) {
        this.wheel = wheel;
        this.tick = tick;
        this.action = Objects.requireNonNull(action, "action");
    }

    @Override
    public boolean cancel() {
        return wheel.cancel(this);
    }

    /**
     * Removes and returns the action, so that the alarm does not retain it. Called once, by the firing or cancelling
     * thread.
     */
    @Nullable
    Runnable takeAction() {
        Runnable taken = action;
        action = null;
        return taken;
    }
}
