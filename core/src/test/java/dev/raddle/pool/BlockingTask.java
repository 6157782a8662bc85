package dev.raddle.pool;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/** A task that signals when it has begun and runs until it is released. An interrupt ends it, unless it is stubborn. */
final class BlockingTask implements Runnable {

    private final boolean stubborn;
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch exit = new CountDownLatch(1);
    private final Semaphore interrupted = new Semaphore(0);
    private final AtomicInteger interrupts = new AtomicInteger();
    private volatile Thread thread;

    BlockingTask(boolean stubborn) {
        this.stubborn = stubborn;
    }

    @Override
    public void run() {
        thread = Thread.currentThread();
        begun.countDown();
        for (; ; ) {
            try {
                exit.await();
                return;
            } catch (InterruptedException interrupt) {
                interrupts.incrementAndGet();
                interrupted.release();
                if (!stubborn) {
                    return;
                }
            }
        }
    }

    BlockingTask awaitBegun() throws InterruptedException {
        begun.await();
        return this;
    }

    /** Waits for one more interrupt than the previous calls. */
    void awaitInterrupt() throws InterruptedException {
        interrupted.acquire();
    }

    void release() {
        exit.countDown();
    }

    boolean hasBegun() {
        return begun.getCount() == 0;
    }

    int interrupts() {
        return interrupts.get();
    }

    Thread thread() {
        return thread;
    }
}
