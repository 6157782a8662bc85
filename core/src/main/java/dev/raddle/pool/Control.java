package dev.raddle.pool;

import java.util.concurrent.atomic.AtomicInteger;

/** The control word of a pool: its run state and the number of counted workers. */
@SuppressWarnings("serial") // it is never serialized
final class Control extends AtomicInteger {

    private static final int STATE_BITS = 3;
    private static final int STATE_MASK = (1 << STATE_BITS) - 1;
    private static final int ONE_WORKER = 1 << STATE_BITS;

    static final int MAX_WORKERS = Integer.MAX_VALUE >>> STATE_BITS;

    // in order: ThreadPool.RunState.values()[state]
    static final int RUNNING = 0;
    static final int SHUTDOWN = 1;
    static final int STOP = 2;
    static final int TIDYING = 3;
    static final int TERMINATED = 4;

    static int state(int word) {
        return word & STATE_MASK;
    }

    static int workers(int word) {
        return word >>> STATE_BITS;
    }

    int state() {
        return get() & STATE_MASK;
    }

    int workers() {
        return get() >>> STATE_BITS;
    }

    /** Advances the state, unless it has already been reached. */
    void advanceTo(int state) {
        int word = get();
        while (state(word) < state && !compareAndSet(word, (word & ~STATE_MASK) | state)) {
            word = get();
        }
    }

    /** Counts one more worker if the word is unchanged. */
    boolean tryAddWorker(int expected) {
        return compareAndSet(expected, expected + ONE_WORKER);
    }

    /** Counts one worker less if the word is unchanged. */
    boolean tryRemoveWorker(int expected) {
        return compareAndSet(expected, expected - ONE_WORKER);
    }

    void removeWorker() {
        getAndAdd(-ONE_WORKER);
    }

    /** Enters TIDYING if the word is unchanged; it must count no workers. */
    boolean tryTidy(int expected) {
        return compareAndSet(expected, TIDYING);
    }
}
