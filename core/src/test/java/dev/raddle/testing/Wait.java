package dev.raddle.testing;

import java.util.concurrent.CountDownLatch;
import java.util.function.BooleanSupplier;

/** Waits for conditions that have no notification, such as that a thread has parked. */
public final class Wait {

    private Wait() {}

    /** Waits until a condition holds that another thread establishes. */
    @SuppressWarnings("ThreadPriorityCheck") // the other thread may need this one's processor
    public static void until(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            Thread.yield();
        }
    }

    /** Waits until a latch is open. An interrupt fails the test. */
    public static void uninterrupted(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupt) {
            throw new AssertionError("interrupted while waiting for " + latch, interrupt);
        }
    }

    /** Waits until a latch is open. An interrupt does not end the wait; the flag is set again when this returns. */
    public static void uninterruptibly(CountDownLatch latch) {
        boolean interrupted = false;
        while (latch.getCount() > 0) {
            try {
                latch.await();
            } catch (InterruptedException interrupt) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
