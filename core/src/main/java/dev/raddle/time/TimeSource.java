package dev.raddle.time;

import java.time.Duration;

/**
 * A clock and an alarm in one: the only way in which Raddle learns what time it is and waits for a moment.
 *
 * {@snippet :
 * Alarm alarm = time.after(Duration.ofSeconds(2), () -> gate.withdraw(permit));
 * alarm.cancel();
 * }
 *
 * <p>{@link #system()} is real time. {@link dev.raddle.testing.VirtualTime} is for tests: it passes only when told to.
 */
public interface TimeSource {

    /**
     * Returns the current value of a clock that never goes back, in nanoseconds. Only differences mean something, and only
     * in the form {@code a - b}, because the value may wrap around. That of {@link #system()} is {@link System#nanoTime()}.
     *
     * @return nanoseconds since an arbitrary origin
     */
    long nanoTime();

    /**
     * Runs an action once, when a delay has passed.
     *
     * <p>The action runs in a thread that belongs to the time source and that other alarms need: it decides something and
     * returns. It must not block and must not call foreign code.
     *
     * <p>Memory consistency effects: actions before this call <i>happen-before</i> the action.
     *
     * @param delay how long to wait; zero or less means as soon as possible; one too long for a {@code long} of nanoseconds
     *     means about 146 years
     * @param action what to do then; what it throws goes to the uncaught exception handler of its thread
     * @return the alarm, to call it off
     */
    Alarm after(Duration delay, Runnable action);

    /**
     * Takes over what an alarm's action has made necessary and must not do itself because it is user code, such as notifying
     * a listener. Real time takes nothing over. {@link dev.raddle.testing.VirtualTime} does: it runs the action in the
     * thread that advances it, before that goes on, so that all that was due has happened when {@code advance} returns.
     *
     * <p>A time source that wraps another should forward this.
     *
     * @param action what to do
     * @return true if this time source runs the action; false, unless overridden, if the caller has to
     */
    default boolean follow(Runnable action) {
        return false;
    }

    /**
     * Returns real time. It has no thread of its own: alarms ride on the delay scheduler that every JDK 25 process shares.
     *
     * <p>Its resolution is about one millisecond. An alarm never rings before its moment; on an idle machine it rings a
     * millisecond or two after it, together with those whose moments are that close. Arming and cancelling take the same
     * time however many alarms are armed, and a cancelled alarm keeps nothing alive.
     *
     * @return the system's time source, the same object at every call
     */
    static TimeSource system() {
        return SystemTime.INSTANCE;
    }
}
