package dev.raddle.time;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** An alarm on a {@link Wheel}: what its maker calls off, and the node of the list that it is in, in one object. */
final class WheelAlarm implements Alarm {

    static final int RUNG = -1;
    static final int CANCELLED = -2;

    final long tick; // the first at which it may ring

    int slot = CANCELLED; // where it is listed, or how it ended; guarded by the wheel
    WheelAlarm previous = this; // guarded by the wheel
    WheelAlarm next = this; // guarded by the wheel

    private final Wheel wheel;
    private @Nullable Runnable action; // null once it has ended; guarded by the wheel, then owned by who ended it

    WheelAlarm(Wheel wheel, long tick, Runnable action) {
        this.wheel = wheel;
        this.tick = tick;
        this.action = Objects.requireNonNull(action, "action");
    }

    @Override
    public boolean cancel() {
        return wheel.cancel(this);
    }

    /** Gives the action away, so that whoever keeps the alarm does not keep it. Called once, by the one who ended it. */
    @Nullable
    Runnable takeAction() {
        Runnable taken = action;
        action = null;
        return taken;
    }
}
