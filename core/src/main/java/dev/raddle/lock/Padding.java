package dev.raddle.lock;

/**
 * Separates the fields of a subclass from what is before them by a cache line, against false sharing. (Inherited fields
 * are laid out first.)
 */
@SuppressWarnings("unused") // only its size matters
public abstract class Padding {
    private int p;
    private long p0, p1, p2, p3, p4, p5, p6, p7;

    /** Creates an object whose own fields follow the padding. */
    protected Padding() {}
}
