package dev.raddle.pool;

import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;

/** A future that remembers what it was made of until that has run or never will, so that it can be reported as it was given. */
final class PooledTask<T extends @Nullable Object> extends FutureTask<T> {

    private @Nullable Object given; // null may be seen late, which costs memory only
    private boolean begun;

    PooledTask(Callable<T> callable) {
        super(callable);
        given = callable;
    }

    PooledTask(Runnable runnable, T value) {
        super(runnable, value);
        given = runnable;
    }

    /** Returns the Runnable or Callable of which a task was made, or the task itself if that is not known. */
    static Object given(Runnable task) {
        Object given = task instanceof PooledTask<?> pooled ? pooled.given : null;
        return given == null ? task : given;
    }

    @Override
    public void run() {
        begun = true;
        try {
            super.run();
        } finally {
            given = null;
        }
    }

    /** Forgets it, unless it runs on although the future has been cancelled. */
    @Override
    protected void done() {
        if (!begun) {
            given = null;
        }
    }
}
