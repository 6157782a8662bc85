package dev.raddle.kernel;

import dev.raddle.lock.TimerThread;
import dev.raddle.time.TimeSource;

/**
 * Starts the thread that fires the alarms of real time where an executor, pool, scope or run is constructed. So if no
 * thread can be started, the user's call throws before it has an effect. Other time sources need no thread.
 */
public final class TimerUse {

    static {
        StackRoom.ensure(); // initializes that class, too: at the end of a stack this would fail, for good
    }

    private TimerUse() {}

    /**
     * Ensures that the thread is running. It may end some seconds later if no alarm is armed by then.
     *
     * @param time the time source of a scope or run
     */
    public static void begin(TimeSource time) {
        if (time == TimeSource.system()) {
            TimerThread.SHARED.start();
        }
    }

    /**
     * Starts the thread, and keeps it until {@link #release} has been called as often as this method.
     *
     * @param time the time source of an executor or pool
     */
    public static void retain(TimeSource time) {
        if (time == TimeSource.system()) {
            TimerThread.SHARED.retain();
        }
    }

    /**
     * Ends the effect of one call of {@link #retain}.
     *
     * @param time the same time source
     */
    public static void release(TimeSource time) {
        if (time == TimeSource.system()) {
            TimerThread.SHARED.release();
        }
    }
}
