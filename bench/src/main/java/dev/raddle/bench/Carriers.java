package dev.raddle.bench;

import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * Starts the carriers of virtual threads so that they do not slow each other down by where the JVM places their data.
 *
 * <p>The JVM refers to a carrier's current virtual thread through a handle. It allocates the handles of all threads,
 * 32 bytes for each, one behind the other as threads start. Two carriers whose handles share a cache line, or are in
 * neighbouring lines, take these from each other with each virtual thread that starts or ends: then an empty task of
 * a group costs 800 ns instead of 620. It depends on the number of threads that were started before, so that about
 * half of the forks would be slow.
 */
final class Carriers {

    private static final int THREADS_BETWEEN = 8; // 256 bytes

    private static boolean apart; // guarded by the class

    private Carriers() {}

    /** Starts all carriers, and after each one platform threads that do nothing until the JVM ends. */
    static synchronized void keepApart() {
        if (apart) {
            return;
        }
        apart = true;
        int carriers = Integer.getInteger(
                "jdk.virtualThreadScheduler.parallelism", Runtime.getRuntime().availableProcessors());
        AtomicBoolean all = new AtomicBoolean();
        Semaphore mounted = new Semaphore(0);
        for (int i = 0; i < carriers; i++) {
            Thread.startVirtualThread(() -> {
                mounted.release();
                while (!all.get()) {
                    Thread.onSpinWait(); // keeps its carrier, so that the next thread gets another
                }
            });
            mounted.acquireUninterruptibly();
            for (int j = 0; j < THREADS_BETWEEN; j++) {
                Thread.ofPlatform().daemon().start(() -> {
                    while (true) {
                        LockSupport.park();
                    }
                });
            }
        }
        all.set(true);
    }
}
