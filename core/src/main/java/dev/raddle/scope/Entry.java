package dev.raddle.scope;

import dev.raddle.task.NamedTask;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskContext;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/** What a thread runs that the JDK's scope has not made: it enters a subtask, and brings along what the thread lacks. */
final class Entry implements Scheduler.Placeable, NamedTask {

    private final ForkedSubtask<?> subtask;
    private ScopedValue.@Nullable Carrier values; // null in a thread that inherits; written before the thread starts
    private @Nullable TaskContext context; // the same

    Entry(ForkedSubtask<?> subtask) {
        this.subtask = subtask;
    }

    /** Captures the calling thread's registered scoped values for a thread that inherits none. */
    Entry carrying(Iterable<ScopedValue<?>> registered) {
        ScopedValue.Carrier carried = subtask.scope.inside();
        for (ScopedValue<?> key : registered) {
            carried = with(carried, key);
        }
        values = carried;
        context = TaskContext.current();
        return this;
    }

    private static <V> ScopedValue.Carrier with(ScopedValue.Carrier carried, ScopedValue<V> key) {
        return key.isBound() ? carried.where(key, key.get()) : carried;
    }

    @Override
    public String name() {
        return ObservedSubtask.nameOf(subtask.task);
    }

    @Override
    public void run() {
        if (values == null || context == null) {
            subtask.call();
        } else {
            ScopedValue.Carrier carried = values;
            context.run(() -> subtask.run(carried));
        }
    }

    @Override
    public void reject(RejectedExecutionException reason) {
        subtask.fail(reason);
    }
}
