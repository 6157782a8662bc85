package dev.raddle.scope;

import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/** A task that says when it has begun, and stays inside until it is let go. An interrupt ends it, unless it is stubborn. */
final class Plug implements Callable<String> {

    private final boolean stubborn;
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch exit = new CountDownLatch(1);
    private final Semaphore interrupted = new Semaphore(0);
    private final AtomicInteger interrupts = new AtomicInteger();
    private volatile Thread thread;

    private Plug(boolean stubborn) {
        this.stubborn = stubborn;
    }

    Plug() {
        this(false);
    }

    static Plug stubborn() {
        return new Plug(true);
    }

    @Override
    public String call() throws InterruptedException {
        thread = Thread.currentThread();
        begun.countDown();
        for (; ; ) {
            try {
                exit.await();
                return "value";
            } catch (InterruptedException interrupt) {
                interrupts.incrementAndGet();
                interrupted.release();
                if (!stubborn) {
                    throw interrupt;
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
