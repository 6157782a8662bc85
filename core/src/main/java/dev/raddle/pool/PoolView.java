package dev.raddle.pool;

import java.util.Collection;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A view of a pool as a {@code ThreadPoolExecutor}, for handlers that require one. Its own state is unused; it has no
 * thread.
 */
final class PoolView extends ThreadPoolExecutor {

    private final ThreadPool pool;

    PoolView(ThreadPool pool) {
        super(0, 1, 0, TimeUnit.NANOSECONDS, pool.getQueue());
        this.pool = pool;
    }

    ThreadPool pool() {
        return pool;
    }

    @Override
    public void execute(Runnable task) {
        pool.execute(task);
    }

    @Override
    public Future<?> submit(Runnable task) {
        return pool.submit(task);
    }

    @Override
    public <T extends @Nullable Object> Future<T> submit(Runnable task, T result) {
        return pool.submit(task, result);
    }

    @Override
    public <T extends @Nullable Object> Future<T> submit(Callable<T> task) {
        return pool.submit(task);
    }

    @Override
    public <T extends @Nullable Object> List<Future<T>> invokeAll(Collection<? extends Callable<T>> tasks)
            throws InterruptedException {
        return pool.invokeAll(tasks);
    }

    @Override
    public <T extends @Nullable Object> List<Future<T>> invokeAll(
            Collection<? extends Callable<T>> tasks, long timeout, TimeUnit unit) throws InterruptedException {
        return pool.invokeAll(tasks, timeout, unit);
    }

    @Override
    public <T extends @Nullable Object> T invokeAny(Collection<? extends Callable<T>> tasks)
            throws InterruptedException, ExecutionException {
        return pool.invokeAny(tasks);
    }

    @Override
    public <T extends @Nullable Object> T invokeAny(
            Collection<? extends Callable<T>> tasks, long timeout, TimeUnit unit)
            throws InterruptedException, ExecutionException, TimeoutException {
        return pool.invokeAny(tasks, timeout, unit);
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
    public boolean isTerminating() {
        return pool.isTerminating();
    }

    @Override
    public boolean isTerminated() {
        return pool.isTerminated();
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
        return pool.awaitTermination(timeout, unit);
    }

    @Override
    public void close() {
        pool.close();
    }

    @Override
    public void setThreadFactory(ThreadFactory factory) {
        pool.setThreadFactory(factory);
    }

    @Override
    public ThreadFactory getThreadFactory() {
        return pool.getThreadFactory();
    }

    @Override
    public void setRejectedExecutionHandler(RejectedExecutionHandler handler) {
        pool.setRejectedExecutionHandler(handler);
    }

    @Override
    public RejectedExecutionHandler getRejectedExecutionHandler() {
        return pool.getRejectedExecutionHandler();
    }

    @Override
    public void setCorePoolSize(int size) {
        pool.setCorePoolSize(size);
    }

    @Override
    public int getCorePoolSize() {
        return pool.getCorePoolSize();
    }

    @Override
    public boolean prestartCoreThread() {
        return pool.prestartCoreThread();
    }

    @Override
    public int prestartAllCoreThreads() {
        return pool.prestartAllCoreThreads();
    }

    @Override
    public boolean allowsCoreThreadTimeOut() {
        return pool.allowsCoreThreadTimeOut();
    }

    @Override
    public void allowCoreThreadTimeOut(boolean value) {
        pool.allowCoreThreadTimeOut(value);
    }

    @Override
    public void setMaximumPoolSize(int size) {
        pool.setMaximumPoolSize(size);
    }

    @Override
    public int getMaximumPoolSize() {
        return pool.getMaximumPoolSize();
    }

    @Override
    public void setKeepAliveTime(long length, TimeUnit unit) {
        pool.setKeepAliveTime(length, unit);
    }

    @Override
    public long getKeepAliveTime(TimeUnit unit) {
        return pool.getKeepAliveTime(unit);
    }

    @Override
    public BlockingQueue<Runnable> getQueue() {
        return pool.getQueue();
    }

    @Override
    public boolean remove(Runnable task) {
        return pool.remove(task);
    }

    @Override
    public void purge() {
        pool.purge();
    }

    @Override
    public int getPoolSize() {
        return pool.getPoolSize();
    }

    @Override
    public int getActiveCount() {
        return pool.getActiveCount();
    }

    @Override
    public int getLargestPoolSize() {
        return pool.getLargestPoolSize();
    }

    @Override
    public long getTaskCount() {
        return pool.getTaskCount();
    }

    @Override
    public long getCompletedTaskCount() {
        return pool.getCompletedTaskCount();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof PoolView view && view.pool == pool;
    }

    @Override
    public int hashCode() {
        return System.identityHashCode(pool);
    }

    @Override
    public String toString() {
        return pool.toString();
    }
}
