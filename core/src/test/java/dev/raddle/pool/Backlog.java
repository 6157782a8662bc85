package dev.raddle.pool;

import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** The queues that a pool may have. The contract is the same for all, so a test is run with each. */
enum Backlog {
    LINKED {
        @Override
        ThreadPool pool(int core, int max, int capacity) {
            return new ThreadPool(core, max, 1, TimeUnit.HOURS, new LinkedBlockingQueue<>(capacity));
        }
    },
    ARRAY {
        @Override
        ThreadPool pool(int core, int max, int capacity) {
            return new ThreadPool(core, max, 1, TimeUnit.HOURS, new ArrayBlockingQueue<>(capacity));
        }
    },
    BUILT_IN {
        @Override
        ThreadPool pool(int core, int max, int capacity) {
            return builder(core, max, capacity).build();
        }
    },
    BUILT_IN_PRIORITY {
        @Override
        ThreadPool pool(int core, int max, int capacity) {
            return builder(core, max, capacity).priority(task -> 0).build();
        }
    };

    /** A pool whose threads stay idle for an hour. */
    abstract ThreadPool pool(int core, int max, int capacity);

    private static ThreadPool.Builder builder(int core, int max, int capacity) {
        return ThreadPool.builder("built-in")
                .coreThreads(core)
                .maxThreads(max)
                .queueCapacity(capacity)
                .keepAlive(Duration.ofHours(1));
    }
}
