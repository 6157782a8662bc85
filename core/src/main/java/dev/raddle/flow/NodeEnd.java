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
        UNTIMED;

        /**
         * Returns whether this is a reason of the node's own, which a journal records. The others follow from another
         * node, or from the end or the selection of the run.
         */
        boolean isOwn() {
            return this == ACTION || this == CONDITION || this == OUT_OF_TIME || this == PLACING || this == UNTIMED;
        }
    }

    /**
     * Why a node ends without success.
     *
     * @param causedBy the node that causes this, or -1
     */
    record Verdict(NodeState state, @Nullable Throwable cause, Reason reason, int causedBy) {

        Verdict(NodeState state, @Nullable Throwable cause, Reason reason) {
            this(state, cause, reason, NO_NODE);
        }

        static Verdict failed(Throwable cause, Reason reason) {
            return new Verdict(NodeState.FAILED, cause, reason);
        }

        static Verdict outOfTime(Throwable cause) {
            return new Verdict(NodeState.TIMED_OUT, cause, Reason.OUT_OF_TIME);
        }

        NodeEnd end(ValueSource via, @Nullable Object value, long nanos) {
            return new NodeEnd(state, via, value, cause, reason, causedBy, nanos);
        }
    }

    static final int NO_NODE = NodeLinks.NO_NODE;

    /** Returns the end of a node with the value of its fallback. */
    static NodeEnd recovered(@Nullable Object value, Throwable failure, long nanos) {
        return new NodeEnd(NodeState.SUCCESS, ValueSource.FALLBACK, value, failure, Reason.ACTION, NO_NODE, nanos);
    }
}
