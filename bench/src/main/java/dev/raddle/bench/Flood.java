package dev.raddle.bench;

import java.util.concurrent.Callable;

/**
 * A task that submits itself again after each run, so that the number of waiting tasks is constant until {@link #end}.
 */
final class Flood implements Callable<Void> {

    private final KeyedExecutor executor;
    private final String key;
    private final Runnable work;
    private volatile boolean over;

    Flood(KeyedExecutor executor, String key, Runnable work) {
        this.executor = executor;
        this.key = key;
        this.work = work;
    }

    Flood begin(int tasks) {
        for (int i = 0; i < tasks; i++) {
            executor.submit(key, this);
        }
        return this;
    }

    void end() {
        over = true;
    }

    @Override
    public Void call() {
        if (!over) {
            work.run();
            executor.submit(key, this);
        }
        return null;
    }

    /** Waits without using a processor, like a call to another machine. */
    static void sleep(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
    }
}
