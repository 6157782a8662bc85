package dev.raddle.flow;

/** What becomes of a running node that nobody needs any more. */
public enum Obsolete {
    /** It goes on and keeps its result. */
    FINISH,
    /** It is cancelled and interrupted. */
    INTERRUPT
}
