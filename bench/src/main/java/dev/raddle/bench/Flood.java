package dev.raddle.bench;

import java.util.concurrent.Callable;

/**
 * A task that submits itself again whenever it has run, so that as many wait as were submitted first, until it is over.
 */
final class Flood implements Callable<Void> {

    private final Door door;
    private final String key;
    private final Runnable work;
    private volatile boolean over;

    Flood(Door door, String key, Runnable work) {
        this.door = door;
        this.key = key;
        this.work = work;
    }

    Flood begin(int tasks) {
        for (int i = 0; i < tasks; i++) {
            door.submit(key, this);
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
            door.submit(key, this);
        }
        return null;
    }

    /** Takes a time without using a processor, as a call to another machine does. */
    static void sleep(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
    }
}
