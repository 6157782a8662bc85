package dev.raddle.time;

/**
 * A pending action that runs once at a given moment unless it is cancelled first. Created by {@link TimeSource#after}.
 */
@FunctionalInterface
public interface Alarm {

    /**
     * Cancels this alarm. May be called by any thread, any number of times.
     *
     * @return true if the action will never run; false if it has begun or has run
     */
    boolean cancel();
}
