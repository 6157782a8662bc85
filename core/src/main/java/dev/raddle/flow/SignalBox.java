package dev.raddle.flow;

import dev.raddle.flow.NodeWaits.NodeWait;
import org.jspecify.annotations.Nullable;

/** The value of one signal, and the node that waits for it. */
final class SignalBox {

    /*
     * Overview.
     *
     * EMPTY ──► CLAIMED ──► FULL ──► TAKEN
     *   │          └───────────────────▲
     *   └─────► CLOSED
     *
     * A delivery and the timeout of the node compete for the state EMPTY, so exactly one of them succeeds, whether or
     * not the node has been reached. A delivery that has claimed the box wins over a timeout that passes later, also
     * while the value is being recorded. If the record fails, the box is EMPTY again, and the claiming thread repeats
     * the timeout that has passed meanwhile (`timeout`). A skip and the end of the run do not look at the box; they
     * compete with the delivery for the slot of the node (Signals).
     */

    private enum State {
        EMPTY,
        CLAIMED, // a thread is recording the value
        FULL,
        TAKEN, // by the node
        CLOSED // no delivery has an effect
    }

    private State state = State.EMPTY; // guarded by this
    private @Nullable Object value; // guarded by this
    private @Nullable NodeWait waiting; // guarded by this
    private @Nullable Runnable timeout; // one that has passed in the state CLAIMED; guarded by this

    /** Claims the only delivery. Returns false if there was one, or another thread is making one. */
    synchronized boolean tryClaim() {
        boolean isFirst = state == State.EMPTY;
        state = isFirst ? State.CLAIMED : state;
        return isFirst;
    }

    /**
     * Gives up the claim, because the value could not be recorded.
     *
     * @return the timeout that has passed meanwhile, which the caller must repeat, or null
     */
    synchronized @Nullable Runnable unclaim() {
        state = State.EMPTY;
        return timeout;
    }

    /** Gives up the claim, because the node has ended. */
    synchronized void close() {
        state = State.CLOSED;
    }

    /**
     * Closes the box, because the time of the node is over. Returns false if a value was delivered or is being
     * delivered.
     *
     * @param again the timeout, to be repeated if the delivery fails
     */
    synchronized boolean tryClose(Runnable again) {
        if (state == State.CLAIMED) {
            timeout = again;
        } else if (state == State.EMPTY) {
            state = State.CLOSED;
        }
        return state == State.CLOSED;
    }

    /** Returns the node that waits, or null if it has not been reached. */
    synchronized @Nullable NodeWait waiting() {
        return waiting;
    }

    /** Fills the box. Returns the node that waits, which the caller must end, or null if the value is kept. */
    synchronized @Nullable NodeWait fill(@Nullable Object delivered) {
        value = delivered;
        state = waiting == null ? State.FULL : State.TAKEN;
        return waiting;
    }

    /** Sets the node that waits. Returns true if the value is there, and this node must take it. */
    synchronized boolean await(NodeWait wait) {
        waiting = wait;
        boolean isFull = state == State.FULL;
        state = isFull ? State.TAKEN : state;
        return isFull;
    }

    /** Returns whether the node has taken the value, or is about to. */
    synchronized boolean isTaken() {
        return state == State.TAKEN;
    }

    /** Returns the value for the slot of the node. */
    synchronized Object slotValue() {
        return value == null ? NodeStates.NULL : value;
    }
}
