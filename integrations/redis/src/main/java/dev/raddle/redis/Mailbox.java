package dev.raddle.redis;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/** Runs actions one after the other in a thread of its own, and a last one whenever no action is left. */
final class Mailbox {

    /*
     * The thread is a platform thread, because it must see the end of a lease while the carriers of virtual threads
     * are busy. It parks when the queue is empty. A waker that adds an action before the thread parks leaves its permit
     * to park, so no action is overlooked.
     */

    private final ConcurrentLinkedQueue<Runnable> actions = new ConcurrentLinkedQueue<>();
    private final Runnable afterAll;
    private final Consumer<Throwable> onFailure;
    private final Thread thread;
    private volatile boolean isClosed;

    Mailbox(String name, Runnable afterAll, Consumer<Throwable> onFailure) {
        this.afterAll = afterAll;
        this.onFailure = onFailure;
        thread = Thread.ofPlatform().daemon().name(name).unstarted(this::loop);
    }

    void start() {
        thread.start();
    }

    /** Adds an action; returns false if it may not be run, because {@link #close} was called before. */
    boolean post(Runnable action) {
        actions.add(action);
        LockSupport.unpark(thread);
        return !isClosed;
    }

    /** Ends the thread after the actions that were added before. */
    void close() {
        isClosed = true;
        LockSupport.unpark(thread);
    }

    private void loop() {
        while (!isClosed) {
            runActions();
            if (!isClosed) {
                run(afterAll);
            }
            if (!isClosed && actions.isEmpty()) {
                LockSupport.park(this);
            }
        }
        runActions();
    }

    private void runActions() {
        for (Runnable action; (action = actions.poll()) != null; ) {
            run(action);
        }
    }

    private void run(Runnable action) {
        try {
            action.run();
        } catch (Throwable failure) {
            onFailure.accept(failure);
        }
    }
}
