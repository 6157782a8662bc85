package dev.raddle.flow;

/** A phase of a node that has no thread, which the thread that ends the node from outside takes back. */
interface Withdrawable extends NodePhase {

    /** Called after the node was ended in this phase. */
    void withdraw();
}
