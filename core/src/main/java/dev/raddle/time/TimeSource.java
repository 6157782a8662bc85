package dev.raddle.time;

import java.time.Duration;
import java.time.Instant;

/**
 * A clock with alarms. Raddle reads the time and waits for a moment only through a time source.
 *
 * {@snippet :
 * Alarm alarm = time.after(Duration.ofSeconds(2), () -> gate.withdraw(permit));
 * alarm.cancel();
 * }
 *
 * <p>{@link #system()} is real time. {@link dev.raddle.testing.VirtualTime} is for tests: it passes only when the test
 * advances it. The methods of a time source must not throw.
 */
public interface TimeSource {

    /**
     * Returns the current value of a clock that never goes back, in nanoseconds. Only differences between two values
     * are meaningful, computed as {@code a - b}, because the value may wrap around. The clock of {@link #system()} is
     * {@link System#nanoTime()}.
     *
     * @return nanoseconds since an arbitrary origin
     */
    long nanoTime();

    /**
     * Runs an action once, after a delay.
     *
     * <p>The action runs in a thread that belongs to the time source and that other alarms need. It should change some
     * state and return. It must not block and must not call user code.
     *
     * <p>Memory consistency effects: actions before this call <i>happen-before</i> the action.
     *
     * @param delay the time to wait; zero or less means as soon as possible; if it is too long for a {@code long} of
     *     nanoseconds, about 146 years
     * @param action the action; an exception from it goes to the uncaught exception handler of its thread
     * @return the alarm, which can cancel the action
     */
    Alarm after(Duration delay, Runnable action);

    /**
     * Takes over a follow-up of an alarm's action. An alarm's action must not call user code, such as a listener; it
     * passes such a call to this method, or to another thread if this method returns false. Real time takes nothing
     * over. {@link dev.raddle.testing.VirtualTime} does: it runs the follow-up in the thread that advances it, before
     * the next alarm, so that everything that was due has happened when {@code advance} returns.
     *
     * <p>A time source that wraps another should forward this.
     *
     * @param action the follow-up to run
     * @return true if this time source runs the action; false if the caller must run it, which is the default
     */
    default boolean follow(Runnable action) {
        return false;
    }

    /**
     * Returns whether this time passes only when a test says so. If it is not virtual, and jumps far ahead between two
     * alarms, Raddle takes the jump for a time in which the process was stopped: no task is charged for it.
     *
     * <p>A time source that wraps another should forward this.
     *
     * @return true for {@link dev.raddle.testing.VirtualTime}; by default false
     */
    default boolean isVirtual() {
        return false;
    }

    /**
     * Returns the current moment on the wall clock, for moments that are compared in several processes. The wall clock
     * may be set, so lengths of time are measured with {@link #nanoTime}.
     *
     * @return the moment; by default that of the system's clock
     */
    default Instant instant() {
        return Instant.now();
    }

    /**
     * Returns real time. Its alarms fire on a daemon thread of their own, of which a JVM has at most one. That thread
     * is running while an alarm is armed or an executor or pool is open, and ends some seconds later. A method that
     * arms an alarm throws the {@link OutOfMemoryError} of {@link Thread#start} if it must start the thread and cannot.
     *
     * <p>Its resolution is about one millisecond. An alarm never fires before its moment; on an idle machine it fires a
     * millisecond or two after it, together with others whose moments are that close. Arming and cancelling take
     * constant time, and a cancelled alarm does not retain its action.
     *
     * @return the system's time source, always the same object
     */
    static TimeSource system() {
        return SystemTime.INSTANCE;
    }
}
