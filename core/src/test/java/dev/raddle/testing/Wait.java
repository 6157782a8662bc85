package dev.raddle.testing;

import java.util.concurrent.CountDownLatch;
import java.util.function.BooleanSupplier;

/** Waits for what nobody can be told of, such as that a thread has parked. */
public final class Wait {

    private Wait() {}

    /** Returns when a condition holds, which another thread brings about. */
    @SuppressWarnings("ThreadPriorityCheck") // the other thread may need this one's processor
    public static void until(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            Thread.yield();
        }
    }

    /** Returns when a latch is open. An interrupt does not end the waiting, and is kept. */
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
