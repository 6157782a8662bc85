package dev.raddle.pool;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/** A task that says when it has begun, and stays inside until it is let go. An interrupt ends it, unless it is stubborn. */
final class Plug implements Runnable {

    private final boolean stubborn;
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch exit = new CountDownLatch(1);
    private final Semaphore interrupted = new Semaphore(0);
    private final AtomicInteger interrupts = new AtomicInteger();
    private volatile Thread thread;

    Plug(boolean stubborn) {
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

    Plug awaitBegun() throws InterruptedException {
        begun.await();
        return this;
    }

    /** Waits for an interrupt that was not waited for yet. */
    void awaitInterrupt() throws InterruptedException {
        interrupted.acquire();
    }

    void letGo() {
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
