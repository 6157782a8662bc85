package dev.raddle.scope;

import dev.raddle.kernel.EnclosingScope;
import dev.raddle.kernel.OverdueReports;
import dev.raddle.kernel.TimeLimit;
import dev.raddle.task.CancelledException;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskContext;
import dev.raddle.time.Deadline;
import dev.raddle.time.Signal;
import dev.raddle.time.UserCode;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A {@link ThreadScope} in the tree of scopes that are open inside each other: its place in its owner's thread, its
 * deadline, its cancellation with all inside, and its end.
 */
final class ScopeNode extends EnclosingScope {

    /*
     * Overview.
     *
     * A scope is closed to further tasks once, with the reason, by the first of cancel, the deadline's alarm and the
     * owner's close(). The thread that closes it cancels all tasks that have not ended, and the periodic jobs. Each
     * task was either seen by that thread or saw that the scope is closed (PendingRuns).
     *
     * A scope that is opened inside another, by the owner of the outer scope or in one of its tasks, is in the outer
     * scope's set `nested` from its opening to its end. Cancelling closes the whole tree; each scope is closed before
     * its set is read. An opened scope adds itself to the set before it reads whether the outer scope is closed. So
     * none is missed. A scope in a task that a group runs beside the outer scope is in no set: the outer scope does not
     * wait for that task.
     *
     * If a setter in the head of a try-with-resources statement throws, no variable refers to the scope, and no block
     * will close it. So the setter ends it, unless the owner has opened another scope since, and so is in the block.
     *
     * The owner ends the scope: it closes it to further tasks, closes the scopes that it has left open inside, waits
     * until every task has ended, runs the deferred actions, the latest first, and releases the scheduler's lease.
     *
     * The deadline's alarm cancels and interrupts in the time source's thread. Hooks, listeners and token actions are
     * called in another thread (OffloadExecutor), because the time source's thread must not run user code.
     */

    final ThreadScope scope;
    final ScopeTasks tasks;
    final Thread owner = Thread.currentThread();
    private final @Nullable EnclosingScope enclosing; // this scope has no more time than it
    final @Nullable ScopeNode parent; // cancelling it cancels this scope
    private volatile @Nullable ScopeToken token; // null until used; created under this
    private volatile @Nullable ScopeDeadline deadline;
    private volatile @Nullable Set<ScopeNode> nested; // null until used; created under this
    private @Nullable Deque<Runnable> deferred; // the latest action first; null if there is none; guarded by this
    private boolean finished; // guarded by this
    private @Nullable List<Throwable> failures; // what this end has thrown; used only by the owner

    ScopeNode(ThreadScope scope, @Nullable String name, ScopeSettings options) {
        this.scope = scope;
        this.enclosing = innermost();
        this.parent = enclosing == null ? null : nodeOf(nest());
        this.tasks = new ScopeTasks(this, name, options, enclosing == null ? null : enclosing.deadline());
    }

    /** Returns the scope of which the calling thread runs a task, or null if there is none. */
    static @Nullable ScopeNode ofTaskOfCaller() {
        return TaskContext.current().isMember() ? nodeOf(ofTask()) : null;
    }

    /** Returns the given enclosure if it is a scope, its scope if it is a task, or else null. */
    private static @Nullable ScopeNode nodeOf(@Nullable EnclosingScope enclosure) {
        return switch (enclosure) {
            case ScopeNode node -> node;
            case TimedEnclosure task -> task.scope();
            case null, default -> null;
        };
    }

    // The owner's thread.

    /** Opens this scope: sets its deadline, and makes it the calling owner's innermost scope. */
    void open() {
        Duration length = tasks.options.deadline;
        if (enclosing != null || length != null) {
            limitTime(length);
        }
        enter();
        if (parent != null && !parent.tasks.ended) {
            parent.nested().add(this);
            CancelledException cause = parent.tasks.pending.closeCause();
            if (cause != null) {
                cancel(cancelledWith(parent, cause));
            }
        }
    }

    /** Ends this scope, to which no variable may refer, because a setter has thrown. */
    void endAfter(Throwable refused) {
        if (Thread.currentThread() == owner && entered() == this) {
            try {
                end();
            } catch (Throwable failure) {
                UserCode.addSuppressed(refused, failure);
            }
        }
    }

    /** Removes this scope from its owner's thread, from those that its parent cancels, and from the time source. */
    private void leaveThread() {
        leave();
        if (parent != null) {
            parent.nested().remove(this);
        }
        ScopeDeadline set = deadline;
        if (set != null) {
            set.disarm();
        }
    }

    @Override
    public @Nullable EnclosingScope enclosing() {
        return enclosing;
    }

