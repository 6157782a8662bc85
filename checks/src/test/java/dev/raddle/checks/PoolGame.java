package dev.raddle.checks;

import dev.raddle.pool.ThreadPool;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;

/**
 * Performs random steps on a pool and on a model of it that uses plain lists. After each step the pool must reach the
 * state of the model.
 */
final class PoolGame {

    /**
     * The initial sizes of a game.
     *
     * @param core the core size
     * @param max the maximum size
     * @param capacity the capacity of the queue
     */
    record Rules(int core, int max, int capacity) {}

    private static final int LARGEST = 5;

    private final long patienceNanos;
    private final long seed;
    private final Random random;
    private final ThreadPool pool;
    private final Queue<String> started = new ConcurrentLinkedQueue<>(); // by the pool
    private final List<String> log = new ArrayList<>();

    // the model
    private int core;
    private int max;
    private int capacity;
    private int workers;
    private long completed;
    private boolean shutdown;
    private final List<Job> running = new ArrayList<>();
    private final Deque<Job> queue = new ArrayDeque<>();
    private final List<String> order = new ArrayList<>();

    PoolGame(Rules rules, Rules believed, long seed) {
        this.seed = seed;
        this.random = new Random(seed);
        this.pool = ThreadPool.builder("game")
                .maxThreads(rules.max())
                .coreThreads(rules.core())
                .queueCapacity(rules.capacity())
                .keepAlive(Duration.ZERO)
                .build();
        patienceNanos = Duration.ofSeconds(rules.equals(believed) ? 120 : 1).toNanos();
        core = believed.core();
        max = believed.max();
        capacity = believed.capacity();
    }

    /** A task that runs until the game opens its latch. */
    private final class Job implements Runnable {
        final String name;
        final CountDownLatch end = new CountDownLatch(1);

        Job(String name) {
            this.name = name;
        }

        @Override
        public void run() {
            started.add(name);
            try {
                end.await();
            } catch (InterruptedException stopped) {
                end.countDown(); // the game is over
            }
        }

        @Override
        public String toString() {
            return name;
        }
    }

    void play(int steps) {
        try {
            for (int i = 0; i < steps; i++) {
                step(i);
                settle();
                compare();
            }
        } finally {
            pool.shutdownNow();
        }
    }

    private void step(int number) {
        int what = random.nextInt(20);
        if (what < 9) {
            submit(new Job("task-" + number));
        } else if (what < 15 && !running.isEmpty()) {
            Job job = running.remove(random.nextInt(running.size()));
            log.add("end " + job);
            completed++;
            job.end.countDown();
        } else if (what == 15 && !queue.isEmpty()) {
            Job job = random.nextBoolean() ? queue.getFirst() : queue.getLast();
            log.add("remove " + job);
            check("remove", true, pool.remove(job));
            queue.remove(job);
        } else if (what == 16) {
            setCore(random.nextInt(LARGEST));
        } else if (what == 17) {
            setMax(1 + random.nextInt(LARGEST));
        } else if (what == 18) {
            capacity = 1 + random.nextInt(LARGEST);
            log.add("capacity " + capacity);
            pool.setQueueCapacity(capacity);
        } else if (random.nextInt(20) == 0) {
            log.add("shut down");
            shutdown = true;
            pool.shutdown();
        }
    }

    private void submit(Job job) {
        log.add("submit " + job);
        boolean accepted = true;
        if (shutdown) {
            accepted = false;
        } else if (workers < core || (queue.size() >= capacity && workers < max)) {
            workers++;
            start(job);
        } else if (queue.size() < capacity) {
            queue.add(job);
            workers = Math.max(workers, 1);
        } else {
            accepted = false;
        }
        boolean actual = true;
        try {
            pool.execute(job);
        } catch (RejectedExecutionException full) {
            actual = false;
        }
        check("accepted", accepted, actual);
    }

    private void start(Job job) {
        running.add(job);
        order.add(job.name);
    }

    private void setCore(int value) {
        log.add("core " + value);
        if (value > max) {
            return;
        }
        int added = Math.min(Math.max(value - core, 0), queue.size());
        core = value;
        if (!shutdown && workers <= value) {
            workers = Math.max(workers, Math.min(value, workers + added));
        }
        pool.setCorePoolSize(value);
    }

    private void setMax(int value) {
        log.add("max " + value);
        if (value >= core) {
            max = value;
            pool.setMaximumPoolSize(value);
        }
    }

    /** Models the workers until none can act: excess workers exit, workers take tasks, and exit if there are none. */
    private void settle() {
        while (workers > running.size()) {
            if (workers > max && (workers > 1 || queue.isEmpty())) {
                workers--;
            } else if (!queue.isEmpty()) {
                start(queue.remove());
            } else if (workers > core || shutdown) {
                workers--;
            } else {
                return; // the workers wait
            }
        }
    }

    private void compare() {
        String expected = "threads " + workers + ", running " + running.size() + ", queued " + queue.size()
                + ", completed " + completed;
        long deadline = System.nanoTime() + patienceNanos;
        String actual;
        do {
            Thread.onSpinWait();
            ThreadPool.Stats stats = pool.stats();
            actual = "threads " + stats.threads() + ", running " + stats.active() + ", queued " + stats.queued()
                    + ", completed " + stats.completed();
        } while ((!actual.equals(expected) || started.size() < order.size()) && System.nanoTime() - deadline < 0);
        check("state", expected, actual);
        check(
                "started",
                order.stream().sorted().toList(),
                started.stream().sorted().toList());
        check("queue", List.copyOf(queue).toString(), pool.getQueue().toString());
    }

    private void check(String what, Object expected, Object actual) {
        if (!expected.equals(actual)) {
            throw new AssertionError("seed " + seed + ": " + what + " should be " + expected + ", was " + actual
                    + " after " + log.subList(Math.max(0, log.size() - 20), log.size()));
        }
    }
}
