package dev.raddle.pool;

import java.util.Objects;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ThreadPoolExecutor;
import org.jspecify.annotations.Nullable;

/** Has a handler that was written for the JDK's pools decide for one of ours. */
final class JdkRejection implements RejectionHandler {

    final RejectedExecutionHandler handler;
    private final @Nullable RejectionHandler same; // that does the same, without a view

    JdkRejection(RejectedExecutionHandler handler) {
        this.handler = Objects.requireNonNull(handler, "handler");
        this.same = same(handler.getClass());
    }

    private static @Nullable RejectionHandler same(Class<?> policy) {
        if (policy == ThreadPoolExecutor.AbortPolicy.class) {
            return new ThreadPool.AbortPolicy();
        } else if (policy == ThreadPoolExecutor.CallerRunsPolicy.class) {
            return new ThreadPool.CallerRunsPolicy();
        } else if (policy == ThreadPoolExecutor.DiscardPolicy.class) {
            return new ThreadPool.DiscardPolicy();
        }
        return policy == ThreadPoolExecutor.DiscardOldestPolicy.class ? new ThreadPool.DiscardOldestPolicy() : null;
    }

    @Override
    public void rejected(Runnable task, ThreadPool pool) {
        if (same != null) {
            same.rejected(task, pool);
        } else {
            handler.rejectedExecution(task, new PoolView(pool));
        }
    }

    @Override
    public String toString() {
        return handler.toString();
    }
}
