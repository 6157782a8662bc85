package dev.raddle.scope;

import dev.raddle.lock.Fields;
import dev.raddle.task.CancelledException;
import dev.raddle.task.Outcome;
import dev.raddle.task.Task;
import dev.raddle.time.Signal;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * One wait for several runs. Each run notifies its waits when it is settled; a settled run notifies a new wait at once.
 * The last notification ends the wait. So a wait parks only once, regardless of the number of runs. Under a policy by
 * which the first failure cancels the other tasks, the thread that notifies this wait of that failure cancels them.
 */
final class MultiWait {

    private static final VarHandle DECISION = Fields.handle(MethodHandles.lookup(), "decision", JoinDecision.class);
    private static final JoinDecision<ScopeRun<?>, ScopeRun<?>> ENDED = FailurePolicy.FAIL_FAST.newDecision();

    static {
        ENDED.end();
    }

    private static final AtomicIntegerFieldUpdater<MultiWait> REMAINING =
            AtomicIntegerFieldUpdater.newUpdater(MultiWait.class, "remaining");

    private final ScopeTasks scope;
    private volatile @Nullable JoinDecision<ScopeRun<?>, ScopeRun<?>> decision; // null until a task fails
    private final Signal allSettled = new Signal();
    private volatile int remaining;

    private MultiWait(ScopeTasks scope, int runs) {
        this.scope = scope;
        this.remaining = runs;
    }

    /** Waits for tasks, and returns their result under the scope's failure policy or throws. */
    static ScopeResult await(ScopeTasks scope, Collection<? extends Task<?>> tasks) throws InterruptedException {
        List<ScopeRun<?>> runs = runsOf(scope, tasks);
        MultiWait wait = new MultiWait(scope, runs.size());
        try {
            for (ScopeRun<?> run : runs) {
                run.addWait(wait);
            }
            if (scope.gate != null || !scope.onVirtualThreads) {
                for (ScopeRun<?> run : runs) {
                    run.awaitEnd(); // detects a wait that could never end, run by run
                }
            }
            wait.await();
        } finally {
            wait.end();
        }
        scope.pending.clearIfEmpty();
        return FailureSummary.of(scope, runs);
    }

    /** Waits for tasks, and returns their values or throws. */
    static <T> List<T> awaitAll(ScopeTasks scope, Collection<? extends Task<? extends T>> tasks)
            throws InterruptedException {
        await(scope, tasks);
        FailurePolicy policy = scope.options.failurePolicy;
        List<T> values = new ArrayList<>(tasks.size());
        for (Task<? extends T> task : tasks) {
            if (!policy.isThrowing() && task.state() != Task.State.SUCCESS) {
                throw new IllegalStateException(
                        "task \"" + task.name() + "\" in scope \"" + scope.name + "\" has no value, it is "
                                + task.state() + "; under " + policy + " use await and outcome()",
                        reason(task.outcome().orElseThrow()));
            }
            values.add(task.await());
        }
        return values;
    }

    /** Returns why a task has no value. */
    private static Throwable reason(Outcome<?> outcome) {
        return switch (outcome) {
            case Outcome.Failure<?> failure -> failure.error();
            case Outcome.Cancelled<?> cancelled -> cancelled.cause();
            default -> throw new AssertionError("a task of a scope is neither rejected nor skipped");
        };
    }

    private static List<ScopeRun<?>> runsOf(ScopeTasks scope, Collection<? extends Task<?>> tasks) {
        List<ScopeRun<?>> runs = new ArrayList<>(tasks.size());
        for (Task<?> task : tasks) {
            if (!(task instanceof ScopeRun<?> run) || run.scope != scope) {
                throw new IllegalArgumentException(
                        "scope \"" + scope.name + "\" can wait only for its own tasks, was given " + task);
            }
            runs.add(run);
        }
        return runs;
    }

    /**
     * Called when a run has failed, before it releases its permit. Cancels the other tasks if the policy requires that
     * and no task failed before. This wait may be notified twice concurrently of the first failure, by the runner and
     * by the thread that has ended the run from outside. Both cancel the others, so that neither continues before that.
     */
    void failed(ScopeRun<?> run, Throwable error) {
        JoinDecision<ScopeRun<?>, ScopeRun<?>> made = decision();
        if (made.failed(run) || made.isDecidedBy(run)) {
            String reason = "cancelled because task \"" + run.name() + "\" of scope \"" + scope.name + "\" failed";
            scope.cancelAllExcept(run, new CancelledException(reason, error), Runnable::run);
        }
    }

    /** Called when a run is settled. */
    void settled(ScopeRun<?> run) {
        if (run.settledOutcome() instanceof Outcome.Failure<?> failure) {
            failed(run, failure.error());
        }
        if (REMAINING.decrementAndGet(this) == 0) {
            allSettled.set();
        }
    }

    private JoinDecision<ScopeRun<?>, ScopeRun<?>> decision() {
        if (decision == null) {
            DECISION.compareAndSet(this, null, scope.options.failurePolicy.newDecision());
        }
        return Objects.requireNonNull(decision);
    }

    /** Ends the decision: later failures cancel no tasks. */
    private void end() {
        JoinDecision<?, ?> made = (JoinDecision<?, ?>) DECISION.getAndSet(this, ENDED);
        if (made != null) {
            made.clear();
        }
    }

    private void await() throws InterruptedException {
        if (remaining > 0) {
            allSettled.await();
        }
    }
}
