package dev.raddle.kernel;

import java.util.Arrays;

/** Holds a gate's lock for tests in other packages, and detects threads that wait for it. */
public final class Locks {

    private Locks() {}

    /** Runs a body, which must not need the gate, while the calling thread holds the gate's lock. */
    public static void holding(Gate gate, Body body) throws Exception {
        gate.lock();
        try {
            body.run();
        } finally {
            gate.unlock();
        }
    }

    /** Returns whether a thread waits for a held lock. */
    public static boolean waits(Thread thread) {
        return Arrays.stream(thread.getStackTrace())
                .anyMatch(frame -> frame.getMethodName().equals("lockAfterPauses"));
    }

    /** An action that may throw. */
    @FunctionalInterface
    public interface Body {
        void run() throws Exception;
    }
}
