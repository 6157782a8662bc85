package dev.raddle.kernel;

/** Separates fields that one thread writes often from the cache line of fields that other threads read often. */
@SuppressWarnings("unused") // only its size matters
abstract class Padding {
    private int p;
    private long p0, p1, p2, p3, p4, p5, p6, p7;

    Padding() {}
}
