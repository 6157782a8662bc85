package dev.raddle.scope;

import dev.raddle.task.CancelledException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One wait for several tasks under a policy by which the first failure cancels the others. A run that fails tells its
 * watches; a watch that is put on a run which has failed already tells itself. Both sides write first and read the other's
 * field then, so a failure is never overlooked, and `fired` makes it count once.
 */
final class Watch {

    /** The watches on one run, the latest first. Immutable. */
    record Chain(
            Watch watch, @org.jspecify.annotations.Nullable Chain next) {}

    private final ThreadScope scope;
    private final AtomicBoolean fired = new AtomicBoolean();

    Watch(ThreadScope scope) {
        this.scope = scope;
    }

    /** Cancels what else is in the scope, if this is the first failure of the wait. */
    void failed(ScopeRun<?> run, Throwable error) {
        if (fired.compareAndSet(false, true)) {
            scope.cancelOthers(
                    run,
                    new CancelledException(
                            "cancelled because task \"" + run.name() + "\" of scope \"" + scope.name() + "\" failed",
                            error));
        }
    }

    /** Ends the wait: later failures are none of its business. */
    void end() {
        fired.set(true);
    }
}
