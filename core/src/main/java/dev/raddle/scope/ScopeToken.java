package dev.raddle.scope;

import dev.raddle.task.CancellationToken;
import dev.raddle.task.CancelledException;
import dev.raddle.time.Signal;

/** The cancellation token of a scope. It is cancelled when the scope's gate is closed. */
final class ScopeToken implements CancellationToken {

    private final ThreadScope scope;
    private final Signal cancelled = new Signal();

    ScopeToken(ThreadScope scope) {
        this.scope = scope;
    }

    @Override
    public boolean isCancelled() {
        return scope.gate().closeCause() != null;
    }

    @Override
    public void throwIfCancelled() {
        CancelledException cause = scope.gate().closeCause();
        if (cause != null) {
            throw cause;
        }
    }

    @Override
    public void cancel(String reason) {
        scope.cancel(reason);
    }

    @Override
    public void whenCancelled(Runnable action) {
        cancelled.whenSet(() -> scope.tasks().events.runGuarded("action of a cancellation token", action));
    }

    /** Runs the registered actions. Called when the gate was closed. */
    void runActions() {
        cancelled.set();
    }

    @Override
    public String toString() {
        return "token of scope \"" + scope.name() + "\"" + (isCancelled() ? ", cancelled" : "");
    }
}
