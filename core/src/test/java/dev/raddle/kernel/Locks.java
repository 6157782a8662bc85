package dev.raddle.kernel;

import java.util.Arrays;

/** Holds a gate's lock for tests in other packages, and sees who waits for it. */
public final class Locks {

    private Locks() {}

    /** Keeps everybody else out of a gate while something happens, which must not need it either. */
    public static void holding(Gate gate, Body body) throws Exception {
        gate.lock();
        try {
            body.run();
        } finally {
            gate.unlock();
        }
    }

    /** Whether a thread has met a lock that is taken. */
    public static boolean waits(Thread thread) {
        return Arrays.stream(thread.getStackTrace())
                .anyMatch(frame -> frame.getMethodName().equals("lockAfterPauses"));
    }

    /** What happens meanwhile. */
    @FunctionalInterface
    public interface Body {
        void run() throws Exception;
    }
}
