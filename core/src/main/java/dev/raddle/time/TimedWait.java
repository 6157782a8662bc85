package dev.raddle.time;

import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The wait of one thread that must end at a deadline. In real time the thread parks with a time limit, so it depends on
 * no other thread, and a thread dump shows it as TIMED_WAITING. With any other time source an alarm wakes it.
 *
 * {@snippet :
 * TimedWait wait = new TimedWait(deadline, () -> {});
 * try {
 *     while (!isDone && !wait.isExpired()) {
 *         TimedWait.park(wait, this);
 *     }
 * } finally {
 *     wait.end();
 * }
 * }
 */
public final class TimedWait {

    private final Deadline deadline;
    private final Runnable onExpiry;
    private final @Nullable Alarm alarm; // null in real time
    private volatile boolean expired;

    /**
     * Begins a wait of the calling thread.
     *
     * @param deadline the deadline
     * @param onExpiry the action to run once when the wait expires: in this thread by {@link #park} in real time,
     *     otherwise in a thread of the time source; it must neither block nor call user code
     */
    public TimedWait(Deadline deadline, Runnable onExpiry) {
        this.deadline = deadline;
        this.onExpiry = onExpiry;
        expired = deadline.hasPassed();
        Thread waiter = Thread.currentThread();
        alarm = deadline.time() == TimeSource.system()
                ? null
                : deadline.alarm(() -> {
                    expire();
                    LockSupport.unpark(waiter);
                });
    }

    private void expire() {
        expired = true;
        onExpiry.run();
    }

    /**
     * Returns whether this wait has expired. In real time that is checked at its begin and by {@link #park}.
     *
     * @return true once the deadline has passed
     */
    public boolean isExpired() {
        return expired;
    }

    /**
     * Parks the calling thread until it is unparked, interrupted or its deadline passes. Like {@link LockSupport#park},
     * this may return for no reason, so the caller checks its condition again.
     *
     * @param wait the wait of the calling thread, or null if it has no deadline
     * @param blocker the object for which the thread waits
     */
    public static void park(@Nullable TimedWait wait, Object blocker) {
        if (wait == null || wait.alarm != null) {
            LockSupport.park(blocker);
            return;
        }
        long left = wait.deadline.nanoTime() - System.nanoTime();
        if (left > 0) {
            LockSupport.parkNanos(blocker, left);
        } else {
            wait.expire();
        }
    }

    /** Ends this wait. Called once, by its thread. */
    public void end() {
        if (alarm != null) {
            alarm.cancel();
        }
    }
}