    @Override
    public String label() {
        return "scope \"" + tasks.name + "\"";
    }

    // The tree.

    private synchronized Set<ScopeNode> nested() {
        Set<ScopeNode> all = nested == null ? ConcurrentHashMap.newKeySet() : nested;
        nested = all;
        return all;
    }

    /** Returns the open scopes inside this one. */
    Set<ScopeNode> children() {
        Set<ScopeNode> all = nested;
        return all == null ? Set.of() : all;
    }

    // Cancelling.

    void cancel(String reason) {
        cancel(new CancelledException("scope \"" + tasks.name + "\" was cancelled: " + reason));
    }

    /** Cancels the tasks of this scope and the scopes inside it, unless it was cancelled before. */
    void cancel(CancelledException cause) {
        if (closeTasks(cause) && nested != null) {
            cancelNested(cause, true);
        }
    }

    private boolean closeTasks(CancelledException cause) {
        if (!tasks.pending.close(cause, null)) {
            return false;
        }
        cancelTasks(cause);
        return true;
    }

    private void cancelTasks(CancelledException cause) {
        tasks.cancelAllExcept(null, cause, Runnable::run);
        runTokenActions();
    }

    /**
     * Closes this scope to further tasks and cancels whatever has not ended. If every task has ended, there remain only
     * periodic jobs, the token, and the scopes inside.
     */
    private void close() {
        PendingRuns pending = tasks.pending;
        if (pending.close(null, null)
                && !(pending.isEmpty() && token == null && nested == null && tasks.jobs == null)) {
            CancelledException cause = Objects.requireNonNull(pending.closeCause());
            cancelTasks(cause);
            cancelNested(cause, true);
        }
    }

    /** Cancels the scopes inside this one, at all depths. Scopes may nest deeply, so this does not recurse. */
    private void cancelNested(CancelledException cause, boolean includingExpired) {
        Deque<ScopeNode> outers = new ArrayDeque<>();
        outers.add(this);
        for (ScopeNode outer; (outer = outers.poll()) != null; ) {
            for (ScopeNode inner : outer.children()) {
                if ((includingExpired || !inner.hasExpired()) && inner.closeTasks(inner.cancelledWith(this, cause))) {
                    outers.add(inner);
                }
            }
        }
    }

    private boolean hasExpired() {
        ScopeDeadline set = deadline;
        return set != null && set.moment.hasPassed();
    }

    private CancelledException cancelledWith(ScopeNode outer, CancelledException cause) {
        return new CancelledException(
                "scope \"" + tasks.name + "\" was cancelled with the enclosing scope \"" + outer.tasks.name + "\": "
                        + cause.getMessage(),
                cause);
    }

    // The token.

    /** Returns the token of this scope. */
    ScopeToken token() {
        ScopeToken known = token;
        return known != null ? known : createToken();
    }

    /** Creates the token. The thread that closes the scope reads the field after that, and this one the other way. */
    private ScopeToken createToken() {
        ScopeToken created;
        synchronized (this) {
            created = token == null ? new ScopeToken(this) : token;
            token = created;
        }
        if (tasks.pending.isClosed()) {
            created.runActions();
        }
        return created;
    }

    private void runTokenActions() {
        ScopeToken used = token;
        if (used != null) {
            used.runActions();
        }
    }

    // The deadline.

    @Override
    public @Nullable Deadline deadline() {
        ScopeDeadline set = deadline;
        return set == null ? null : set.moment;
    }

    /** Returns the deadline of the calling thread, which may be inside a task of this scope with a timeout. */
    @Nullable
    Deadline deadlineOfCaller() {
        for (EnclosingScope inside = innermost(); inside != null; inside = inside.enclosing()) {
            if (inside instanceof TimedEnclosure task && task.scope() == this) {
                return task.deadline(); // earlier than the scope's
            }
        }
        return deadline();
    }

    /** Sets the deadline to the earlier of that of the enclosure and the given length from now, if there is either. */
    void limitTime(@Nullable Duration length) {
        Deadline outer = enclosing == null ? null : enclosing.deadline();
        if (length != null && (outer == null || length.compareTo(outer.remaining()) < 0)) {
            setDeadline(new ScopeDeadline(this, Deadline.after(tasks.time, length), length));
        } else if (outer != null) {
            setDeadline(new ScopeDeadline(this, outer, outer.remaining()));
        }
    }

    private void setDeadline(ScopeDeadline next) {
        ScopeDeadline former = deadline;
        deadline = next;
        next.arm();
        if (former != null) {
            former.disarm();
        }
    }

