package dev.raddle.testing;

import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A task that blocks until {@link #release}. An interrupt ends it, unless it was created by {@link #uninterruptible}.
 */
public final class BlockingTask implements Callable<String>, Runnable {

    private final boolean uninterruptible;
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch exit = new CountDownLatch(1);
    private final Semaphore interrupted = new Semaphore(0);
    private final AtomicInteger calls = new AtomicInteger();
    private final AtomicInteger returns = new AtomicInteger();
    private final AtomicInteger interrupts = new AtomicInteger();
    private volatile Thread thread;

    private BlockingTask(boolean uninterruptible) {
        this.uninterruptible = uninterruptible;
    }

    public BlockingTask() {
        this(false);
    }

    /** Returns a task that ignores interrupts. */
    public static BlockingTask uninterruptible() {
        return new BlockingTask(true);
    }

    @Override
    public String call() throws InterruptedException {
        thread = Thread.currentThread();
        calls.incrementAndGet();
        begun.countDown();
        try {
            for (; ; ) {
                try {
                    exit.await();
                    return "value";
                } catch (InterruptedException interrupt) {
                    interrupts.incrementAndGet();
                    interrupted.release();
                    if (!uninterruptible) {
                        throw interrupt;
                    }
                }
            }
        } finally {
            returns.incrementAndGet();
        }
    }

    /** As {@link #call}, but returns normally if an interrupt ends it. */
    @Override
    public void run() {
        try {
            call();
        } catch (InterruptedException interrupt) {
            // counted
        }
    }

    public BlockingTask awaitBegun() throws InterruptedException {
        begun.await();
        return this;
    }

    /** Waits for the next interrupt; each call consumes one. */
    public void awaitInterrupt() throws InterruptedException {
        interrupted.acquire();
    }

    public void release() {
        exit.countDown();
    }

    public boolean hasBegun() {
        return begun.getCount() == 0;
    }

    public int calls() {
        return calls.get();
    }

    /** Returns how often a call has returned or thrown. */
    public int returns() {
        return returns.get();
    }

    public int interrupts() {
        return interrupts.get();
    }

    /** Returns the thread of the last call, or null if there was none. */
    public Thread thread() {
        return thread;
    }
}
