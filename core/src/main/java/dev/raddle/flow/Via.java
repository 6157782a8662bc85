package dev.raddle.flow;

/** Where a node's value comes from. */
public enum Via {
    /** From its action. */
    ACTION,
    /** From its fallback, after the action had failed. The node has succeeded. */
    FALLBACK,
    /** It is the default, because the node did not succeed. */
    DEFAULT,
    /** From the journal: an earlier run had finished the node. */
    JOURNAL,
    /** There is no value. */
    NONE
}
