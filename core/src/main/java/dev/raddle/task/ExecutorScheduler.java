package dev.raddle.task;

import java.util.concurrent.Executor;

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

    @Override
    public String toString() {
        return name;
    }
}
