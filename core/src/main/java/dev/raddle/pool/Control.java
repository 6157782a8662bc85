package dev.raddle.pool;

import java.util.concurrent.atomic.AtomicInteger;

/** A pool's run state and how many workers it counts, in one word. */
final class Control {

    private static final int STATE_BITS = 3;
    private static final int STATE_MASK = (1 << STATE_BITS) - 1;
    private static final int ONE_WORKER = 1 << STATE_BITS;

    static final int MOST_WORKERS = Integer.MAX_VALUE >>> STATE_BITS;

    // in order: ThreadPool.RunState.values()[state]
    static final int RUNNING = 0;
    static final int SHUTDOWN = 1;
    static final int STOP = 2;
    static final int TIDYING = 3;
    static final int TERMINATED = 4;

    private final AtomicInteger word = new AtomicInteger(RUNNING);

    static int state(int word) {
        return word & STATE_MASK;
    }

    static int workers(int word) {
        return word >>> STATE_BITS;
    }

    int get() {
        return word.get();
    }

    int state() {
        return state(word.get());
    }

    int workers() {
        return workers(word.get());
    }

    /** Moves the state forward, and leaves one that is as far or further. */
    void advanceTo(int state) {
        word.getAndUpdate(old -> state(old) >= state ? old : (old & ~STATE_MASK) | state);
    }

    /** Counts one worker more if the word is still as it was seen. */
    boolean tryJoin(int seen) {
        return word.compareAndSet(seen, seen + ONE_WORKER);
    }

    /** Counts one worker less if the word is still as it was seen. */
    boolean tryLeave(int seen) {
        return word.compareAndSet(seen, seen - ONE_WORKER);
    }

    void leave() {
        word.getAndAdd(-ONE_WORKER);
    }

    /** Enters TIDYING if the word is still as it was seen: without workers. */
    boolean tryTidy(int seen) {
        return word.compareAndSet(seen, TIDYING);
    }
}
