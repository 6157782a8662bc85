package dev.raddle.pool;

import dev.raddle.task.NamedTask;
import dev.raddle.task.Scheduler;
import dev.raddle.time.UserCode;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * A task as an executor has it: it is run, rejected or withdrawn, whatever comes first.
 *
 * <p>It is a future for executors that cancel what they will not run, and for callers that cancel what an executor
 * hands back. It is a {@link ForkJoinTask} so that a fork-join pool need not wrap it, and cancels it when the pool is
 * shut down.
 */
@SuppressWarnings("serial") // it is never serialized
final class PlacedTask extends ForkJoinTask<Void> implements Scheduler.Placeable, Scheduler.Placement, NamedTask {

    private static final AtomicIntegerFieldUpdater<PlacedTask> TAKEN =
            AtomicIntegerFieldUpdater.newUpdater(PlacedTask.class, "taken");

    private final transient Scheduler.Placeable task;
    private final transient @Nullable ThreadPool pool; // whose queue it leaves when it is withdrawn

    @SuppressWarnings("UnusedVariable") // by TAKEN
    private volatile int taken; // 1 once the task is run, rejected or withdrawn

    PlacedTask(Scheduler.Placeable task, @Nullable ThreadPool pool) {
        this.task = task;
        this.pool = pool;
    }

    private boolean take() {
        return TAKEN.compareAndSet(this, 0, 1);
    }

    @Override
    public void run() {
        if (take()) {
            task.run();
        }
    }

    @Override
    protected boolean exec() {
        run();
        return true;
    }

    @Override
    public void reject(RejectedExecutionException reason) {
        if (take()) {
            task.reject(reason);
        }
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        if (take()) {
            super.cancel(false);
            task.reject(new RejectedExecutionException(
                    this + " was cancelled by its executor, or by the caller to which that handed it back"));
        }
        return isCancelled();
    }

    @Override
    public boolean withdraw() {
        if (!take()) {
            return false;
        }
        super.cancel(false);
        if (pool != null) {
            pool.remove(this);
        }
        return true;
    }

    @Override
    public int priority() {
        return task.priority();
    }

    @Override
    @SuppressWarnings("NullAway") // Void
    public Void getRawResult() {
        return null;
    }

    @Override
    protected void setRawResult(Void unused) {}

    @Override
    public String name() {
        return UserCode.nameOf(task instanceof NamedTask named ? named::name : null, task);
    }

    @Override
    public String toString() {
        return UserCode.textOf(task);
    }
}
