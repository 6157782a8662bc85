package dev.raddle.scope;

import dev.raddle.task.TaskContext;

/** The fallback: plain threads from the factory. They inherit only registered scoped values and {@code TaskContext}. */
final class PlainContainer implements Container {

    private final SubtaskScope scope;
    private final String reason;

    PlainContainer(SubtaskScope scope, String reason) {
        this.scope = scope;
        this.reason = reason;
    }

    @Override
    public void start(ForkedSubtask<?> subtask, boolean byOwner) {
        ScopedValue.Carrier values = carried();
        TaskContext context = TaskContext.current();
        Thread thread = scope.newThread(() -> context.run(() -> subtask.run(values)));
        subtask.thread = thread;
        thread.start();
    }

    private ScopedValue.Carrier carried() {
        ScopedValue.Carrier carried = scope.inside;
        for (ScopedValue<?> key : scope.options.inherited) {
            carried = with(carried, key);
        }
        return carried;
    }

    private static <V> ScopedValue.Carrier with(ScopedValue.Carrier carried, ScopedValue<V> key) {
        return key.isBound() ? carried.where(key, key.get()) : carried;
    }

    @Override
    public void close() {} // only subtasks refer to these threads, and those have ended

    @Override
    public String toString() {
        return "fallback: " + reason;
    }
}
