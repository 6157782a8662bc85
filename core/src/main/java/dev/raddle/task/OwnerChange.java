package dev.raddle.task;

import org.jspecify.annotations.Nullable;

/**
 * A change of what an owner of tasks, such as a group, allows them. Values are texts for people.
 *
 * @param owner the name of the owner, as in {@link TaskIdentity#owner}; null if the change is one of all owners
 * @param kind what was changed
 * @param isAdaptive whether it was changed by itself; otherwise by a call of the program
 * @param before the value before the change, or null if it is unknown or there was none
 * @param after the value after the change, or null if there is none
 */
public record OwnerChange(
        @Nullable String owner,
        Kind kind,
        boolean isAdaptive,
        @Nullable String before,
        @Nullable String after) {

    /** What can be changed. */
    public enum Kind {
        /** The number of tasks that may run at once. */
        LIMIT,
        /** The number of tasks that may start per time. */
        RATE,
        /** The weight at a cap. */
        WEIGHT,
        /** A time in which nothing starts. */
        HOLD,
        /** The state of a circuit breaker. */
        BREAKER,
        /** A pause, or its end. */
        PAUSE,
        /**
         * The rejection of all tasks that wait, with which the limits are forgotten; also when a group is shut down.
         */
        EVICTION
    }
}
