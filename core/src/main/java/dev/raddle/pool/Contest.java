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
 * One call of {@code invokeAny}, for its thread. What the JDK gives to {@code execute} stands for a future that it waits for, and
 * does not cancel that with itself. A candidate does, so that the call ends when the pool cancels what it hands back or drops.
 */
final class Contest extends AbstractExecutorService {

    private final ThreadPool pool;
    private @Nullable Future<?> awaited; // of the task that is given to execute next

    Contest(ThreadPool pool) {
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
                    future.cancel(false); // which says that the awaited one is done
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
