package dev.raddle.scope;

import dev.raddle.kernel.EnclosingScope;
import dev.raddle.task.CancelledException;
import dev.raddle.task.TaskContext;
import dev.raddle.time.Deadline;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * A {@link ThreadScope} in the tree of scopes that are open inside each other: its place in its owner's thread, its
 * deadline, and its cancellation with all inside. {@link ScopeClosing} has its end.
 */
final class ScopeNode extends ScopeClosing {

    /*
     * Overview.
     *
     * The state of a scope is the state of its gate: tasks enter while the gate is open. The gate is closed once, with
     * the reason, by the first of cancel, the deadline's alarm and close(). The thread that closes it removes all tasks
     * from the queue, cancels those and the running ones, and then the scheduled ones. The gate is closed under its
     * lock, so each task was either seen by the closing thread or saw the closed gate.
     *
     * A scope that is opened inside another, by the owner of the outer scope or in one of its tasks, is in the outer
     * scope's set `nested` from its opening to its end. Cancelling closes the gates of the whole tree; the gate of each
     * scope is closed before its set is read. An opened scope adds itself to the set before it reads the gate of the
     * outer scope. So none is missed. A scope in a task that a group runs beside the outer scope is in no set: the
     * outer scope does not wait for that task.
     *
     * If a setter in the head of a try-with-resources statement throws, no variable refers to the scope, and it can
     * never be closed. So the scope is `detached` then: removed from its thread, from the outer scope's set and from
     * the time source. The next use of the scope reverts that, because a block will close it.
     *
     * The deadline's alarm cancels and interrupts in the time source's thread. Hooks, listeners and token actions are
     * called in another thread (OffloadExecutor), because the time source's thread must not run user code.
     */

    final ThreadScope scope;
    final ScopeTasks tasks;
    final Thread owner = Thread.currentThread();
    private final @Nullable EnclosingScope enclosing; // this scope has no more time than it
    final @Nullable ScopeNode parent; // cancelling it cancels this scope
    volatile boolean detached; // reset under this
    private volatile @Nullable ScopeToken token; // null until used; created under this
    private volatile @Nullable ScopeDeadline deadline;
    private volatile @Nullable Set<ScopeNode> nested; // null until used; created under this

    ScopeNode(ThreadScope scope, @Nullable String name, ScopeOptions options) {
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

    @Override
    ScopeTasks tasks() {
        return tasks;
    }

    @Override
    Thread owner() {
        return owner;
    }

    // The owner's thread.

    /** Opens this scope: sets its limits, and makes it the calling owner's innermost scope. */
    void open() {
        ScopeOptions.Draft all = tasks.options.all;
        if (all.concurrencyLimit != Integer.MAX_VALUE) {
            tasks.gate.setLimit(all.concurrencyLimit);
        }
        if (enclosing != null || all.deadline != null) {
            limitTime(all.deadline);
        }
        enterThread();
    }

    private void enterThread() {
        enter();
        if (parent != null && !parent.tasks.gate.ended) {
            parent.nested().add(this);
            CancelledException cause = parent.tasks.gate.closeCause();
            if (cause != null) {
                cancel(cancelledWith(parent, cause));
            }
        }
    }

    @Override
    void leaveThread() {
        leave();
        if (parent != null) {
            parent.nested().remove(this);
        }
        ScopeDeadline set = deadline;
        if (set != null) {
            set.disarm();
        }
    }

    /** Detaches this scope, which may be unreachable, unless the owner is in a block that will close it. */
    void detach() {
        if (Thread.currentThread() == owner && entered() == this && !tasks.begun) {
            leaveThread();
            detached = true;
        }
    }

    /** Reverts {@link #detach}, because the scope is used. */
    void attach() {
        if (detached && endDetachment()) {
            ScopeDeadline set = deadline;
            if (set != null) {
                set.arm();
            }
            if (Thread.currentThread() == owner) {
                enterThread();
            }
        }
    }

    private synchronized boolean endDetachment() {
        boolean ended = detached;
        detached = false;
        return ended;
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
        if (closeGate(cause) && nested != null) {
            cancelNested(cause, true);
        }
    }

    private boolean closeGate(CancelledException cause) {
        if (!tasks.gate.close(cause, null)) {
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
     * {@inheritDoc}
     *
     * <p>If every task has ended, there remain only what was scheduled for later, the token, and the scopes inside.
     */
    @Override
    boolean close() {
        if (!tasks.gate.closeIfEmpty()) {
            cancel(tasks.gate.endOfScope());
            return false;
        }
        if (token != null || nested != null || tasks.scheduled != null) {
            CancelledException cause = tasks.gate.endOfScope();
            cancelTasks(cause);
            cancelNested(cause, true);
        }
        return true;
    }

    /** Cancels the scopes inside this one, at all depths. Scopes may nest deeply, so this does not recurse. */
    private void cancelNested(CancelledException cause, boolean includingExpired) {
        Deque<ScopeNode> outers = new ArrayDeque<>();
        outers.add(this);
        for (ScopeNode outer; (outer = outers.poll()) != null; ) {
            for (ScopeNode inner : outer.children()) {
                if ((includingExpired || !inner.hasExpired()) && inner.closeGate(inner.cancelledWith(this, cause))) {
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

    /** Creates the token. The thread that closes the gate reads the field after that, and this one the other way. */
    private ScopeToken createToken() {
        ScopeToken created;
        synchronized (this) {
            created = token == null ? new ScopeToken(this) : token;
            token = created;
        }
        if (tasks.gate.closed) {
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

    @Override
    void failChannels() {
        ScopeToken used = token;
        if (used != null) {
            used.failChannels();
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
        if (deadline != passed || tasks.gate.closed) {
            return; // another deadline was set meanwhile, or the scope was cancelled
        }
        DeadlineExpiry expiry = DeadlineExpiry.of(tasks.name, passed.budget, tasks.pendingNames());
        CancelledException cause = expiry.cause();
        if (tasks.gate.close(cause, expiry)) {
            tasks.cancelAllExcept(null, cause, notifier);
            notifier.execute(this::runTokenActions);
            if (nested != null) {
                notifier.execute(() -> cancelNested(cause, false)); // the others have alarms that fire now
            }
        }
    }
}
