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
 * The pools that are compared: Raddle's pool and its peers. The capacity of a bounded queue is {@value #CAPACITY}, and
 * producers wait while it is full.
 */
public enum PoolPeer {
    /** Raddle's pool. */
    RADDLE("Raddle"),
    /** Raddle's pool with a bounded queue. */
    RADDLE_BOUNDED("Raddle"),
    /** The JDK's pool with a linked queue. */
    LINKED("JDK, linked queue"),
    /** The JDK's pool with a bounded linked queue. */
    LINKED_BOUNDED("JDK, linked queue"),
    /** The JDK's pool with an array queue. */
    ARRAY_BOUNDED("JDK, array queue"),
    /** The JDK's work-stealing pool, first in first out. */
    FORK_JOIN("ForkJoinPool"),
    /** A new virtual thread for each task, whatever the number of threads. */
    VIRTUAL("virtual threads");

    static final int CAPACITY = 1024;

    private final String label;

    PoolPeer(String label) {
        this.label = label;
    }

    /** Returns the name in the report. */
    String label() {
        return label;
    }

    boolean isBounded() {
        return this == RADDLE_BOUNDED || this == LINKED_BOUNDED || this == ARRAY_BOUNDED;
    }

    /** Returns a new executor of this kind, with its threads started if the executor supports it. */
    ExecutorService open(int threads) {
        return open(threads, Executors.defaultThreadFactory());
    }

    /** Returns the same, with threads of a factory if the executor supports it. */
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
                new ThreadPoolExecutor(threads, threads, 60, TimeUnit.SECONDS, queue, factory, PoolPeer::awaitSpace);
        pool.prestartAllCoreThreads();
        return pool;
    }

    private static void awaitSpace(Runnable task, ThreadPoolExecutor pool) {
        try {
            pool.getQueue().put(task);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            throw new RejectedExecutionException("interrupted while waiting for space in the queue", interrupt);
        }
    }
}
