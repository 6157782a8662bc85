package dev.raddle.flow;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/** An action that says when it has begun, and stays inside until it is let go. An interrupt ends it, unless it is stubborn. */
final class Plug implements Fn.F0<String> {

    private final boolean stubborn;
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch exit = new CountDownLatch(1);
    private final Semaphore interrupted = new Semaphore(0);
    private final AtomicInteger calls = new AtomicInteger();
    private final AtomicInteger returns = new AtomicInteger();
    private final AtomicInteger interrupts = new AtomicInteger();

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
    public String apply() throws InterruptedException {
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
                    if (!stubborn) {
                        throw interrupt;
                    }
                }
            }
        } finally {
            returns.incrementAndGet();
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

    int calls() {
        return calls.get();
    }

    /** How often it has returned or thrown. */
    int returns() {
        return returns.get();
    }

    int interrupts() {
        return interrupts.get();
    }
}
