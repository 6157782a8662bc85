package dev.raddle.flow;

import dev.raddle.time.Signal;

/** The content of a node's slot before the node has ended. A value is never a phase. */
sealed interface NodePhase permits NodePhase.Plain, NodePhase.Beginning, NodePhase.Nested, GroupPlacement, Runner {

    /** Phases without further data. */
    enum Plain implements NodePhase {
        /** The node is triggered, and the choice among its upstreams is made. It has not begun. */
        READY,
        /** The thread inside the node is being interrupted; the end of the node follows. */
        INTERRUPTING,
        /** The node has ended, and its default is being computed. */
        ENDING
    }

    /** The runner is calling the node's begin callback. The signal is set when it continues with the action. */
    record Beginning(Runner runner, Signal over) implements NodePhase {}

    /** The node is a nested run that began at the given time and uses no thread of this run. */
    record Nested(Engine run, long began) implements NodePhase {}
}
