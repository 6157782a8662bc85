package dev.raddle.testing;

import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/** A task that says when it has begun, and stays inside until it is let go. An interrupt ends it, unless it is stubborn. */
public final class Plug implements Callable<String> {

    private final boolean stubborn;
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch exit = new CountDownLatch(1);
    private final Semaphore interrupted = new Semaphore(0);
    private final AtomicInteger calls = new AtomicInteger();
    private final AtomicInteger returns = new AtomicInteger();
    private final AtomicInteger interrupts = new AtomicInteger();
    private volatile Thread thread;

    private Plug(boolean stubborn) {
        this.stubborn = stubborn;
    }

    public Plug() {
        this(false);
    }

    public static Plug stubborn() {
        return new Plug(true);
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
                    if (!stubborn) {
                        throw interrupt;
                    }
                }
            }
        } finally {
            returns.incrementAndGet();
        }
    }

    public Plug awaitBegun() throws InterruptedException {
        begun.await();
        return this;
    }

    /** Waits for an interrupt that was not waited for yet. */
    public void awaitInterrupt() throws InterruptedException {
        interrupted.acquire();
    }

    public void letGo() {
        exit.countDown();
    }

    public boolean hasBegun() {
        return begun.getCount() == 0;
    }

    public int calls() {
        return calls.get();
    }

    /** How often it has returned or thrown. */
    public int returns() {
        return returns.get();
    }

    public int interrupts() {
        return interrupts.get();
    }

    /** The thread that was in it last; null if there was none. */
    public Thread thread() {
        return thread;
    }
}
