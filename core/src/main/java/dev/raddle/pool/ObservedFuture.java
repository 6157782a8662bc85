package dev.raddle.pool;

import dev.raddle.lock.Fields;
import dev.raddle.task.Outcome;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * The future of a task in a pool that has a listener or propagators. The listener is notified of the end before the
 * future is done, so the thread that is to end the future is decided before that, by {@code decided}.
 */
final class ObservedFuture<T extends @Nullable Object> extends PooledTask<T> {

    private static final VarHandle DECIDED = Fields.handle(MethodHandles.lookup(), "decided", boolean.class);

    private final ObservedTasks tasks;
    private volatile boolean decided;

    ObservedFuture(ObservedTasks tasks, Callable<T> callable) {
        super(callable, tasks.sink());
        this.tasks = tasks;
    }

    ObservedFuture(ObservedTasks tasks, Runnable runnable, T value) {
        super(runnable, value, tasks.sink());
        this.tasks = tasks;
    }

    /** Returns whether the future settles its submission to these tasks itself; it may be submitted elsewhere, too. */
    boolean isOf(ObservedTasks submitted) {
        return tasks == submitted;
    }

    private boolean decide() {
        return DECIDED.compareAndSet(this, false, true);
    }

    /** Does not run a task that is being cancelled: its state says so only when the listener has been notified. */
    @Override
    public void run() {
        if (!decided) {
            super.run();
        }
    }

    @Override
    protected void set(T value) {
        if (decide()) {
            tasks.done(this, new Outcome.Success<>(value));
            super.set(value);
        }
    }

    @Override
    protected void setException(Throwable failure) {
        if (decide()) {
            tasks.done(this, Outcome.ofThrown(failure));
            super.setException(failure);
        } else {
            reportLate(failure);
        }
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        if (isDone() || !decide()) {
            return false;
        }
        tasks.done(this, new Outcome.Cancelled<>(new CancellationException("the future was cancelled")));
        super.cancel(mayInterruptIfRunning);
        return true;
    }
}
