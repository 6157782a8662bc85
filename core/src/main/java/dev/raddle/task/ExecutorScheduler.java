package dev.raddle.task;

import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;

/** Runs tasks on an executor that belongs to somebody else. */
final class ExecutorScheduler implements Scheduler {

    private final Executor executor;
    private final String name;

    ExecutorScheduler(Executor executor, String name) {
        this.executor = executor;
        this.name = name;
    }

    @Override
    public void execute(Runnable task) {
        executor.execute(task);
    }

    /** Of a fork-join pool only: others are queues, in which a request that comes later waits behind those of strangers. */
    @Override
    public int parallelism() {
        return executor instanceof ForkJoinPool pool ? pool.getParallelism() : Integer.MAX_VALUE;
    }

    @Override
    public String toString() {
        return name;
    }
}
