package dev.raddle.scope;

import dev.raddle.kernel.Dispatch;
import dev.raddle.task.CancelledException;
import dev.raddle.task.Outcome;
import dev.raddle.time.Signal;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One wait for several runs. Each run notifies its waits when it is settled; a settled run notifies a new wait at once.
 * The last notification ends the wait. So a wait parks only once, regardless of the number of runs. Under a policy by
 * which the first failure cancels the other tasks, the thread that notifies this wait of that failure cancels them.
 */
final class MultiWait {

    /** The waits for one run, latest first. Immutable. */
    record Chain(@Nullable MultiWait multiWait, @Nullable Chain next) {
        /** The run is settled and notifies no further waits. */
        static final Chain SETTLED = new Chain(null, null);
    }

    private static final Object ENDED = new Object();

    private final ThreadScope scope;
    private final boolean cancelsOthers;
    private final AtomicInteger remaining;
    private final Signal allSettled = new Signal();
    private final AtomicReference<@Nullable Object> firstFailed =
            new AtomicReference<>(); // null, the run that failed first, or ENDED

    MultiWait(ThreadScope scope, int runs) {
        this.scope = scope;
        this.cancelsOthers = scope.settings.options.failurePolicy.cancelsOthers();
        this.remaining = new AtomicInteger(runs);
    }

    /**
     * Called when a run has failed, before it releases its permit. For the run that failed first this may be called
     * twice concurrently, by its runner and by the thread that has ended it from outside. Both cancel the other tasks,
     * so that neither continues before they are cancelled.
     */
    void failed(ScopeRun<?> run, Throwable error) {
        if (cancelsOthers && (firstFailed.compareAndSet(null, run) || firstFailed.get() == run)) {
            scope.cancelOthers(
                    run,
                    new CancelledException(
                            "cancelled because task \"" + run.name() + "\" of scope \"" + scope.settings.name + "\" failed",
                            error));
        }
    }

    /** Called when a run is settled. */
    void settled(ScopeRun<?> run) {
        if (run.result() instanceof Outcome.Failure<?> failure) {
            failed(run, failure.error());
        }
        if (remaining.decrementAndGet() == 0) {
            allSettled.set();
        }
    }

    void await() throws InterruptedException {
        if (remaining.get() > 0) {
            Dispatch.startAll();
            allSettled.await();
        }
    }

    /** Ends the wait. Later failures cancel no tasks. */
    void end() {
        firstFailed.set(ENDED);
    }
}
