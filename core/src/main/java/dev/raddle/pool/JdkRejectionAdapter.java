package dev.raddle.pool;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Adapts a handler that was written for {@code ThreadPoolExecutor}. */
final class JdkRejectionAdapter implements RejectionHandler {

    private static final Map<Class<?>, RejectionHandler> EQUIVALENTS = Map.of(
            ThreadPoolExecutor.AbortPolicy.class, new ThreadPool.AbortPolicy(),
            ThreadPoolExecutor.CallerRunsPolicy.class, new ThreadPool.CallerRunsPolicy(),
            ThreadPoolExecutor.DiscardPolicy.class, new ThreadPool.DiscardPolicy(),
            ThreadPoolExecutor.DiscardOldestPolicy.class, new ThreadPool.DiscardOldestPolicy());

    final RejectedExecutionHandler handler;
    private final @Nullable RejectionHandler equivalent; // the pool's own policy with the same effect

    JdkRejectionAdapter(RejectedExecutionHandler handler) {
        this.handler = Objects.requireNonNull(handler, "handler");
        this.equivalent = EQUIVALENTS.get(handler.getClass());
    }

    @Override
    public void rejected(Runnable task, ThreadPool pool) {
        if (equivalent != null) {
            equivalent.rejected(task, pool);
        } else {
            handler.rejectedExecution(task, new Rejecting(pool, pool.stats()));
        }
    }

    @Override
    public String toString() {
        return handler.toString();
    }

    /**
     * What a handler receives as the executor: the pool's queue, its execution, settings and life cycle, and, as they
     * were when the task was rejected, its counts. It must never start a thread of its own, which would take tasks from
     * the pool's queue: so it overrides every method that may.
     */
    static final class Rejecting extends ThreadPoolExecutor {
        private final ThreadPool pool;
        private final ThreadPool.Stats stats;

        Rejecting(ThreadPool pool, ThreadPool.Stats stats) {
            super(
                    Math.min(stats.coreThreads(), stats.maxThreads()),
                    stats.maxThreads(),
                    pool.getKeepAliveTime(TimeUnit.NANOSECONDS),
                    TimeUnit.NANOSECONDS,
                    pool.getQueue(),
                    pool.getThreadFactory(),
                    pool.getRejectedExecutionHandler());
            this.pool = pool;
            this.stats = stats;
        }

        ThreadPool pool() {
            return pool;
        }

        @Override
        public void execute(Runnable task) {
            pool.execute(task);
        }

        @Override
        public boolean remove(Runnable task) {
            return pool.remove(task);
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
        public void setCorePoolSize(int corePoolSize) {
            pool.setCorePoolSize(corePoolSize);
        }

        @Override
        public int getCorePoolSize() {
            return pool.getCorePoolSize();
        }

        @Override
        public void setMaximumPoolSize(int maximumPoolSize) {
            pool.setMaximumPoolSize(maximumPoolSize);
        }

        @Override
        public int getMaximumPoolSize() {
            return pool.getMaximumPoolSize();
        }

        @Override
        public void setKeepAliveTime(long time, TimeUnit unit) {
            pool.setKeepAliveTime(time, unit);
        }

        @Override
        public long getKeepAliveTime(TimeUnit unit) {
            return pool.getKeepAliveTime(unit);
        }

        @Override
        public void allowCoreThreadTimeOut(boolean value) {
            pool.allowCoreThreadTimeOut(value);
        }

        @Override
        public boolean allowsCoreThreadTimeOut() {
            return pool.allowsCoreThreadTimeOut();
        }

        @Override
        public void setThreadFactory(ThreadFactory threadFactory) {
            pool.setThreadFactory(threadFactory);
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
        public boolean prestartCoreThread() {
            return pool.prestartCoreThread();
        }

        @Override
        public int prestartAllCoreThreads() {
            return pool.prestartAllCoreThreads();
        }

        @Override
        public int getPoolSize() {
            return stats.threads();
        }

        @Override
        public int getActiveCount() {
            return stats.active();
        }

        @Override
        public int getLargestPoolSize() {
            return stats.largestThreads();
        }

        @Override
        public long getTaskCount() {
            return stats.completed() + stats.active() + stats.queued();
        }

        @Override
        public long getCompletedTaskCount() {
            return stats.completed();
        }

        @Override
        public String toString() {
            return pool.toString();
        }
    }
}
