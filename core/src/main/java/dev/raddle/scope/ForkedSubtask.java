package dev.raddle.scope;

import dev.raddle.scope.StructuredTaskScope.Subtask;
import dev.raddle.time.UserCode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** One subtask: what the user holds, what the thread runs, and a node of the scope's list of unfinished subtasks, in one. */
sealed class ForkedSubtask<T extends @Nullable Object> implements Subtask<T>, Runnable, Callable<@Nullable Object>
        permits PlacedSubtask {

    /*
     * Overview.
     *
     * `phase` only grows, and says who counts this subtask as finished:
     *
     *   WAITING ──► RUNNING ──► ENDED     by the thread that runs it, or by the scheduler that rejects it
     *   WAITING ──────────────► ENDED     abandoned: by its forker, whose container did not start the thread; by the owner,
     *                                     who finds that thread dead; by a shutdown that takes it out of a scheduler's queue
     *
     * Both ways out of WAITING are a compare-and-set, so exactly one of them counts down, once.
     *
     * `result` is written by the runner between RUNNING and ENDED, or never: it stays null after a shutdown.
     *
     * `interrupt` sees to it that at most one interrupt is sent:
     *
     *   NONE ──► UNDER_WAY ──► SENT       by whoever shuts down, or by the forker that finds the scope shut down
     *   NONE ─────────────────► SENT      by the runner of a pooled thread, who wants none any more
     *
     * A thread that has not begun may be interrupted: it begins with its interrupt status set. That is how a subtask forked
     * before a shutdown runs after it.
     */
    static final byte WAITING = 0;
    static final byte RUNNING = 1;
    static final byte ENDED = 2;

    static final byte NONE = 0;
    static final byte UNDER_WAY = 1;
    static final byte SENT = 2;

    private static final VarHandle PHASE;
    private static final VarHandle INTERRUPT;
    private static final Object NULL = new Object();

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            PHASE = lookup.findVarHandle(ForkedSubtask.class, "phase", byte.class);
            INTERRUPT = lookup.findVarHandle(ForkedSubtask.class, "interrupt", byte.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    private record Failed(Throwable exception) {}

    final StructuredTaskScope<? super T> scope;
    final Callable<? extends T> task;
    final long forkedAt;

    @Nullable
    ForkedSubtask<?> next; // the next older one, null once this is unlinked; Unfinished says who writes it

    private final int round; // of the owner's joins; less than any if somebody else forked it

    volatile @Nullable Thread thread; // from when it is made until it ends
    private @Nullable ObservedSubtask observed; // written by its forker before it is started
    private volatile @Nullable Object result;

    @SuppressWarnings("UnusedVariable") // by PHASE
    private volatile byte phase;

    @SuppressWarnings("UnusedVariable") // by INTERRUPT
    private volatile byte interrupt;

    ForkedSubtask(StructuredTaskScope<? super T> scope, Callable<? extends T> task, int round, long forkedAt) {
        this.scope = scope;
        this.task = task;
        this.round = round;
        this.forkedAt = forkedAt;
    }

    /** Has the listener, if there is one, hear of it. Called by the forker, before it is started. */
    final void observe(StructuredScopeOptions options) {
        observed = ObservedSubtask.of(scope, task, options);
    }

    /** Runs it in a thread that has inherited what it should. Never throws: the JDK's scope must not hear of failures. */
    @Override
    public final @Nullable Object call() {
        run(scope.inside());
        return null;
    }

    /** Runs it with scoped values. Never throws. */
    final void run(ScopedValue.Carrier values) {
        try {
            scope.enclosing(values).run(this);
        } catch (Throwable leftOpen) {
            scope.sink()
                    .report(
                            "subtask " + name() + " of scope \"" + scope.name() + "\", which left a scope open",
                            leftOpen);
        }
    }

    /** Runs it in a thread that knows which scope it is in. */
    @Override
    public final void run() {
        if (!begin()) {
            return;
        }
        Object outcome;
        try {
            ObservedSubtask known = observed;
            outcome = known == null ? task.call() : known.<@Nullable Object>call(task);
        } catch (Throwable failure) {
            outcome = new Failed(failure);
        }
        end(outcome);
        scope.leave(Thread.currentThread());
    }

    /** Makes the caller the one who ends it. */
    boolean begin() {
        return PHASE.compareAndSet(this, WAITING, RUNNING);
    }

    /** Ends it without it ever having run. Called by who has made sure that no thread will run it. */
    final boolean abandon() {
        if (!PHASE.compareAndSet(this, WAITING, ENDED)) {
            return false;
        }
        thread = null;
        leftPlace();
        ObservedSubtask known = observed;
        if (known != null) {
            observed = null;
            known.cancelled();
        }
        scope.ended(true);
        return true;
    }

    /** Fails it instead of running it. */
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
            ObservedSubtask known = observed;
            if (known != null) {
                observed = null; // who keeps the subtask does not keep its context
                tell(known);
            }
            wantNoInterrupt();
            thread = null;
            phase = ENDED;
            leftPlace();
            scope.ended(false);
        }
    }

    private void tell(ObservedSubtask known) {
        Object now = result;
        if (now == null) {
            known.cancelled();
        } else if (now instanceof Failed(Throwable exception)) {
            known.failed(exception);
        } else {
            known.succeeded(now == NULL ? null : now);
        }
    }

    /** What handleComplete throws goes where it would go if it ended the thread. */
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

    /** Interrupts the calling thread, which is about to run it, unless somebody has done so. */
    final void interruptRunner() {
        if (INTERRUPT.compareAndSet(this, NONE, SENT)) {
            Thread.currentThread().interrupt();
        }
    }

    /** Interrupts its thread unless that is the caller, has ended, or was interrupted before. */
    void stop() {
        Thread runner = thread;
        if (runner == null || runner == Thread.currentThread() || !INTERRUPT.compareAndSet(this, NONE, UNDER_WAY)) {
            return;
        }
        try {
            runner.interrupt();
        } catch (Throwable failure) {
            scope.sink().report("interrupt() of " + UserCode.textOf(runner), failure);
        } finally {
            interrupt = SENT;
        }
    }

    /** Called once, after the end: the place at a scheduler is of no more use. */
    void leftPlace() {}

    /** Called by the runner, which is about to leave. A thread of its own may be interrupted when nobody cares any more. */
    void wantNoInterrupt() {}

    /** Returns when no interrupt is on its way to the calling thread any more, nor ever will be, and clears one that came. */
    final void refuseInterrupts() {
        if (!INTERRUPT.compareAndSet(this, NONE, SENT)) {
            while (interrupt == UNDER_WAY) {
                Thread.onSpinWait();
            }
            Thread.interrupted();
        }
    }

    final boolean isWaiting() {
        return phase == WAITING;
    }

    final boolean hasEnded() {
        return phase == ENDED;
    }

    /** Tells whether its thread has ended without coming here: it will never run. */
    final boolean isDead() {
        Thread runner = thread;
        return runner != null && isWaiting() && runner.getState() == Thread.State.TERMINATED && isWaiting();
    }

    /** Tells its forker whether the container has refused its thread: that is then dead if virtual, and new if not. */
    final boolean isRefused() {
        Thread runner = thread;
        if (runner == null || !isWaiting()) {
            return false;
        }
        Thread.State state = runner.getState();
        return (state == Thread.State.TERMINATED || state == Thread.State.NEW) && isWaiting();
    }

    /** Returns its name for people: that of its thread, or else the class of its task. */
    final String name() {
        Thread runner = thread;
        String name = runner == null ? "" : runner.getName();
        return name.isEmpty() ? ObservedSubtask.nameOf(task) : name;
    }

    /** The owner must have joined, unless it is the owner's thread that the subtask has just ended in. */
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
                    "a result is there if the state is SUCCESS, and it was " + state() + "; ask state() first");
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
                "an exception is there if the state is FAILED, and it was " + state() + "; ask state() first");
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
