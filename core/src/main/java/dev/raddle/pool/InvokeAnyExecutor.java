package dev.raddle.pool;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Executes one call of {@code invokeAny}, in one thread. The JDK passes to {@code execute} a task that stands for the
 * future it waits for; cancelling that task does not cancel the future. Cancelling a candidate does, so that the call
 * ends when the pool cancels the tasks that it hands back or drops.
 */
final class InvokeAnyExecutor extends AbstractExecutorService {

    private final ThreadPool pool;
    private @Nullable Future<?> awaited; // the future of the next task given to execute

    InvokeAnyExecutor(ThreadPool pool) {
        this.pool = pool;
    }

    private static final class Candidate extends FutureTask<@Nullable Void> {
        private final Runnable task;
        private final Future<?> awaited;

        Candidate(Runnable task, Future<?> awaited) {
            super(task, null);
            this.task = task;
            this.awaited = awaited;
        }

        @Override
        protected void done() {
            if (isCancelled()) {
                awaited.cancel(false);
                if (task instanceof Future<?> future) {
                    future.cancel(false); // this completes the awaited future
                }
            }
        }
    }

    @Override
    protected <T extends @Nullable Object> RunnableFuture<T> newTaskFor(Callable<T> callable) {
        RunnableFuture<T> future = pool.newTaskFor(callable);
        awaited = future;
        return future;
    }

    @Override
    public void execute(Runnable task) {
        pool.execute(new Candidate(task, Objects.requireNonNull(awaited, "newTaskFor comes first")));
    }

    @Override
    public void shutdown() {
        pool.shutdown();
    }

    @Override
    public List<Runnable> shutdownNow() {
        return pool.shutdownNow();
    }

    @Override
    public boolean isShutdown() {
        return pool.isShutdown();
    }

    @Override
    public boolean isTerminated() {
        return pool.isTerminated();
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
        return pool.awaitTermination(timeout, unit);
    }
}