    /** Ends this scope at its deadline. The notifier calls user code, which may take long, for each task by itself. */
    void expire(ScopeDeadline passed, Executor notifier) {
        if (deadline != passed || tasks.pending.isClosed()) {
            return; // another deadline was set meanwhile, or the scope was cancelled
        }
        DeadlineExpiry expiry = DeadlineExpiry.of(tasks.name, passed.budget, tasks.pendingNames());
        CancelledException cause = expiry.cause();
        if (tasks.pending.close(cause, expiry)) {
            tasks.cancelAllExcept(null, cause, notifier);
            notifier.execute(this::runTokenActions);
            if (nested != null) {
                notifier.execute(() -> cancelNested(cause, false)); // the others have alarms that fire now
            }
        }
    }

    // The end. The owner calls `end`; any thread may defer an action until then.

    /** Takes a lease of the scheduler, or releases it at once if the scope was closed meanwhile. */
    void takeLease() {
        Scheduler.Lease taken = tasks.options.scheduler.lease();
        if (taken != Scheduler.Lease.NOTHING && !keep(all -> all.addLast(taken::close))) {
            taken.close();
        }
    }

    /** Adds an action that runs when every task has ended. */
    void defer(Runnable cleanUp) {
        if (!keep(all -> all.addFirst(cleanUp))) {
            throw tasks.closedException("a deferred action");
        }
    }

    private synchronized boolean keep(Consumer<Deque<Runnable>> addition) {
        if (!finished) {
            deferred = deferred == null ? new ArrayDeque<>() : deferred;
            addition.accept(deferred);
        }
        return !finished;
    }

    /** Closes the scope. The deferred actions run when every task has ended, however long that takes. */
    void end() {
        requireMayClose();
        if (tasks.ended) {
            return;
        }
        close();
        List<String> inner = closeInner();
        boolean interrupted = awaitEmpty();
        tasks.ended = true;
        tasks.pending.clearIfEmpty(); // a handle that is kept retains no other task
        try {
            ScopeToken used = token;
            if (used != null) {
                used.failChannels(); // a cancelling thread may run the token's actions only after this
            }
            leaveThread();
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
        if (Thread.currentThread() != owner) {
            throw new WrongThreadException(label() + " can be closed only by its owner, " + owner + ", was closed by "
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
        if (!tasks.pending.isEmpty()) {
            interrupted |= awaitWithReports(tasks.pending.untilEmpty());
        }
        return Thread.interrupted() || interrupted;
    }

    private boolean awaitWithReports(Signal empty) {
        OverdueReports<ScopeRun<?>> stragglers = new OverdueReports<>(
                tasks.time,
                () -> tasks.options.patience,
                tasks.offload(),
                tasks.pending::unfinished,
                ScopeRun::lastRunner,
                this::reportStraggler);
        stragglers.arm();
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
                + TimeLimit.text(Duration.ofNanos(tasks.time.nanoTime() - run.startNanos())) + " in "
                + UserCode.textOf(thread));
        where.setStackTrace(stack);
        tasks.sink.report("close() of scope \"" + tasks.name + "\", which waits for " + task, where);
    }

    private void addFailure(Throwable failure) {
        if (failures == null) {
            failures = new ArrayList<>();
        }
        failures.add(failure);
    }

    /**
     * Runs the deferred actions, the latest first, and then the release of the scheduler. Then throws if something was
     * wrong.
     *
     * @param inner the labels of scopes that were still open inside this one, and were closed
     * @param interrupted whether to set the interrupt status
     */
    private void finish(List<String> inner, boolean interrupted) {
        Collection<Runnable> cleanUps;
        synchronized (this) {
            finished = true;
            cleanUps = deferred == null ? List.of() : deferred;
            deferred = null; // a closed scope does not keep them reachable
        }
        for (Runnable cleanUp : cleanUps) {
            try {
                cleanUp.run();
            } catch (Throwable failure) {
                addFailure(failure);
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        if (!inner.isEmpty()) {
            throw violation(inner, failures == null ? List.of() : failures);
        }
        if (failures != null) {
            throw new AggregateException(
                    "at the end of scope \"" + tasks.name + "\" " + failures.size() + " of the deferred actions and the"
                            + " release of the scheduler failed, and all of them were run",
                    failures);
        }
    }

    private StructureViolationException violation(List<String> inner, List<Throwable> failures) {
        StructureViolationException violation = new StructureViolationException(
                "scopes close in the reverse order of their opening; scope \"" + tasks.name
                        + "\" was closed before " + String.join(", ", inner)
                        + " inside it, which were closed as well");
        failures.forEach(failure -> UserCode.addSuppressed(violation, failure));
        return violation;
    }
}
