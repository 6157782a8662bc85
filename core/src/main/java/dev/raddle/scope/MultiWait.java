package dev.raddle.scope;

import dev.raddle.kernel.Dispatch;
import dev.raddle.task.CancelledException;
import dev.raddle.task.Outcome;
import dev.raddle.task.Task;
import dev.raddle.time.Signal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
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

    private final ScopeTasks scope;
    private final JoinDecision<ScopeRun<?>, ScopeRun<?>> decision;
    private final AtomicInteger remaining;
    private final Signal allSettled = new Signal();

    private MultiWait(ScopeTasks scope, int runs) {
        this.scope = scope;
        this.decision = scope.settings.options.failurePolicy.newDecision();
        this.remaining = new AtomicInteger(runs);
    }

    /** Waits for tasks, and returns their result under the scope's failure policy or throws. */
    static ScopeResult await(ScopeTasks scope, Collection<? extends Task<?>> tasks) throws InterruptedException {
        List<ScopeRun<?>> runs = runsOf(scope, tasks);
        MultiWait wait = new MultiWait(scope, runs.size());
        try {
            Chain alone = new Chain(wait, null);
            for (ScopeRun<?> run : runs) {
                run.addWait(wait, alone);
            }
            if (scope.gate.isLimited() || !scope.settings.options.onVirtualThreads) {
                for (ScopeRun<?> run : runs) {
                    run.awaitEnd(); // detects a wait that could never end, run by run
                }
            }
            wait.await();
        } finally {
            wait.end();
        }
        return new FailureSummary(scope, runs).resultUnder(scope.settings.options.failurePolicy);
    }

    /** Waits for tasks, and returns their values or throws. */
    static <T> List<T> awaitAll(ScopeTasks scope, Collection<? extends Task<? extends T>> tasks)
            throws InterruptedException {
        await(scope, tasks);
        FailurePolicy policy = scope.settings.options.failurePolicy;
        List<T> values = new ArrayList<>(tasks.size());
        for (Task<? extends T> task : tasks) {
            if (!policy.isThrowing() && task.state() != Task.State.SUCCESS) {
                throw new IllegalStateException("task \"" + task.name() + "\" in scope \"" + scope.settings.name
                        + "\" has no value, it is " + task.state() + "; under " + policy + " use await and outcome()");
            }
            values.add(task.await());
        }
        return values;
    }

    private static List<ScopeRun<?>> runsOf(ScopeTasks scope, Collection<? extends Task<?>> tasks) {
        List<ScopeRun<?>> runs = new ArrayList<>(tasks.size());
        for (Task<?> task : tasks) {
            if (!(task instanceof ScopeRun<?> run) || run.scope != scope) {
                throw new IllegalArgumentException(
                        "scope \"" + scope.settings.name + "\" can wait only for its own tasks, was given " + task);
            }
            runs.add(run);
        }
        return runs;
    }

    /**
     * Called when a run has failed, before it releases its permit. For the run that failed first this may be called
     * twice concurrently, by its runner and by the thread that has ended it from outside. Both cancel the other tasks,
     * so that neither continues before they are cancelled.
     */
    void failed(ScopeRun<?> run, Throwable error) {
        if (decision.failed(run) || decision.isDecidedBy(run)) {
            scope.cancelOthers(
                    run,
                    new CancelledException(
                            "cancelled because task \"" + run.name() + "\" of scope \"" + scope.settings.name
                                    + "\" failed",
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

    private void await() throws InterruptedException {
        if (remaining.get() > 0) {
            Dispatch.startAll();
            allSettled.await();
        }
    }

    /** Ends the wait. Later failures cancel no tasks. */
    private void end() {
        decision.clear();
    }
}
