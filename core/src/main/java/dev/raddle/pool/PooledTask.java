package dev.raddle.pool;

import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;

/**
 * A future that keeps its original {@code Runnable} or {@code Callable}, for reports, until that has run or never will.
 */
class PooledTask<T extends @Nullable Object> extends FutureTask<T> {

    private @Nullable Object original; // a stale value costs memory only
    private boolean started;

    PooledTask(Callable<T> callable) {
        super(callable);
        original = callable;
    }

    PooledTask(Runnable runnable, T value) {
        super(runnable, value);
        original = runnable;
    }

    /** Returns the Runnable or Callable from which a task was made, or the task itself if that is unknown. */
    static Object original(Runnable task) {
        Object original = InvokeAny.futureOf(task) instanceof PooledTask<?> pooled ? pooled.original : null;
        return original == null ? task : original;
    }

    @Override
    public void run() {
        started = true;
        try {
            super.run();
        } finally {
            original = null;
        }
    }

    /** Clears the original, unless it is still running after the future was cancelled. */
    @Override
    protected void done() {
        if (!started) {
            original = null;
        }
    }
}
