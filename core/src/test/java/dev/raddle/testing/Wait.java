package dev.raddle.testing;

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
}
