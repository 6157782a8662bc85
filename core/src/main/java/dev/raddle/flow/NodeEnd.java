package dev.raddle.flow;

import dev.raddle.flow.threads.NodeLinks;
import org.jspecify.annotations.Nullable;

/**
 * The end of a node, unless it is simply the value of its action.
 *
 * @param causedBy the node that caused this end, or -1
 * @param nanos the time of the end
 */
record NodeEnd(
        NodeState state,
        ValueSource via,
        @Nullable Object value,
        @Nullable Throwable cause,
        Reason reason,
        int causedBy,
        long nanos) {

    /** The reason for the end, for messages. */
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
        UNTIMED
    }

    static final int NO_NODE = NodeLinks.NO_NODE;

    boolean hasValue() {
        return via != ValueSource.NONE;
    }
}
