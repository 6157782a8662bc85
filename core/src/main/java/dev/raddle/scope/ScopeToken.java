package dev.raddle.scope;

import dev.raddle.task.CancellationToken;
import dev.raddle.task.CancelledException;
import dev.raddle.time.Signal;

/** A scope's token: it is cancelled when the scope lets no task enter any more. */
final class ScopeToken implements CancellationToken {

    private final ThreadScope scope;
    private final Signal cancelled = new Signal();

    ScopeToken(ThreadScope scope) {
        this.scope = scope;
    }

    @Override
    public boolean isCancelled() {
        return scope.gate().closed() != null;
    }

    @Override
    public void throwIfCancelled() {
        CancelledException cause = scope.gate().closed();
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
        cancelled.whenSet(() -> scope.guard("action of a cancellation token", action));
    }

    /** Runs the actions. */
    void tell() {
        cancelled.set();
    }

    @Override
    public String toString() {
        return "token of scope \"" + scope.name() + "\"" + (isCancelled() ? ", cancelled" : "");
    }
}
