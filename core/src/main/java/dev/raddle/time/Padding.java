package dev.raddle.time;

/** Keeps what the threads of one wheel write off the cache lines of another. (Inherited fields are laid out first.) */
@SuppressWarnings("unused") // it is there to be in between
abstract class Padding {
    private int p;
    private long p0, p1, p2, p3, p4, p5, p6, p7;

    Padding() {}
}
