package dev.raddle.group;

import dev.raddle.testing.StepScheduler;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/** Tasks that block until a test releases them, and the largest number of them that ran at once. */
final class TestTasks implements AutoCloseable {

    private final Semaphore begun = new Semaphore(0);
    private final Semaphore exits = new Semaphore(0);
    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicInteger peak = new AtomicInteger();

    /** Returns the policy of an executor whose granted tasks a test runs one by one, and which closes at once. */
    static GroupPolicy.Builder stepped(StepScheduler steps) {
        return GroupPolicy.builder().scheduler(key -> steps).closeTimeout(Duration.ZERO);
    }

    /**
     * Waits until each of a number of threads has called this method as often as the caller. They go on at almost the
     * same time, while a barrier wakes them one by one.
     */
    @SuppressWarnings("ThreadPriorityCheck") // the awaited thread may need this processor
    static void meet(AtomicInteger arrivals, int threads) {
        int all = Math.ceilDiv(arrivals.incrementAndGet(), threads) * threads;
        for (int spins = 0; arrivals.get() < all && !Thread.currentThread().isInterrupted(); spins++) {
            if (spins < 1_000) {
                Thread.onSpinWait();
            } else {
                Thread.yield();
            }
        }
    }

    /** Returns a task that blocks until it is released or interrupted. */
    Callable<String> blocked(String value) {
        return () -> {
            enter();
            try {
                exits.acquire();
                return value;
            } finally {
                inside.decrementAndGet();
            }
        };
    }

    /** Returns a task that yields to other threads once. */
    @SuppressWarnings("ThreadPriorityCheck") // the test needs the other threads to run
    Callable<String> brief(String value) {
        return () -> {
            enter();
            Thread.yield();
            inside.decrementAndGet();
            return value;
        };
    }

    private void enter() {
        peak.accumulateAndGet(inside.incrementAndGet(), Math::max);
        begun.release();
    }

    /** Waits until a number of tasks have begun, in addition to those that earlier calls awaited. */
    void awaitBegun(int count) throws InterruptedException {
        begun.acquire(count);
    }

    void release(int count) {
        exits.release(count);
    }

    int inside() {
        return inside.get();
    }

    int peak() {
        return peak.get();
    }

    /** Releases all tasks, including those that have not begun. */
    @Override
    public void close() {
        exits.release(Integer.MAX_VALUE / 2);
    }
}
