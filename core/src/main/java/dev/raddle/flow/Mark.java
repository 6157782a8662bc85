package dev.raddle.flow;

import dev.raddle.time.Signal;

/** What stands in a node's slot before it has ended. A value never is one. */
sealed interface Mark permits Mark.Plain, Mark.Beginning, Mark.Nested, Handoff, Runner {

    /** Marks that say no more than their names. */
    enum Plain implements Mark {
        /** All that it waited for is there, and the choice among its upstreams is made. It has not begun. */
        READY,
        /** Its thread is being interrupted; its end follows. */
        INTERRUPTING,
        /** It has ended, and its default is being found out. */
        ENDING
    }

    /** A runner is calling the node's begin callback. The signal is set when it goes on to the action. */
    record Beginning(Runner runner, Signal over) implements Mark {}

    /** The node is a run of its own, which began at some moment and goes on without a thread of this one. */
    record Nested(Engine run, long began) implements Mark {}
}
