package dev.raddle.scope;

import java.util.List;

/** The fallback: threads straight from the factory. They inherit registered scoped values and {@code TaskContext} only. */
final class PlainContainer implements Container {

    private final StructuredTaskScope<?> scope;
    private final List<ScopedValue<?>> registered;
    private final String reason;

    PlainContainer(StructuredTaskScope<?> scope, List<ScopedValue<?>> registered, String reason) {
        this.scope = scope;
        this.registered = registered;
        this.reason = reason;
    }

    @Override
    public void start(ForkedSubtask<?> subtask) {
        Thread thread = scope.newThread(new Entry(subtask).carrying(registered));
        subtask.thread = thread;
        thread.start();
    }

    @Override
    public void close() {} // nobody knows these threads but their subtasks, and those have ended

    @Override
    public String toString() {
        return "fallback: " + reason;
    }
}
