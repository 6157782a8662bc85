package dev.raddle.kernel;

import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** An alarm that one thread arms and another disarms, in either order. */
public class PendingAlarm {

    /*
     * The thread that arms the alarm writes `alarm` and then reads `disarmed`; the one that disarms it writes
     * `disarmed` and then reads `alarm`. So at least one of them sees both writes and cancels the alarm. It may have
     * fired nevertheless: its action checks that it is still needed.
     */
    private volatile @Nullable Alarm alarm;
    private volatile boolean disarmed;

    /** Creates an alarm that is not armed. */
    public PendingAlarm() {}

    /**
     * Arms this alarm, unless it was disarmed. Called once.
     *
     * @param time the time source
     * @param delay the time until the alarm fires
     * @param action the action, which runs in the time source's thread
     */
    public final void arm(TimeSource time, Duration delay, Runnable action) {
        if (!disarmed) {
            alarm = time.after(delay, action);
            if (disarmed) {
                disarm();
            }
        }
    }

    /** Cancels this alarm if it is armed, and keeps it from being armed later. */
    public final void disarm() {
        disarmed = true;
        Alarm armed = alarm;
        if (armed != null) {
            armed.cancel();
        }
    }

    /**
     * Returns whether this alarm was disarmed.
     *
     * @return true from the first call of {@link #disarm()} on
     */
    protected final boolean isDisarmed() {
        return disarmed;
    }
}
