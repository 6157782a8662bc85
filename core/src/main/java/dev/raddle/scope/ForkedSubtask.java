package dev.raddle.scope;

import dev.raddle.kernel.InterruptWindow;
import dev.raddle.scope.StructuredTaskScope.Subtask;
import dev.raddle.time.UserCode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** A subtask: the user's handle, the thread's runnable, and a node in the scope's list of pending subtasks. */
sealed class ForkedSubtask<T extends @Nullable Object> extends InterruptWindow
        implements Subtask<T>, Runnable, Callable<@Nullable Object> permits PlacedSubtask {

    /*
     * Overview.
     *
     * `phase` only increases, and determines which thread counts this subtask as ended:
     *
     *   WAITING ──► RUNNING ──► ENDED     by the thread that runs it, or by the scheduler that rejects it
     *   WAITING ──────────────► ENDED     abandoned: by its forker, if the container did not start the thread; by the
     *                                     owner, if that thread has terminated; by a shutdown that withdraws it from a
     *                                     scheduler's queue
     *
     * Both transitions out of WAITING are a compare-and-set, so exactly one thread counts the end, once.
     *
     * `result` is written by the runner between RUNNING and ENDED, or never: it stays null after a shutdown.
     *
     * The window for interrupts is open from the start. It is closed by the one interrupt that is sent, by the thread
     * that shuts down or by the forker that sees the shutdown; or by the runner in a pooled thread, which refuses later
     * interrupts. A thread that has not begun may be interrupted: it begins with its interrupt status set. That is how
     * a subtask forked before a shutdown runs after it.
     */
    static final byte WAITING = 0;
    static final byte RUNNING = 1;
    static final byte ENDED = 2;

    private static final VarHandle PHASE;
    private static final Object NULL = new Object();

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            PHASE = lookup.findVarHandle(ForkedSubtask.class, "phase", byte.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    private record Failed(Throwable exception) {}

    final StructuredTaskScope<? super T> scope;
    final Callable<? extends T> task;
    final long forkedAt;

    @Nullable
    ForkedSubtask<?> next; // the next older subtask, null once this is unlinked; for writers see PendingSubtasks

    private final int round; // the owner's round of forks; -1 if another thread forked it

    volatile @Nullable Thread thread; // from its creation to the subtask's end
    private @Nullable ObservedSubtask observed; // written by its forker before it is started
    private volatile @Nullable Object result;

    @SuppressWarnings("UnusedVariable") // by PHASE
    private volatile byte phase;

    ForkedSubtask(StructuredTaskScope<? super T> scope, Callable<? extends T> task, int round, long forkedAt) {
        this.scope = scope;
        this.task = task;
        this.round = round;
        this.forkedAt = forkedAt;
    }

    /** Notifies the listener, if there is one, of the submission. Called by the forker before this is started. */
    final void observe(StructuredScopeOptions options) {
        observed = ObservedSubtask.of(scope, task, options);
    }

    /**
     * Runs this in a thread that has inherited its scoped values. Never throws: the JDK's scope must not see failures.
     */
    @Override
    public final @Nullable Object call() {
        run(scope.insideBinding());
        return null;
    }

    /** Runs this with scoped values. Never throws. */
    final void run(ScopedValue.Carrier values) {
        try {
            scope.withEnclosure(values).run(this);
        } catch (Throwable leftOpen) {
            scope.sink()
                    .report(
                            "subtask " + name() + " of scope \"" + scope.name() + "\", which left a scope open",
                            leftOpen);
        }
    }

    /** Runs this in a thread in which the scope is bound. */
    @Override
    public final void run() {
        if (!begin()) {
            return;
        }
        Object outcome;
        try {
            ObservedSubtask observer = observed;
            outcome = observer == null ? task.call() : observer.<@Nullable Object>call(task);
        } catch (Throwable failure) {
            outcome = new Failed(failure);
        }
        end(outcome);
        scope.closeOuterForks(Thread.currentThread());
    }

    /** Claims this subtask for the calling thread, which must end it. Returns false if it has begun or ended. */
    boolean begin() {
        return PHASE.compareAndSet(this, WAITING, RUNNING);
    }

    /**
     * Ends this without running it. The caller must ensure that no thread will run it. Returns false if it has begun.
     */
    final boolean abandon() {
        if (!PHASE.compareAndSet(this, WAITING, ENDED)) {
            return false;
        }
        thread = null;
        releasePlacement();
        ObservedSubtask observer = observed;
        if (observer != null) {
            observed = null;
            observer.cancelled();
        }
        scope.ended(true);
        return true;
    }

    /** Fails this instead of running it. */
    final void fail(Throwable failure) {
        if (begin()) {
            thread = Thread.currentThread();
            end(new Failed(failure));
        }
    }

    private void end(@Nullable Object outcome) {
        try {
            if (!scope.isShutdown()) {
                result = outcome == null ? NULL : outcome;
                scope.handleComplete(this);
            }
        } catch (Throwable uncaught) {
            report(uncaught);
        } finally {
            ObservedSubtask observer = observed;
            if (observer != null) {
                observed = null; // a reachable handle must not keep the context reachable
                notifyListener(observer);
            }
            endInterrupts();
            thread = null;
            phase = ENDED;
            releasePlacement();
            scope.ended(false);
        }
    }

    private void notifyListener(ObservedSubtask observer) {
        Object now = result;
        if (now == null) {
            observer.cancelled();
        } else if (now instanceof Failed(Throwable exception)) {
            observer.failed(exception);
        } else {
            observer.succeeded(now == NULL ? null : now);
        }
    }

    /** Passes an exception of handleComplete to the handler that would receive it if it terminated the thread. */
    private void report(Throwable uncaught) {
        Thread self = Thread.currentThread();
        try {
            self.getUncaughtExceptionHandler().uncaughtException(self, uncaught);
        } catch (Throwable failure) {
            if (failure != uncaught) {
                failure.addSuppressed(uncaught);
            }
            scope.sink().report("uncaught exception handler of " + UserCode.textOf(self), failure);
        }
    }

    /** Interrupts the calling thread, which is about to run this, unless the interrupt was sent before. */
    final void interruptRunner() {
        if (closeWindow()) {
            Thread.currentThread().interrupt();
        }
    }

    /** Interrupts the thread of this subtask unless it is the caller, has ended, or was interrupted before. */
    void stop() {
        Thread runner = thread;
        if (runner != null && runner != Thread.currentThread()) {
            interrupt(
                    runner, true, failure -> scope.sink().report("interrupt() of " + UserCode.textOf(runner), failure));
        }
    }

    /** Called once, after the end, to clear the placement at a scheduler. */
    void releasePlacement() {}

    /** Called by the runner after the subtask. A late interrupt is harmless if the thread runs nothing else. */
    void endInterrupts() {}

    /** Prevents further interrupts by this scope, waits for one that is being sent, and clears the interrupt status. */
    final void refuseInterrupts() {
        if (!closeWindow()) {
            Thread.interrupted();
        }
    }

    final boolean isWaiting() {
        return phase == WAITING;
    }

    final boolean hasEnded() {
        return phase == ENDED;
    }

    /** Returns whether the thread has terminated without running this subtask. */
    final boolean isDead() {
        Thread runner = thread;
        return runner != null && isWaiting() && runner.getState() == Thread.State.TERMINATED && isWaiting();
    }

    /**
     * Returns whether the container has not started the thread, which is then terminated if virtual, and new if not.
     */
    final boolean isRefused() {
        Thread runner = thread;
        if (runner == null || !isWaiting()) {
            return false;
        }
        Thread.State state = runner.getState();
        return (state == Thread.State.TERMINATED || state == Thread.State.NEW) && isWaiting();
    }

    /** Returns the name of the thread, or else that of the task, for messages and dumps. */
    final String name() {
        Thread runner = thread;
        String name = runner == null ? "" : runner.getName();
        return name.isEmpty() ? ObservedSubtask.nameOf(task) : name;
    }

    /** Ensures that the owner has joined. Does not apply to the thread that has just ended the subtask. */
    private void ensureJoined() {
        if (thread != Thread.currentThread()) {
            scope.ensureJoinedIfOwner(round);
        }
    }

    @Override
    public final Callable<? extends T> task() {
        return task;
    }

    @Override
    public final State state() {
        Object now = result;
        if (now == null) {
            return State.UNAVAILABLE;
        }
        return now instanceof Failed ? State.FAILED : State.SUCCESS;
    }

    @Override
    @SuppressWarnings({"unchecked", "NullAway"}) // null is a T if the callable returned it
    public final T get() {
        ensureJoined();
        Object now = result;
        if (now == null || now instanceof Failed) {
            throw new IllegalStateException(
                    "a result is available if the state is SUCCESS, was " + state() + "; ask state() first");
        }
        return now == NULL ? null : (T) now;
    }

    @Override
    public final Throwable exception() {
        ensureJoined();
        if (result instanceof Failed(Throwable exception)) {
            return exception;
        }
        throw new IllegalStateException(
                "an exception is available if the state is FAILED, was " + state() + "; ask state() first");
    }

    @Override
    public final String toString() {
        Object now = result;
        String state = switch (now) {
            case null -> "Unavailable";
            case Failed(Throwable exception) -> "Failed: " + exception;
            default -> "Completed successfully";
        };
        return Objects.toIdentityString(this) + "[" + state + "]";
    }
}
