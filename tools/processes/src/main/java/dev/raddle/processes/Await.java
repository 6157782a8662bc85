package dev.raddle.processes;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Waits for what other processes do, which no latch of this JVM can report. */
public final class Await {
    /** Longer than anything takes on a busy machine; reached only by a test that fails. */
    public static final Duration BOUND = Duration.ofSeconds(90);

    private static final long LOOK_EVERY = 2_000_000; // nanoseconds

    private Await() {}

    public static void until(String what, BooleanSupplier condition) {
        until(() -> what, condition);
    }

    public static void until(Supplier<String> what, BooleanSupplier condition) {
        if (!within(BOUND, condition)) {
            throw new AssertionError("waited " + BOUND.toSeconds() + " s in vain until " + what.get());
        }
    }

    /** Returns whether the condition became true within the time. */
    public static boolean within(Duration time, BooleanSupplier condition) {
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

    /** Lets real time pass. For faults that last a time, never for an event that can be awaited. */
    public static void pass(Duration time) {
        long end = System.nanoTime() + time.toNanos();
        for (long left; (left = end - System.nanoTime()) > 0; ) {
            LockSupport.parkNanos(left);
        }
    }
}
