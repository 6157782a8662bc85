package dev.raddle.scope;

import dev.raddle.kernel.InterruptWindow;
import dev.raddle.kernel.LateFailure;
import dev.raddle.lock.Fields;
import dev.raddle.scope.StructuredTaskScope.Subtask;
import dev.raddle.task.NamedTask;
import dev.raddle.time.UserCode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * A subtask: the user's handle, the thread's runnable, and a node in the scope's list of pending subtasks. The
 * container calls it in the subtask's thread.
 */
final class ForkedSubtask<T extends @Nullable Object> extends InterruptWindow
        implements Subtask<T>, Callable<@Nullable Object>, Runnable {

    /*
     * Overview.
     *
     * `phase` only increases, and determines which thread counts this subtask as ended:
     *
     *   WAITING ──► RUNNING ──► ENDED     by the thread that runs it
     *   WAITING ──────────────► ENDED     abandoned: by its forker, if the container did not start the thread; by the
     *                                     owner, if that thread has terminated
     *
     * Both transitions out of WAITING are a compare-and-set, so exactly one thread counts the end, once.
     *
     * `result` is written by the runner while the phase is RUNNING, or never: after a shutdown it is null. Before that
     * it has the view for the listener, if there is anything to observe; one field is enough for both.
     *
     * The window for interrupts is open from the start. It is closed by the one interrupt that is sent, by the thread
     * that shuts down or by the forker that sees the shutdown. A thread that has not begun may be interrupted: it
     * begins with its interrupt status set. That is how a subtask forked before a shutdown runs after it. A thread that
     * has ended its subtask may be interrupted too: it runs nothing else.
     */
    static final byte WAITING = 0;
    static final byte RUNNING = 1;
    static final byte ENDED = 2;

    static final VarHandle PHASE = Fields.handle(MethodHandles.lookup(), "phase", byte.class);
    static final VarHandle NEXT = Fields.handle(MethodHandles.lookup(), "next", ForkedSubtask.class);

    private static final Object NULL = new Object();

    /** What {@code result} holds if there is no value. */
    private sealed interface NoValue {}

    private record Failed(Throwable exception) implements NoValue {}

    private record Observed(ObservedSubtask view) implements NoValue {}

    @Nullable
    ForkedSubtask<?> next; // the next older subtask, null once this is unlinked; for writers see PendingSubtasks

    volatile @Nullable Thread thread; // from its creation to the subtask's end
    final int forkedMillis; // the lower half of the time source's milliseconds
    volatile byte phase;
    private final StructuredTaskScope<? super T> scope;
    private final Callable<? extends T> task;
    private final int round; // the owner's round of forks; -1 if another thread forked it
    private volatile @Nullable Object result; // null, NULL, another value, Failed, or Observed until the end

    ForkedSubtask(StructuredTaskScope<? super T> scope, Callable<? extends T> task, int round, int forkedMillis) {
        this.forkedMillis = forkedMillis;
        this.scope = scope;
        this.task = task;
        this.round = round;
    }

    /** Notifies the listener, if there is one, of the submission. Called by the forker before the start. */
    void observe() {
        result = new Observed(ObservedSubtask.of(scope, taskName()));
    }

    /**
     * Runs this in a thread that has inherited its scoped values. Never throws: the JDK's scope must not see failures.
     */
    @Override
    public @Nullable Object call() {
        run(scope.inside);
        return null;
    }

    /** Runs this with scoped values. Never throws. */
    void run(ScopedValue.Carrier values) {
        try {
            (scope.enclosure == null ? values : scope.withEnclosure(values)).run(this);
        } catch (Throwable leftOpen) {
            scope.sink()
                    .report(
                            "subtask " + name() + " of scope \"" + scope.name + "\", which left a scope open",
                            leftOpen);
        }
    }

    /** Runs this in a thread in which the scope is bound. */
    @Override
    public void run() {
        if (!PHASE.compareAndSet(this, WAITING, RUNNING)) {
            return;
        }
        Object outcome;
        try {
            outcome =
                    result instanceof Observed(ObservedSubtask view) ? view.<@Nullable Object>call(task) : task.call();
        } catch (Throwable failure) {
            outcome = new Failed(failure);
        }
        complete(outcome);
        if (scope.outerForks != null) {
            scope.closeOuterForks(Thread.currentThread());
        }
    }

    /**
     * Ends this without running it. The caller must ensure that no thread will run it. Returns false if it has begun.
     */
    boolean abandon() {
        if (!PHASE.compareAndSet(this, WAITING, ENDED)) {
            return false;
        }
        thread = null;
        if (result instanceof Observed(ObservedSubtask view)) {
            result = null;
            view.cancelled();
        }
        scope.ended(true);
        return true;
    }

    private void complete(@Nullable Object outcome) {
        ObservedSubtask observer = result instanceof Observed(ObservedSubtask view) ? view : null;
        try {
            if (scope.state == SubtaskScope.OPEN) {
                result = outcome == null ? NULL : outcome;
                scope.handleComplete(this);
            } else {
                result = null; // a reachable handle must not keep the observer's context reachable
                if (outcome instanceof Failed(Throwable thrown)) {
                    LateFailure.report(scope.sink(), "subtask " + name() + " of scope \"" + scope.name + '"', thrown);
                }
            }
        } catch (Throwable uncaught) {
            report(uncaught);
        }
        if (observer != null) {
            notifyListener(observer);
        }
        thread = null;
        phase = ENDED;
        scope.ended(false);
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
            UserCode.addSuppressed(failure, uncaught);
            scope.sink().report("uncaught exception handler of " + UserCode.textOf(self), failure);
        }
    }

    /** Interrupts the thread of this subtask unless it has shut down the scope, or has ended or been interrupted. */
    void interruptRunner() {
        Thread runner = thread;
        if (runner != null && runner.threadId() != scope.state) {
            interrupt(
                    runner, true, failure -> scope.sink().report("interrupt() of " + UserCode.textOf(runner), failure));
        }
    }

    /** Returns the name of the task, or that of its class. */
    String taskName() {
        return UserCode.nameOf(task instanceof NamedTask named ? named::name : null, task);
    }

    /** Returns the name of the thread, or else that of the task, for messages and dumps. */
    String name() {
        Thread runner = thread;
        String name = runner == null ? "" : runner.getName();
        return name.isEmpty() ? taskName() : name;
    }

    boolean isWaiting() {
        return phase == WAITING;
    }

    boolean hasEnded() {
        return phase == ENDED;
    }

    /** Returns whether the thread has terminated without running this subtask. */
    boolean isDead() {
        Thread runner = thread;
        return runner != null && isWaiting() && runner.getState() == Thread.State.TERMINATED && isWaiting();
    }

    /**
     * Returns whether the container has not started the thread, which is then terminated if virtual, and new if not.
     */
    boolean isRefused() {
        Thread runner = thread;
        if (runner == null || phase != WAITING) {
            return false;
        }
        Thread.State state = runner.getState();
        return (state == Thread.State.TERMINATED || state == Thread.State.NEW) && phase == WAITING;
    }

    @Override
    public Callable<? extends T> task() {
        return task;
    }

    @Override
    public State state() {
        Object now = result;
        if (now == null || now instanceof Observed) {
            return State.UNAVAILABLE;
        }
        return now instanceof Failed ? State.FAILED : State.SUCCESS;
    }

    @Override
    @SuppressWarnings({"unchecked", "NullAway"}) // null is a T if the callable returned it
    public T get() {
        if (thread != Thread.currentThread()) { // the thread that has just ended this may read the result
            scope.ensureJoinedIfOwner(round);
        }
        Object now = result;
        if (now == null || now instanceof NoValue) {
            throw new IllegalStateException(
                    "a result is available if the state is SUCCESS, was " + state() + "; ask state() first");
        }
        return now == NULL ? null : (T) now;
    }

    @Override
    public Throwable exception() {
        if (thread != Thread.currentThread()) { // the thread that has just ended this may read the result
            scope.ensureJoinedIfOwner(round);
        }
        if (result instanceof Failed(Throwable exception)) {
            return exception;
        }
        throw new IllegalStateException(
                "an exception is available if the state is FAILED, was " + state() + "; ask state() first");
    }

    @Override
    public String toString() {
        Object now = result;
        String state = switch (now) {
            case null -> "Unavailable";
            case Observed running -> "Unavailable";
            case Failed(Throwable exception) -> "Failed: " + exception;
            default -> "Completed successfully";
        };
        return Objects.toIdentityString(this) + "[" + state + "]";
    }
}
