package dev.raddle.scope;

import dev.raddle.kernel.Dispatch;
import dev.raddle.kernel.EnclosingScope;
import dev.raddle.kernel.OverdueReports;
import dev.raddle.kernel.TimeLimit;
import dev.raddle.task.Scheduler;
import dev.raddle.time.Signal;
import dev.raddle.time.UserCode;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The end of a scope: the scopes that are still open inside it, the wait for its tasks, the deferred actions, and the
 * release of the scheduler. The owner calls {@link #end}; any thread may add an action until then.
 */
abstract class ScopeClosing extends EnclosingScope {

    private Scheduler.@Nullable Lease lease; // null if there is none; guarded by this
    private @Nullable Deque<Runnable> deferred; // the latest action first; null if there is none; guarded by this
    private boolean finished; // guarded by this
    private @Nullable List<Throwable> failures; // what this end has thrown; used only by the owner

    abstract ScopeTasks tasks();

    abstract Thread owner();

    /**
     * Closes the gate and cancels whatever has not ended.
     *
     * @return whether every task of this scope has ended
     */
    abstract boolean close();

    /** Removes this scope from its owner's thread, from those that its parent cancels, and from the time source. */
    abstract void leaveThread();

    /** Fails the channels. A cancelling thread may run the token's actions only after the scope is closed. */
    abstract void failChannels();

    /** Takes a lease of the scheduler, or releases it at once if the scope was closed meanwhile. */
    final void takeLease() {
        Scheduler.Lease taken = tasks().options.all.scheduler.lease();
        if (!keep(taken)) {
            taken.close();
        }
    }

    private synchronized boolean keep(Scheduler.Lease taken) {
        if (!finished) {
            lease = taken;
        }
        return !finished;
    }

    /** Adds an action that runs when every task has ended. */
    final synchronized void defer(Runnable cleanUp) {
        if (finished) {
            throw tasks().closedException("a deferred action");
        }
        if (deferred == null) {
            deferred = new ArrayDeque<>();
        }
        deferred.push(cleanUp);
    }

    /** Closes the scope. The deferred actions run when the gate is empty, however long that takes. */
    final void end() {
        requireMayClose();
        if (tasks().gate.ended) {
            return;
        }
        boolean ended = close();
        List<String> inner = closeInner();
        boolean interrupted = (ended && inner.isEmpty()) ? Thread.interrupted() : awaitEmpty();
        tasks().gate.ended = true;
        leaveThread();
        try {
            failChannels();
        } finally {
            finish(inner, interrupted);
        }
    }

    private void requireMayClose() {
        for (EnclosingScope inside = EnclosingScope.ofTask(); inside != null; inside = inside.enclosing()) {
            if (inside == this) {
                throw new IllegalStateException(label() + " cannot be closed by one of its own tasks, for which it"
                        + " waits; cancel it through its token");
            }
        }
        if (Thread.currentThread() != owner()) {
            throw new WrongThreadException(label() + " can be closed only by its owner, " + owner() + ", was closed by "
                    + Thread.currentThread());
        }
    }

    /** Closes the scopes that the owner has left open inside this one, latest first, and returns their labels. */
    private List<String> closeInner() {
        EnclosingScope last = enteredSince();
        if (last == null) {
            return List.of();
        }
        List<String> labels = new ArrayList<>();
        for (; last != null; last = enteredSince()) {
            labels.add(last.label());
            try {
                ((ScopeNode) last).scope.close(); // only scopes enter threads
            } catch (Throwable failure) {
                addFailure(failure);
            }
        }
        return labels;
    }

    /** Waits until every task has ended. Clears the interrupt status and returns whether the thread was interrupted. */
    private boolean awaitEmpty() {
        boolean interrupted = Thread.interrupted();
        Signal empty = tasks().gate.untilEmpty();
        if (!empty.isSet()) {
            interrupted |= awaitWithReports(empty);
        }
        return Thread.interrupted() || interrupted;
    }

    private boolean awaitWithReports(Signal empty) {
        OverdueReports<ScopeRun<?>> stragglers = new OverdueReports<>(
                tasks().time,
                tasks().options.all.patience,
                tasks().offload(),
                tasks().gate::placed,
                ScopeRun::lastRunner,
                this::reportStraggler);
        stragglers.arm();
        Dispatch.startAll();
        boolean interrupted = false;
        try {
            while (!empty.isSet()) {
                try {
                    empty.await();
                } catch (InterruptedException interrupt) {
                    interrupted = true;
                }
            }
        } finally {
            stragglers.end();
        }
        return interrupted;
    }

    private void reportStraggler(ScopeRun<?> run, @Nullable Thread thread, StackTraceElement[] stack) {
        if (thread == null) {
            return; // it has just ended
        }
        String task = "task \"" + run.name() + "\"";
        IllegalStateException where = new IllegalStateException(task + " ignores its interrupt; it has run for "
                + TimeLimit.text(Duration.ofNanos(tasks().time.nanoTime() - run.begunNanos())) + " in "
                + UserCode.textOf(thread));
        where.setStackTrace(stack);
        tasks().options.sink.report("close() of scope \"" + tasks().name + "\", which waits for " + task, where);
    }

    private void addFailure(Throwable failure) {
        if (failures == null) {
            failures = new ArrayList<>();
        }
        failures.add(failure);
    }

    /**
     * Runs the deferred actions and releases the scheduler. Then throws if something was wrong.
     *
     * @param inner the labels of scopes that were still open inside this one, and were closed
     * @param interrupted whether to set the interrupt status
     */
    private void finish(List<String> inner, boolean interrupted) {
        Collection<Runnable> cleanUps;
        Scheduler.@Nullable Lease taken;
        synchronized (this) {
            finished = true;
            cleanUps = deferred == null ? List.of() : deferred;
            deferred = null; // a closed scope keeps neither reachable
            taken = lease;
            lease = null;
        }
        int failed = runDeferred(cleanUps);
        boolean released = release(taken);
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        if (!inner.isEmpty()) {
            throw violation(inner, failures == null ? List.of() : failures);
        }
        if (failures != null) {
            throw new AggregateException(
                    "at the end of scope \"" + tasks().name + "\" " + failureText(failed, released), failures);
        }
    }

    /** Runs deferred actions, the latest first. Returns how many have failed. */
    private int runDeferred(Collection<Runnable> cleanUps) {
        int failed = 0;
        for (Runnable cleanUp : cleanUps) {
            try {
                cleanUp.run();
            } catch (Throwable failure) {
                addFailure(failure);
                failed++;
            }
        }
        return failed;
    }

    /** Closes the scheduler's lease. Returns whether that succeeded. */
    private boolean release(Scheduler.@Nullable Lease taken) {
        try {
            if (taken != null) {
                taken.close();
            }
            return true;
        } catch (Throwable failure) {
            addFailure(failure);
            return false;
        }
    }

    private StructureViolationException violation(List<String> inner, List<Throwable> failures) {
        StructureViolationException violation = new StructureViolationException(
                "scopes close in the reverse order of their opening; scope \"" + tasks().name
                        + "\" was closed before " + String.join(", ", inner)
                        + " inside it, which were closed as well");
        failures.forEach(failure -> UserCode.addSuppressed(violation, failure));
        return violation;
    }

    private static String failureText(int actions, boolean released) {
        String deferred = actions == 0 ? "" : actions + " of the deferred actions failed, and all of them were run";
        String scheduler = released ? "" : "the release of the scheduler failed";
        return deferred + (actions == 0 || released ? "" : "; ") + scheduler;
    }
}
