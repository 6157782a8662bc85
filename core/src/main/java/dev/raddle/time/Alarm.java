package dev.raddle.time;

/** Something that will happen at one moment, unless it is cancelled before. Got from {@link TimeSource#after}. */
@FunctionalInterface
public interface Alarm {

    /**
     * Calls the alarm off. May be called by any thread, any number of times.
     *
     * @return true if the action will never run; false if it has begun or has run
     */
    boolean cancel();
}
