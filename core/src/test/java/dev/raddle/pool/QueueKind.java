package dev.raddle.pool;

import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** The kinds of queue that a pool may have. They have the same contract, so each test runs with all of them. */
enum QueueKind {
    LINKED {
        @Override
        ThreadPool pool(int core, int max, int capacity) {
            return new ThreadPool(core, max, 1, TimeUnit.HOURS, new LinkedBlockingQueue<>(capacity));
        }

        @Override
        PoolBuilder plan(int core, int max, int capacity) {
            return sizes(core, max).queue(new LinkedBlockingQueue<>(capacity));
        }
    },
    ARRAY {
        @Override
        ThreadPool pool(int core, int max, int capacity) {
            return new ThreadPool(core, max, 1, TimeUnit.HOURS, new ArrayBlockingQueue<>(capacity));
        }

        @Override
        PoolBuilder plan(int core, int max, int capacity) {
            return sizes(core, max).queue(new ArrayBlockingQueue<>(capacity));
        }
    },
    BUILT_IN {
        @Override
        PoolBuilder plan(int core, int max, int capacity) {
            return sizes(core, max).queueCapacity(capacity);
        }
    },
    BUILT_IN_PRIORITY {
        @Override
        PoolBuilder plan(int core, int max, int capacity) {
            return sizes(core, max).queueCapacity(capacity).priority(task -> 0);
        }
    };

    /** Returns a pool whose threads stay idle for an hour. */
    ThreadPool pool(int core, int max, int capacity) {
        return plan(core, max, capacity).build();
    }

    /** Returns whether {@link #pool} uses the builder, and not a constructor that ThreadPoolExecutor has as well. */
    boolean isFromBuilder() {
        return this == BUILT_IN || this == BUILT_IN_PRIORITY;
    }

    /** Returns a builder with the same settings. */
    abstract PoolBuilder plan(int core, int max, int capacity);

    private static PoolBuilder sizes(int core, int max) {
        return ThreadPool.builder("test").coreThreads(core).maxThreads(max).keepAlive(Duration.ofHours(1));
    }
}
