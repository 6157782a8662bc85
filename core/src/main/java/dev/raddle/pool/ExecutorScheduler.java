package dev.raddle.pool;

import dev.raddle.task.Scheduler;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.RejectedExecutionException;

/**
 * Runs tasks on an executor of the user's, and rejects those of which it can be known that they will never run: a pool
 * of Raddle says so; others get futures, and cancel them or hand them back; and none runs anything once it has
 * terminated.
 */
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

    @Override
    public Placement place(Placeable task) {
        if (executor instanceof ForkJoinPool && task instanceof ForkJoinTask<?>) {
            executor.execute(task); // such a pool cancels it at its end
            return Placement.FINAL;
        }
        PlacedTask placed = new PlacedTask(task, executor instanceof ThreadPool pool ? pool : null);
        executor.execute(placed);
        if (executor instanceof ExecutorService service && service.isTerminated()) {
            placed.reject(new RejectedExecutionException(
                    PooledTask.subject(task) + " was dropped by " + name + ", which has terminated"));
        }
        return placed;
    }

    /**
     * Returns the parallelism of a fork-join pool. Other executors are queues, in which a later request waits behind
     * those of other users.
     */
    @Override
    public int parallelism() {
        return executor instanceof ForkJoinPool pool ? pool.getParallelism() : Integer.MAX_VALUE;
    }

    @Override
    public String toString() {
        return name;
    }
}
