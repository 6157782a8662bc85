package dev.raddle.bench;

import dev.raddle.pool.ThreadPool;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Who runs the tasks: Raddle's pool, or a peer. Where the queue is bounded, its capacity is {@value #CAPACITY}, and who
 * finds no room waits for it.
 */
public enum PoolPeer {
    /** Raddle's pool. */
    RADDLE("Raddle"),
    /** Raddle's pool, its queue bounded. */
    RADDLE_BOUNDED("Raddle"),
    /** The JDK's pool and linked queue. */
    LINKED("JDK, linked queue"),
    /** The JDK's pool and linked queue, bounded. */
    LINKED_BOUNDED("JDK, linked queue"),
    /** The JDK's pool and array queue. */
    ARRAY_BOUNDED("JDK, array queue"),
    /** The JDK's work-stealing pool, first in first out. */
    FORK_JOIN("ForkJoinPool"),
    /** A fresh virtual thread for each task, however many threads are asked for. */
    VIRTUAL("virtual threads");

    static final int CAPACITY = 1024;

    private final String label;

    PoolPeer(String label) {
        this.label = label;
    }

    /** Returns what the report calls it. */
    String label() {
        return label;
    }

    boolean isBounded() {
        return this == RADDLE_BOUNDED || this == LINKED_BOUNDED || this == ARRAY_BOUNDED;
    }

    /** Returns a new executor of this kind, its threads started where that can be asked for. */
    ExecutorService open(int threads) {
        return open(threads, Executors.defaultThreadFactory());
    }

    /** Returns the same, with threads from a factory where there are threads to be made. */
    ExecutorService open(int threads, ThreadFactory factory) {
        return switch (this) {
            case RADDLE -> raddle(threads, Integer.MAX_VALUE, factory);
            case RADDLE_BOUNDED -> raddle(threads, CAPACITY, factory);
            case LINKED -> jdk(threads, new LinkedBlockingQueue<>(), factory);
            case LINKED_BOUNDED -> jdk(threads, new LinkedBlockingQueue<>(CAPACITY), factory);
            case ARRAY_BOUNDED -> jdk(threads, new ArrayBlockingQueue<>(CAPACITY), factory);
            case FORK_JOIN -> new ForkJoinPool(threads, ForkJoinPool.defaultForkJoinWorkerThreadFactory, null, true);
            case VIRTUAL -> Executors.newVirtualThreadPerTaskExecutor();
        };
    }

    private static ExecutorService raddle(int threads, int capacity, ThreadFactory factory) {
        ThreadPool pool = ThreadPool.builder("bench")
                .threads(threads)
                .queueCapacity(capacity)
                .threadFactory(factory)
                .rejection(new ThreadPool.BlockPolicy())
                .build();
        pool.prestartAllCoreThreads();
        return pool;
    }

    private static ExecutorService jdk(int threads, BlockingQueue<Runnable> queue, ThreadFactory factory) {
        ThreadPoolExecutor pool =
                new ThreadPoolExecutor(threads, threads, 60, TimeUnit.SECONDS, queue, factory, PoolPeer::awaitRoom);
        pool.prestartAllCoreThreads();
        return pool;
    }

    private static void awaitRoom(Runnable task, ThreadPoolExecutor pool) {
        try {
            pool.getQueue().put(task);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            throw new RejectedExecutionException("interrupted while waiting for room", interrupt);
        }
    }
}
