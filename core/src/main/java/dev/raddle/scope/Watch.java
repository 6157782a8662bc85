package dev.raddle.scope;

import dev.raddle.kernel.Dispatch;
import dev.raddle.task.CancelledException;
import dev.raddle.task.Outcome;
import dev.raddle.time.Signal;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One wait for several runs. Each of them tells its watches when it is settled, or tells at once if it was settled before; the
 * last one ends the wait. So a wait parks once, however many tasks it is for. Under a policy by which the first failure
 * cancels the others, whoever tells of that failure does so.
 */
final class Watch {

    /** The watches on one run, the latest first. Immutable. */
    record Chain(@Nullable Watch watch, @Nullable Chain next) {
        /** The run is settled: it will tell nobody any more. */
        static final Chain SETTLED = new Chain(null, null);
    }

    private static final Object OVER = new Object();

    private final ThreadScope scope;
    private final boolean cancelsOthers;
    private final AtomicInteger remaining;
    private final Signal all = new Signal();
    private final AtomicReference<@Nullable Object> first =
            new AtomicReference<>(); // the run that failed first, or OVER

    Watch(ThreadScope scope, int runs) {
        this.scope = scope;
        this.cancelsOthers = scope.failurePolicy().cancelsOthers();
        this.remaining = new AtomicInteger(runs);
    }

    /**
     * Hears of a failure, before the run gives anything back. The run that failed first may tell twice at once, its runner and
     * who has ended it from outside: each of them cancels, so that neither goes on before it is done.
     */
    void failed(ScopeRun<?> run, Throwable error) {
        if (cancelsOthers && (first.compareAndSet(null, run) || first.get() == run)) {
            scope.cancelOthers(
                    run,
                    new CancelledException(
                            "cancelled because task \"" + run.name() + "\" of scope \"" + scope.name() + "\" failed",
                            error));
        }
    }

    void settled(ScopeRun<?> run) {
        if (run.result() instanceof Outcome.Failure<?> failure) {
            failed(run, failure.error());
        }
        if (remaining.decrementAndGet() == 0) {
            all.set();
        }
    }

    void await() throws InterruptedException {
        if (remaining.get() > 0) {
            Dispatch.startAll();
            all.await();
        }
    }

    /** Ends the wait: later failures are none of its business. */
    void end() {
        first.set(OVER);
    }
}
