package dev.raddle.pool;

import dev.raddle.kernel.LateFailure;
import dev.raddle.task.ExceptionSink;
import dev.raddle.time.UserCode;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;

/**
 * A future that keeps its original {@code Runnable} or {@code Callable}, for reports, until that has run or never will.
 * What that throws after the future was cancelled goes to the exception sink.
 */
class PooledTask<T extends @Nullable Object> extends FutureTask<T> {

    private @Nullable Object original; // a stale value costs memory only
    private boolean started;
    private final ExceptionSink sink;

    PooledTask(Callable<T> callable, ExceptionSink sink) {
        super(callable);
        original = callable;
        this.sink = sink;
    }

    PooledTask(Runnable runnable, T value, ExceptionSink sink) {
        super(runnable, value);
        original = runnable;
        this.sink = sink;
    }

    /** Returns the Runnable or Callable from which a task was made, or the task itself if that is unknown. */
    static Object original(Runnable task) {
        Object original = InvokeAny.futureOf(task) instanceof PooledTask<?> pooled ? pooled.original : null;
        return original == null ? task : original;
    }

    /** Returns the text of a task as the subject of a message. That of a task of a scope or flow begins with "task". */
    static String subject(Object task) {
        String text = UserCode.textOf(task);
        return text.startsWith("task ") ? text : "task " + text;
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

    @Override
    protected void setException(Throwable failure) {
        super.setException(failure);
        if (isCancelled()) {
            reportLate(failure);
        }
    }

    final void reportLate(Throwable failure) {
        LateFailure.report(sink, subject(original(this)), failure);
    }

    /** Clears the original, unless it is still running after the future was cancelled. */
    @Override
    protected void done() {
        if (!started) {
            original = null;
        }
    }
}
