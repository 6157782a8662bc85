package dev.raddle.time;

/** Separates the fields of two wheels by a cache line, against false sharing. (Inherited fields are laid out first.) */
@SuppressWarnings("unused") // the fields only take up space
abstract class Padding {
    private int p;
    private long p0, p1, p2, p3, p4, p5, p6, p7;

    Padding() {}
}
