package dev.raddle.flow;

import org.jspecify.annotations.Nullable;

/**
 * How a node has ended, if not simply with the value of its action.
 *
 * @param from the node that this is due to, or -1
 * @param nanos when it was decided
 */
record Settled(
        NodeState state,
        Via via,
        @Nullable Object value,
        @Nullable Throwable cause,
        Reason reason,
        int from,
        long nanos) {

    /** Why, for people. */
    enum Reason {
        ACTION,
        UPSTREAM,
        CHOICE,
        UNNEEDED,
        OBSOLETE,
        CONDITION,
        NOT_WANTED,
        OUT_OF_TIME,
        RUN_ENDED,
        PLACING,
        UNTIMED,
        RESTORED
    }

    static final int NOBODY = -1;

    boolean hasValue() {
        return via != Via.NONE;
    }
}
