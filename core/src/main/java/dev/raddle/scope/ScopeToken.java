package dev.raddle.scope;

import dev.raddle.task.CancellationToken;
import dev.raddle.task.CancelledException;
import dev.raddle.time.Signal;

/** The cancellation token of a scope. It is cancelled when the scope's gate is closed. */
final class ScopeToken implements CancellationToken {

    private final ScopeNode node;
    private final Signal cancelled = new Signal();

    ScopeToken(ScopeNode node) {
        this.node = node;
    }

    @Override
    public boolean isCancelled() {
        return node.tasks.gate.isClosed();
    }

    @Override
    public void throwIfCancelled() {
        CancelledException cause = node.tasks.gate.closeCause();
        if (cause != null) {
            throw cause;
        }
    }

    @Override
    public void cancel(String reason) {
        node.cancel(reason);
    }

    @Override
    public void whenCancelled(Runnable action) {
        cancelled.whenSet(() -> node.tasks.settings.runGuarded("action of a cancellation token", action));
    }

    /** Runs the registered actions. Called when the gate was closed. */
    void runActions() {
        cancelled.set();
    }

    @Override
    public String toString() {
        return "token of scope \"" + node.tasks.settings.name + "\"" + (isCancelled() ? ", cancelled" : "");
    }
}
