package dev.raddle.scope;

import java.util.List;

/** The fallback: plain threads from the factory. They inherit only registered scoped values and {@code TaskContext}. */
final class PlainContainer implements Container {

    private final SubtaskScope scope;
    private final List<ScopedValue<?>> registered;
    private final String reason;

    PlainContainer(SubtaskScope scope, List<ScopedValue<?>> registered, String reason) {
        this.scope = scope;
        this.registered = registered;
        this.reason = reason;
    }

    @Override
    public void start(ForkedSubtask<?> subtask, boolean byOwner) {
        Thread thread = scope.newThread(new SubtaskBody(subtask).withValues(scope.inside, registered));
        subtask.thread = thread;
        thread.start();
    }

    @Override
    public void close() {} // only subtasks refer to these threads, and those have ended

    @Override
    public String toString() {
        return "fallback: " + reason;
    }
}
