package dev.raddle.pool;

/** Ensures that the stack does not overflow within a section that must be executed as a whole. */
final class StackRoom {

    /*
     * Overview.
     *
     * Any call can throw a StackOverflowError, also that of unlock() in a finally. So a section that takes a lock,
     * counts a worker or promises a wakeup first calls as deep as it will need to, and returns. If the stack overflows
     * there, nothing has been changed yet. A frame of the probe keeps its locals across the call, so that it has a size
     * in compiled code as well.
     *
     * A section that contains other sections, and must continue if one of them fails, needs more stack than they check
     * for.
     *
     * A check costs some tenths of a microsecond. It is for sections that cost much more: those that start or wake a
     * thread, or change the settings. The ends of a queue do without it: their sections make no call that needs more
     * stack than their lock did.
     */

    private static final int FRAMES = 32; // with 16 locals each: 4 kilobytes at least
    private static final int MORE_FRAMES = 4 * FRAMES;

    private StackRoom() {}

    /**
     * Returns normally if the stack is large enough for a section that takes one lock.
     *
     * @throws StackOverflowError if it is not; nothing has been changed then
     */
    static void ensure() {
        probe(FRAMES);
    }

    /**
     * Returns normally if the stack is large enough for a section that contains others.
     *
     * @throws StackOverflowError if it is not; nothing has been changed then
     */
    static void ensureForSections() {
        probe(MORE_FRAMES);
    }

    private static void probe(int frames) {
        if (descend(frames, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) == 0) {
            throw new AssertionError("a sum of positive numbers");
        }
    }

    private static long descend(
            int left,
            long a,
            long b,
            long c,
            long d,
            long e,
            long f,
            long g,
            long h,
            long i,
            long j,
            long k,
            long l,
            long m,
            long n,
            long o) {
        if (left == 0) {
            return 1;
        }
        long below = descend(left - 1, b, c, d, e, f, g, h, i, j, k, l, m, n, o, a);
        return below | a | b | c | d | e | f | g | h | i | j | k | l | m | n | o;
    }
}
