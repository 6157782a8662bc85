package dev.raddle.flow;

/** The source of a node's value. */
public enum ValueSource {
    /** The action. */
    ACTION,
    /** The fallback, after the action had failed. The node has succeeded. */
    FALLBACK,
    /** The default, because the node did not succeed. */
    DEFAULT,
    /** The journal: an earlier run had finished the node. */
    JOURNAL,
    /** There is no value. */
    NONE
}
