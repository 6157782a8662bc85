package dev.raddle.scope;

import dev.raddle.kernel.BorrowedThread;
import dev.raddle.task.NamedTask;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskContext;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * The runnable of a thread that no JDK scope has started: runs a subtask, with the context that the thread does not
 * inherit.
 */
final class SubtaskBody implements Scheduler.Placeable, NamedTask {

    private final ForkedSubtask<?> subtask;
    private ScopedValue.@Nullable Carrier values; // null in a thread that inherits; written before the thread starts
    private @Nullable TaskContext context; // like values
    private @Nullable ClassLoader loader; // likewise; used in a thread of a scheduler

    SubtaskBody(ForkedSubtask<?> subtask) {
        this.subtask = subtask;
    }

    /** Captures the calling thread's task context and registered scoped values for a thread that inherits none. */
    SubtaskBody withValues(ScopedValue.Carrier inside, Iterable<ScopedValue<?>> registered) {
        ScopedValue.Carrier carried = inside;
        for (ScopedValue<?> key : registered) {
            carried = with(carried, key);
        }
        values = carried;
        context = TaskContext.current();
        loader = Thread.currentThread().getContextClassLoader();
        return this;
    }

    private static <V> ScopedValue.Carrier with(ScopedValue.Carrier carried, ScopedValue<V> key) {
        return key.isBound() ? carried.where(key, key.get()) : carried;
    }

    @Override
    public String name() {
        return subtask.taskName();
    }

    @Override
    public void run() {
        if (values == null || context == null) {
            subtask.call();
        } else if (subtask.isPlaced()) {
            BorrowedThread.run(loader, subtask.sink(), this::runWithValues);
        } else {
            runWithValues();
        }
    }

    private void runWithValues() {
        ScopedValue.Carrier carried = Objects.requireNonNull(values);
        Objects.requireNonNull(context).run(() -> subtask.run(carried));
    }

    @Override
    public void reject(RejectedExecutionException reason) {
        subtask.fail(reason);
    }
}
