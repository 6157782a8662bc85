package dev.raddle.pool;

/** Makes sure that the stack does not end in the middle of a section that must be done as a whole. */
final class StackRoom {

    /*
     * Overview.
     *
     * A StackOverflowError is thrown by a call, any call, also by that of unlock() in a finally. So a section that takes a lock,
     * counts a worker, or promises a wakeup first goes as deep as it will need and comes back. If the stack ends there, nothing
     * has been done yet. A frame of the probe keeps its locals across the call, so that it has a size in compiled code as well.
     *
     * A section that contains others, and must go on when one of them fails, needs more room than they ask for.
     *
     * It costs some tenths of a microsecond. It is for sections beside which that is little: those that start or wake a thread,
     * or change the settings. A queue's ends do without: their sections make no call that needs more room than their lock did.
     */

    private static final int FRAMES = 32; // of 16 locals: 4 kilobytes at least
    private static final int MORE_FRAMES = 4 * FRAMES;

    private StackRoom() {}

    /**
     * Returns if there is room for a section that takes one lock.
     *
     * @throws StackOverflowError if there is not; nothing has been done then
     */
    static void ensure() {
        probe(FRAMES);
    }

    /**
     * Returns if there is room for a section that contains others.
     *
     * @throws StackOverflowError if there is not; nothing has been done then
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
