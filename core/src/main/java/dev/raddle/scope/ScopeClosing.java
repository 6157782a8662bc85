package dev.raddle.scope;

import dev.raddle.kernel.Dispatch;
import dev.raddle.task.Scheduler;
import dev.raddle.time.Signal;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a scope ends with: the wait for its tasks, the deferred actions, and the release of the scheduler. The owner
 * calls {@link #awaitEmpty} and then {@link #end}; any thread may add an action until then.
 */
final class ScopeClosing {

    /** A deferred action, which runs before those that were deferred earlier. */
    private record Deferred(Runnable cleanUp, @Nullable Deferred earlier) {
        static final Deferred NO_MORE = new Deferred(() -> {}, null);
    }

    private final ScopeTasks tasks;
    private volatile boolean begun; // whether a task was submitted; written under this
    private Scheduler.@Nullable Lease lease; // null until taken, NOTHING when released; guarded by this
    private @Nullable Deferred deferred; // the latest, or NO_MORE; guarded by this

    ScopeClosing(ScopeTasks tasks) {
        this.tasks = tasks;
    }

    boolean hasBegun() {
        return begun;
    }

    /** Returns true to exactly one caller, which then takes the lease. */
    synchronized boolean begin() {
        boolean first = !begun;
        begun = true;
        return first;
    }

    /** Takes a lease of the scheduler, or releases it at once if the scope was closed meanwhile. */
    void takeLease() {
        Scheduler.Lease taken = tasks.settings.options.scheduler.lease();
        if (!keep(taken)) {
            taken.close();
        }
    }

    private synchronized boolean keep(Scheduler.Lease taken) {
        if (lease != null) {
            return false;
        }
        lease = taken;
        return true;
    }

    /** Adds an action that runs when every task has ended. */
    synchronized void defer(Runnable cleanUp) {
        if (deferred == Deferred.NO_MORE) {
            throw tasks.closedException("a deferred action");
        }
        deferred = new Deferred(cleanUp, deferred);
    }

    /** Waits until every task has ended. Clears the interrupt status and returns whether the thread was interrupted. */
    boolean awaitEmpty() {
        boolean interrupted = Thread.interrupted();
        Signal empty = tasks.gate.untilEmpty();
        if (!empty.isSet()) {
            interrupted |= awaitWithReports(empty);
        }
        return Thread.interrupted() || interrupted;
    }

    private boolean awaitWithReports(Signal empty) {
        ScopeSettings settings = tasks.settings;
        StragglerReporter stragglers = new StragglerReporter(
                settings.name, settings.time, settings.options.patience, settings.options.sink, this::stragglers);
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

    private List<StragglerReporter.Straggler> stragglers() {
        return tasks.gate.placed().stream()
                .map(run -> new StragglerReporter.Straggler(run.name(), run.begunNanos(), run.lastRunner()))
                .toList();
    }

    /**
     * Runs the deferred actions and releases the scheduler. Then throws if something was wrong.
     *
     * @param inner the labels of scopes that were still open inside this one, and were closed
     * @param failures the exceptions of their ends, to which this method adds others
     * @param interrupted whether to set the interrupt status
     */
    void end(List<String> inner, List<Throwable> failures, boolean interrupted) {
        int before = failures.size();
        runDeferred(failures);
        int actions = failures.size() - before;
        boolean released = releaseScheduler(failures);
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        if (!inner.isEmpty()) {
            throw violation(inner, failures);
        }
        if (!failures.isEmpty()) {
            throw new AggregateException(
                    "at the end of scope \"" + tasks.settings.name + "\" " + failureText(actions, released), failures);
        }
    }

    private StructureViolationException violation(List<String> inner, List<Throwable> failures) {
        StructureViolationException violation = new StructureViolationException(
                "scopes close in the reverse order of their opening; scope \"" + tasks.settings.name
                        + "\" was closed before " + String.join(", ", inner)
                        + " inside it, which were closed as well");
        failures.forEach(violation::addSuppressed);
        return violation;
    }

    private static String failureText(int actions, boolean released) {
        String deferred = actions == 0 ? "" : actions + " of the deferred actions failed, and all of them were run";
        String scheduler = released ? "" : "the release of the scheduler failed";
        return deferred + (actions == 0 || released ? "" : "; ") + scheduler;
    }

    private void runDeferred(List<Throwable> failures) {
        Deferred next;
        synchronized (this) {
            next = deferred;
            deferred = Deferred.NO_MORE;
        }
        for (; next != null; next = next.earlier()) {
            try {
                next.cleanUp().run();
            } catch (Throwable failure) {
                failures.add(failure);
            }
        }
    }

    /** Closes the scheduler's lease. Returns whether that succeeded. */
    private boolean releaseScheduler(List<Throwable> failures) {
        Scheduler.Lease taken;
        synchronized (this) {
            taken = lease;
            lease = Scheduler.Lease.NOTHING;
        }
        if (taken != null && taken != Scheduler.Lease.NOTHING) {
            try {
                taken.close();
            } catch (Throwable failure) {
                failures.add(failure);
                return false;
            }
        }
        return true;
    }
}
