package dev.raddle.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

/**
 * One task, run many times by a pool of two workers, from the first submission until the last run has ended. The same
 * object is submitted every time, and each worker has its own counter, so that a batch allocates and shares nothing in
 * addition to the pool.
 */
final class PoolBatch implements AutoCloseable {

    static final int WORKERS = 2;

    private static final long LEAST_NANOS_EACH = 20; // a lower bound for all pools
    private static final long SHORTEST_PAUSE_NANOS = 20_000;
    private static final long LONGEST_PAUSE_NANOS = 5_000_000;
    private static final long GIVE_UP_NANOS = TimeUnit.MINUTES.toNanos(1);

    private static final class Worker extends Thread {
        private static final int DONE = 16; // alone on its cache line and on the adjacent line

        private final AtomicLongArray counts = new AtomicLongArray(2 * DONE);

        Worker(Runnable loop) {
            super(loop);
        }

        void count() {
            counts.setRelease(DONE, counts.getPlain(DONE) + 1);
        }

        long done() {
            return counts.getAcquire(DONE);
        }
    }

    private final ExecutorService pool;
    private final ExecutorService producers = Executors.newCachedThreadPool();
    private final List<Worker> workers = new CopyOnWriteArrayList<>();
    private final Runnable task;
    private long submitted; // by all batches

    PoolBatch(PoolPeer peer, Runnable work) {
        task = () -> {
            work.run();
            ((Worker) Thread.currentThread()).count();
        };
        pool = peer.open(WORKERS, this::newWorker);
    }

    private Thread newWorker(Runnable loop) {
        Worker worker = new Worker(loop);
        workers.add(worker);
        return worker;
    }

    /** Submits from several threads, an equal share from each, and waits for the end. */
    void run(int tasks, int producerCount) throws InterruptedException, ExecutionException {
        int share = tasks / producerCount;
        List<Future<?>> others = new ArrayList<>();
        for (int i = 1; i < producerCount; i++) {
            others.add(producers.submit(() -> submit(share)));
        }
        submit(share);
        for (Future<?> other : others) {
            other.get();
        }
        await((long) share * producerCount);
    }

    /** Submits all tasks before the first can begin, then waits for the end. */
    void runFromBacklog(int tasks) throws InterruptedException {
        CountDownLatch held = new CountDownLatch(WORKERS);
        CountDownLatch released = new CountDownLatch(1);
        for (int i = 0; i < WORKERS; i++) {
            pool.execute(() -> hold(held, released));
        }
        held.await();
        submit(tasks);
        released.countDown();
        await(tasks);
    }

    private static void hold(CountDownLatch held, CountDownLatch released) {
        held.countDown();
        try {
            released.await();
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
    }

    private void submit(int tasks) {
        for (int i = 0; i < tasks; i++) {
            pool.execute(task);
        }
    }

    /**
     * Polls at the earliest time at which the remaining tasks can have ended: a few dozen polls for a million tasks.
     */
    private void await(long tasks) {
        submitted += tasks;
        long begin = System.nanoTime();
        for (long left = left(); left > 0; left = left()) {
            if (System.nanoTime() - begin > GIVE_UP_NANOS) {
                throw new IllegalStateException(left + " of " + tasks + " tasks had not ended after a minute, " + pool);
            }
            LockSupport.parkNanos(Math.clamp(left * LEAST_NANOS_EACH, SHORTEST_PAUSE_NANOS, LONGEST_PAUSE_NANOS));
        }
    }

    private long left() {
        return submitted - workers.stream().mapToLong(Worker::done).sum();
    }

    @Override
    public void close() {
        producers.close();
        pool.close();
    }
}
