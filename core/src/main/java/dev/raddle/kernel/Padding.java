package dev.raddle.kernel;

/** Keeps what one thread writes all the time off the cache line of what every thread reads all the time. */
@SuppressWarnings("unused") // it is there to be in between
abstract class Padding {
    private int p;
    private long p0, p1, p2, p3, p4, p5, p6, p7;

    Padding() {}
}
