package dev.raddle.pool;

import java.util.Objects;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ThreadPoolExecutor;
import org.jspecify.annotations.Nullable;

/** Adapts a handler that was written for {@code ThreadPoolExecutor}. */
final class JdkRejectionAdapter implements RejectionHandler {

    final RejectedExecutionHandler handler;
    private final @Nullable RejectionHandler equivalent; // the pool's own policy with the same effect

    JdkRejectionAdapter(RejectedExecutionHandler handler) {
        this.handler = Objects.requireNonNull(handler, "handler");
        this.equivalent = equivalent(handler.getClass());
    }

    private static @Nullable RejectionHandler equivalent(Class<?> policy) {
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
        if (equivalent != null) {
            equivalent.rejected(task, pool);
        } else {
            handler.rejectedExecution(task, new PoolView(pool));
        }
    }

    @Override
    public String toString() {
        return handler.toString();
    }
}
