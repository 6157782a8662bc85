package dev.raddle.checks.sample.time;

import dev.raddle.checks.sample.group.LateComer;

/**
 * Breaks the rules of the architecture, so that a test sees them fail: imports upwards, sleeps, reads the wall clock,
 * adds a suppressed exception, and writes in a method that asks a question.
 */
public final class EarlyRiser {

    public static LateComer last = new LateComer();

    private EarlyRiser() {}

    public static boolean isAwake() {
        last = new LateComer();
        return true;
    }

    public static long rise(long millis) throws InterruptedException {
        Thread.sleep(millis);
        return System.currentTimeMillis();
    }

    public static RuntimeException fall(RuntimeException failure) {
        failure.addSuppressed(new IllegalStateException());
        return failure;
    }
}
