package dev.raddle.flow;

import org.jspecify.annotations.Nullable;

/** The value of one signal, and the node that waits for it. */
final class SignalBox {

    private enum State {
        EMPTY,
        CLAIMED, // a thread is recording the value
        FULL,
        TAKEN // by the node
    }

    private State state = State.EMPTY; // guarded by this
    private @Nullable Object value; // guarded by this
    private @Nullable NodeWait waiting; // guarded by this

    /** Claims the only delivery. Returns false if there was one, or another thread is making one. */
    synchronized boolean tryClaim() {
        boolean isFirst = state == State.EMPTY;
        state = isFirst ? State.CLAIMED : state;
        return isFirst;
    }

    /** Gives up the claim, because the value could not be recorded. */
    synchronized void unclaim() {
        state = State.EMPTY;
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

    /** Returns whether a value was delivered that the node has not taken. */
    synchronized boolean isFull() {
        return state == State.FULL;
    }

    synchronized @Nullable Object value() {
        return value;
    }

    /** Returns the value for the slot of the node. */
    Object slotValue() {
        Object delivered = value();
        return delivered == null ? NodeStates.NULL : delivered;
    }
}
