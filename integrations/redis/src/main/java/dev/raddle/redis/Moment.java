package dev.raddle.redis;

/**
 * A moment of a time source at which something is due, or {@link #NONE}.
 *
 * @param isSet whether there is one
 * @param nanos the moment
 */
record Moment(boolean isSet, long nanos) {

    static final Moment NONE = new Moment(false, 0);

    static Moment at(long nanos) {
        return new Moment(true, nanos);
    }

    /** Returns the earlier of this moment and another one. */
    Moment orEarlier(long other) {
        return isSet && other - nanos >= 0 ? this : at(other);
    }

    /** Returns whether there is a moment, and it has come. */
    boolean isReached(long now) {
        return isSet && now - nanos >= 0;
    }

    /** Returns whether there is a moment, and it has not come. */
    boolean isAhead(long now) {
        return isSet && now - nanos < 0;
    }

    /** Returns the time until this moment, or the longest time if there is none. */
    long until(long now) {
        return isSet ? nanos - now : Long.MAX_VALUE;
    }
}
