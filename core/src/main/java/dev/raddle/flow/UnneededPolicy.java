package dev.raddle.flow;

/** The treatment of a running node that has become unneeded. */
public enum UnneededPolicy {
    /** The node continues, and its result counts. */
    FINISH,
    /** The node is cancelled and interrupted. */
    INTERRUPT
}
