package dev.raddle.restate;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for what other processes do, which no latch of this JVM can report. */
final class Await {
    /** Longer than anything takes on a busy machine; reached only by a test that fails. */
    static final Duration BOUND = Duration.ofSeconds(60);

    private static final long LOOK_EVERY = 5_000_000;

    private Await() {}

    static void until(String what, BooleanSupplier condition) {
        if (!within(BOUND, condition)) {
            throw new AssertionError("waited " + BOUND.toSeconds() + " s in vain until " + what);
        }
    }

    /** Returns whether the condition became true within the time. */
    static boolean within(Duration time, BooleanSupplier condition) {
        long end = System.nanoTime() + time.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end >= 0) {
                return false;
            }
            LockSupport.parkNanos(LOOK_EVERY);
            if (Thread.currentThread().isInterrupted()) {
                throw new IllegalStateException("interrupted");
            }
        }
        return true;
    }
}
