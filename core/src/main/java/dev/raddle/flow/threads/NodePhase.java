package dev.raddle.flow.threads;

import dev.raddle.time.Signal;
import org.jspecify.annotations.Nullable;

/**
 * The content of a node's slot before the node has ended: a {@link Plain} phase, {@link Beginning}, {@link Recording},
 * a {@link Runner}, a {@link Withdrawable} or a {@link NestedRun}. A value is never a phase.
 */
public interface NodePhase {

    /** Phases without further data. */
    enum Plain implements NodePhase {
        /** The node is triggered, and the choice among its upstreams is made. It has not begun. */
        READY,
        /** The thread inside the node is being interrupted; the end of the node follows. */
        INTERRUPTING,
        /** The end of the node is recorded, and takes effect after those that were recorded before. */
        RECORDED,
        /** The node has ended, and its default is being computed. */
        ENDING
    }

    /** A runner is calling the node's begin callback. It sets the signal before it enters the action. */
    record Beginning(Signal over) implements NodePhase {}

    /**
     * A thread is recording the end of the node, or the signal that it waits for, in the journal. Nothing but the loss
     * of the run ends the node meanwhile. Compared by identity.
     *
     * @param before the content of the slot before, null for a node that had not begun
     */
    record Recording(@Nullable NodePhase before) implements NodePhase {}

    /** Returns whether a node in this phase waits without a thread. */
    default boolean isWaiting() {
        return false;
    }
}
