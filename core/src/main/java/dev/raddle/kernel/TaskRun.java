package dev.raddle.kernel;

import dev.raddle.lock.Fields;
import dev.raddle.task.CancelledException;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Outcome;
import dev.raddle.task.TaskIdentity;
import dev.raddle.time.Deadline;
import dev.raddle.time.Signal;
import dev.raddle.time.TimeSource;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The life of one callable, from submission to settlement: the state machine under the handles of groups and scopes.
 *
 * <p>An API extends this class: the subclass releases the run's permits, notifies listeners, and admits the run. The
 * run is the node in the queue, the handle and the {@link Runnable} in one object.
 *
 * <p>Memory consistency effects: actions before a run is admitted <i>happen-before</i> its callable, and the callable
 * <i>happens-before</i> the return of {@link #awaitOutcome()}.
 *
 * @param <T> the type of the value
 */
public abstract class TaskRun<T> extends Permit implements Runnable, TaskIdentity {

    /*
     * Overview.
     *
     * One field, `state`, holds state, runner and result together, and changes by compare-and-set only:
     *
     *   null ───────► ENTERING ──────► Thread ──────────► Outcome          by the runner
     *   null, ENTERING ──────────────────────────────────► Outcome         by a canceller or an alarm
     *   Thread ──────► INTERRUPTING ─► Outcome                             by a canceller or an alarm that interrupts
     *   Thread ──────► INTERRUPTING ─► Thread                              by a shutdown, which only interrupts
     *   null ───────► CLAIMED ───────► Outcome                             by the thread that rejects or fails the run
     *
     *   null          submitted; waiting, or granted and not started
     *   ENTERING      the runner records the start and calls `started`; the callable is not entered yet
     *   Thread        that thread is inside the callable
     *   INTERRUPTING  a thread is calling interrupt() on the runner
     *   CLAIMED       the run will never start; its outcome is being determined by user code (a rejection handler)
     *   Outcome       decided; this never changes
     *
     * If a listener is notified of the start, ENTERING is an object that refers to the runner (Entering), because the
     * listener may wait for other runs.
     *
     * The thread whose step leads to the Outcome decides the run. A cancel, a start and an end compete only for that
     * step. So the callable of a run that was cancelled first is never entered, and a value that is returned too late
     * is dropped.
     *
     * A thread calls interrupt() on the runner only while `state` is INTERRUPTING, which is reached only while the
     * runner is inside the callable. The runner leaves the callable by a step from Thread; if it finds INTERRUPTING
     * instead, it waits until the field has changed, and then clears its interrupt status. So the next task of that
     * thread never sees an interrupt meant for this one (see InterruptWindow). Any other interrupt is meant for the
     * owner of the thread (Owner), which finds it set afterwards.
     *
     * A run is decided before it is settled. The thread that decides lets the permits be released (the runner releases
     * them; after a cancel the callable still runs, and its runner releases them when it has returned), calls
     * `settled`, and then sets `signal`, which wakes waiting threads. So a thread that sees a settled run finds its
     * slot free and its listener notified. An API that notifies before permits are released does so in `ended`, which
     * only the runner calls. There is one exception: a run that was decided while ENTERING is settled by its runner,
     * because only the runner knows when `started` has returned. So `started` always comes before `settled`.
     *
     * A scheduler may run a run twice, or fail after it has accepted it. The thread that steps from null releases the
     * permits: the runner, or the one that has claimed the run. Only if the run was ended from null, any later call of
     * the scheduler releases them, and releasing twice has no effect then. The runner sets BEGUN before a step to
     * Thread, so a thread that finds an Outcome, but not BEGUN, knows that no callable was or will be entered.
     *
     * If a scheduler runs a run in the thread that is starting it, the run is in place. That thread starts the runs
     * that become possible by its end when the scheduler has returned: see Dispatch.
     *
     * `startNanos` is written by the runner when it enters the run, or by the thread that settles a run which never
     * started; `endNanos` is written by the thread that settles a run which has started. Both have other uses before,
     * to keep a waiting run small. While the run waits, `startNanos` is the moment of its submission. `endNanos` is the
     * moment of the grant, if the cap has granted the run after a wait, until the run is entered, and also afterwards
     * if it was ended from null, because its slots are held until its scheduler runs it; such a run has ended at
     * `startNanos`. While the run is inside its callable, `endNanos` is the time that it waited. The runner writes that
     * before its step to Thread; a thread that ends the run from there reads it after a step from Thread. `signal` is
     * null until a thread waits, and SET at the end.
     */

    /** The moment of submission of a run whose waiting time is not needed. */
    public static final long NOT_MEASURED = Long.MIN_VALUE;

    private static final Object ENTERING = new Object();
    private static final Object INTERRUPTING = new Object();
    private static final Object CLAIMED = new Object();
    private static final Signal SET = new Signal();

    private static final byte IN_PLACE = 1; // it may run in place; set by the Dispatch that starts it
    private static final byte INTERRUPTED = 2; // by a thread that only interrupts; set in the state INTERRUPTING
    private static final byte ENTERED = 4; // set by the deciding thread, before it notifies
    private static final byte BEGUN = 8; // set by the runner in the state ENTERING
    private static final byte REFUSED = 16; // set by the thread that has claimed the run, which no thread will begin

    private static final VarHandle STATE = Fields.handle(MethodHandles.lookup(), "state", Object.class);
    private static final VarHandle SIGNAL = Fields.handle(MethodHandles.lookup(), "signal", Signal.class);

    static {
        SET.set();
    }

    private volatile @Nullable Object state;
    private volatile @Nullable Signal signal;
    private @Nullable Callable<? extends T> callable; // null when it has run, so that a handle does not retain it
    private long startNanos;
    private long endNanos;
    private byte flags; // a waiting run has no room for a field each

    /**
     * Creates a run that is submitted now.
     *
     * @param callable the callable
     * @param submitNanos the moment of submission, for waiting times, or {@link #NOT_MEASURED}
     */
    protected TaskRun(Callable<? extends T> callable, long submitNanos) {
        this.callable = callable;
        this.startNanos = submitNanos;
    }

    /**
     * A callable with the event of its start, for flight recordings. It is in `callable` before the step to Thread, so
     * a thread that ends the run from there finds the event, and the run needs no field for it.
     */
    private record Recorded<T>(Callable<? extends T> body, Recorder.Begun begun) implements Callable<T> {
        @Override
        public T call() throws Exception {
            return body.call();
        }
    }

    /** The state ENTERING with the runner. */
    private record Entering(Thread runner) {}

    /** The owner of a thread that runs runs, for which an interrupt is meant that was not sent to one of these. */
    private enum Owner {
        /** A run, for which the thread is new: every interrupt that arrives inside the callable is meant for it. */
        RUN,
        /** A scheduler: an interrupt that arrives before a run, or between two, is set again after the last. */
        SCHEDULER,
        /** A caller: also one that arrives inside the callable is set again afterwards, unless this run received it. */
        CALLER
    }

    private static boolean isEntering(@Nullable Object state) {
        return state == ENTERING || state instanceof Entering;
    }

    private boolean step(@Nullable Object from, Object to) {
        return STATE.compareAndSet(this, from, to);
    }

    /**
     * Returns the time source of the API.
     *
     * @return the time source, always the same
     */
    protected abstract TimeSource time();

    /**
     * Returns the sink for what the callable throws after the run was ended from outside.
     *
     * @return the sink of the API
     */
    protected abstract ExceptionSink sink();

    /**
     * Returns the context class loader that the callable and the callbacks of this run see.
     *
     * @return that of the submitter
     */
    protected abstract @Nullable ClassLoader loader();

    /**
     * Called by the runner before it enters the callable, which this may {@linkplain #replaceCallable replace}. Must
     * not throw.
     *
     * @param waitNanos the time since submission, or 0 if that is unknown
     */
    protected abstract void started(long waitNanos);

    /**
     * Called once when the run has ended, before waiting threads are woken. Must not throw.
     *
     * @param outcome the outcome
     */
    protected abstract void settled(Outcome<T> outcome);

    /**
     * Calls the callable. Only inside this method may the run be interrupted.
     *
     * @param callable the callable
     * @return the value of the callable
     * @throws Exception if the callable throws it
     */
    protected T enter(Callable<? extends T> callable) throws Exception {
        return callable.call();
    }

    /**
     * Called by the runner, if it has decided the run, before permits are released. Must not throw.
     *
     * @param outcome the outcome
     */
    protected void ended(Outcome<T> outcome) {}

    /**
     * Passes the run, which holds its permits, to its scheduler. If that fails, starts the runs that become possible.
     * Called by a loop of {@link Dispatch}. Must not throw.
     */
    protected void startGranted() {
        throw new UnsupportedOperationException(this + " is not started by a scheduler");
    }

    /** Records that the scheduler may run this in the calling thread, which is about to start it. */
    final void mayRunInPlace() {
        flags |= IN_PLACE;
    }

    /**
     * Returns whether the run ends after some time even if it never starts, because it has a timeout of any kind.
     *
     * @return true if every wait for it ends
     */
    public boolean isTimeBounded() {
        return false;
    }

    /**
     * Returns the listener that {@link #started} notifies, which may wait for other runs.
     *
     * @return this implementation returns null, for none
     */
    protected @Nullable GuardedListener events() {
        return null;
    }

    /**
     * Returns whether the callable is user code, which may wait for tasks that it submits.
     *
     * @return false if the callable only enters another run
     */
    protected boolean isUserCode() {
        return true;
    }

    /**
     * Releases the permits of this run and starts the runs that become possible. Must not throw.
     *
     * @param ranNanos the time for which the callable has run, in nanoseconds, or {@link Gate#NEVER_RAN}
     * @param grantedNanos the moment that {@link #granted} has recorded, if it was called
     * @param nowNanos the moment at which they are released
     * @return a granted run that the calling thread runs next, or null
     */
    protected abstract @Nullable TaskRun<?> releasePermits(long ranNanos, long grantedNanos, long nowNanos);

    /**
     * Runs the callable, unless the run was decided before, releases its permits, and settles. The scheduler calls this
     * once, after the run was granted; further calls have no effect.
     */
    @Override
    @SuppressWarnings("ThreadPriorityCheck") // a virtual thread that runs many tasks yields its carrier
    public final void run() {
        boolean isFresh = (flags & IN_PLACE) == 0;
        Dispatch starting = isFresh ? null : Dispatch.enter();
        Owner owner = isFresh ? Owner.RUN : starting == null ? Owner.SCHEDULER : Owner.CALLER;
        Thread self = Thread.currentThread();
        boolean owed = Thread.interrupted() && owner != Owner.RUN; // an interrupt, to the owner
        ClassLoader before = self.getContextClassLoader();
        boolean endsWithThis = owner != Owner.CALLER && self.isVirtual();
        EnclosingScope entered = endsWithThis ? null : EnclosingScope.suspend();
        TaskRun<?> current = this;
        try {
            TaskRun<?> next;
            BorrowedThread.useLoader(self, loader(), sink());
            for (int ran = 1; (next = current.runOnce(starting, owner)) != null; ran++) {
                current = next;
                EnclosingScope.forget();
                owed |= Thread.interrupted() && owner != Owner.RUN;
                BorrowedThread.useLoader(self, current.loader(), current.sink());
                if (ran % 64 == 0) {
                    Thread.yield();
                }
            }
        } finally {
            if (!endsWithThis) {
                EnclosingScope.resume(entered);
            }
            if (owner != Owner.RUN) {
                BorrowedThread.useLoader(self, before, sink());
            }
            if (owed) {
                self.interrupt();
            }
            if (starting != null) {
                starting.collects = true;
            }
        }
    }

    /**
     * Does what {@link #run()} does, in a thread that belongs to the caller: the interrupt status is left as the
     * callable left it, unless this run was cancelled by an interrupt.
     */
    protected final void runHere() {
        TaskRun<?> next = runOnce(null, Owner.CALLER);
        if (next != null) {
            throw new AssertionError("a caller's thread must not be given " + next + " to run");
        }
    }

    private @Nullable TaskRun<?> runOnce(@Nullable Dispatch starting, Owner owner) {
        Thread self = Thread.currentThread();
        Object entering = events() != null ? new Entering(self) : ENTERING;
        if (!step(null, entering)) {
            return hasEndedUnbegun() ? releasePermits(Gate.NEVER_RAN, endNanos, now()) : null;
        }
        flags |= BEGUN;
        long start = now();
        long waited = startNanos == NOT_MEASURED ? NOT_MEASURED : waitedUntil(start);
        long granted = endNanos;
        startNanos = start;
        endNanos = waited;
        Recorder.Begun begun = Recorder.begin();
        started(waited == NOT_MEASURED ? 0 : waited);
        if (begun != null) {
            callable = new Recorded<>(callable(), begun);
        }
        if (owner != Owner.CALLER) {
            Thread.interrupted(); // a listener may have left an interrupt; none is meant for this run yet
        }
        if (!step(entering, self)) {
            callable = null;
            TaskRun<?> next = release(starting, Gate.NEVER_RAN, granted, now());
            settle(start, settledOutcome(), waited, null);
            return next;
        }
        ClassLoader given = self.getContextClassLoader();
        Outcome<T> outcome = starting == null || isUserCode() ? call() : callRun(starting);
        boolean deciding = leave(self, outcome);
        boolean interrupted = Thread.interrupted(); // neither listeners nor the next task may see it
        if (owner != Owner.CALLER || starting != null) {
            BorrowedThread.useLoader(self, given, sink()); // nor a loader that the callable has set
        }
        long end = now();
        if (deciding) {
            endNanos = end;
            flags |= ENTERED;
        }
        if (deciding) {
            ended(outcome);
        } else if (outcome instanceof Outcome.Failure<T>(Throwable thrown)) {
            LateFailure.report(sink(), this, thrown);
        }
        Dispatch mine = starting == null && (flags & IN_PLACE) != 0 ? Dispatch.open() : null;
        TaskRun<?> next = release(starting, end - start, granted, end);
        if (deciding) {
            record(outcome, waited, begun);
        }
        if (mine != null) {
            mine.closeAfter(deciding ? this : null);
        } else if (deciding) {
            settle(outcome);
        }
        if (deciding && interrupted && owner == Owner.CALLER && (flags & INTERRUPTED) == 0) {
            self.interrupt();
        }
        return next;
    }

    /** Releases the permits. Whatever that throws, a run that has returned is settled. */
    private @Nullable TaskRun<?> release(@Nullable Dispatch starting, long ranNanos, long grantedNanos, long nowNanos) {
        if (starting != null) {
            starting.collects = true;
        }
        try {
            return releasePermits(ranNanos, grantedNanos, nowNanos);
        } catch (Throwable failure) {
            sink().report("end of task \"" + name() + "\"", failure);
            return null;
        } finally {
            if (starting != null) {
                starting.collects = false;
            }
        }
    }

    /** Calls a callable that runs another run in the calling thread, inside the scheduler that is starting this one. */
    private Outcome<T> callRun(Dispatch starting) {
        starting.collects = true;
        Outcome<T> outcome = call();
        starting.collects = false;
        return outcome;
    }

    private Outcome<T> call() {
        try {
            return new Outcome.Success<>(enter(Objects.requireNonNull(callable)));
        } catch (Throwable thrown) {
            return Outcome.ofThrown(thrown);
        }
    }

    /** Replaces the runner in the field `state` by its outcome; returns false if the run was decided before. */
    private boolean leave(Thread self, Outcome<T> outcome) {
        boolean deciding = step(self, outcome);
        while (!deciding && !isDecided()) {
            InterruptWindow.yieldToSender();
            deciding = step(self, outcome);
        }
        callable = null;
        return deciding;
    }

    /**
     * Cancels the run, unless it is decided already.
     *
     * @param outcome the outcome
     * @param mayInterrupt whether to interrupt the run if it is inside its callable; if false, such a run is not
     *     cancelled
     * @return true if this call decided the run
     */
    protected final boolean cancel(Outcome.Cancelled<T> outcome, boolean mayInterrupt) {
        return end(outcome, mayInterrupt, Runnable::run);
    }

    /**
     * Ends the run from outside, unless it is decided already.
     *
     * @param outcome the outcome
     * @param mayInterrupt whether to interrupt the run if it is inside its callable; if false, such a run is not ended
     * @param notifier the executor that notifies listeners and wakes waiting threads
     * @return true if this call decided the run
     */
    protected final boolean end(Outcome<T> outcome, boolean mayInterrupt, Executor notifier) {
        for (; ; ) {
            Object now = state;
            if (now == null) {
                if (step(null, outcome)) {
                    long waited = endUnstarted();
                    notifier.execute(() -> BorrowedThread.runUnder(loader(), sink(), () -> {
                        record(outcome, waited, null);
                        settle(outcome);
                    }));
                    return true;
                }
            } else if (isEntering(now)) {
                if (step(now, outcome)) {
                    return true; // the runner settles it
                }
            } else if (now instanceof Thread runner && mayInterrupt) {
                Recorder.Begun begun = callable instanceof Recorded<?> recorded ? recorded.begun : null;
                if (interrupt(runner, outcome)) {
                    long end = now();
                    long waited = endNanos;
                    flags |= ENTERED;
                    notifier.execute(() -> settleElsewhere(end, outcome, waited, begun));
                    return true;
                }
            } else if (now == INTERRUPTING) {
                InterruptWindow.yieldToSender();
            } else {
                return false;
            }
        }
    }

    /**
     * Interrupts the run if it is inside its callable, which decides how it ends. A run that was granted and has not
     * entered its callable is cancelled instead.
     *
     * @param reason the reason, for the message
     */
    protected final void interrupt(String reason) {
        for (; ; ) {
            Object now = state;
            if (isEntering(now)) {
                Outcome<T> outcome = new Outcome.Cancelled<>(new CancelledException(reason));
                if (step(now, outcome)) {
                    return;
                }
            } else if (now instanceof Thread runner) {
                if (interrupt(runner, runner)) {
                    return;
                }
            } else if (now == INTERRUPTING) {
                InterruptWindow.yieldToSender();
            } else {
                return;
            }
        }
    }

    private boolean interrupt(Thread runner, Object then) {
        if (!step(runner, INTERRUPTING)) {
            return false;
        }
        if (then == runner) {
            flags |= INTERRUPTED;
        }
        try {
            InterruptWindow.send(runner, null);
        } finally {
            state = then;
        }
        return true;
    }

    /**
     * Claims a run that has not started: it will not start, and cannot be cancelled. The caller must
     * {@linkplain #conclude conclude} it.
     *
     * @return true if this call claimed it
     */
    protected final boolean claim() {
        boolean claimed = step(null, CLAIMED);
        if (claimed) {
            flags |= REFUSED;
        }
        return claimed;
    }

    /**
     * Settles a run that was claimed and never ran.
     *
     * @param outcome the outcome
     * @param notify whether to call {@link #settled}
     */
    protected final void conclude(Outcome<T> outcome, boolean notify) {
        long waited = endUnstarted();
        conclude(outcome, startNanos, startNanos, waited, null, notify);
    }

    /**
     * Settles a run that was claimed, with an outcome and times from elsewhere.
     *
     * @param outcome the outcome
     * @param start the moment of the start
     * @param end the moment of the end
     * @param notify whether to call {@link #settled}
     */
    protected final void conclude(Outcome<T> outcome, long start, long end, boolean notify) {
        conclude(outcome, start, end, waitedUntil(start), null, notify);
    }

    private void conclude(
            Outcome<T> outcome, long start, long end, long waited, Recorder.@Nullable Begun begun, boolean notify) {
        if (!step(CLAIMED, outcome)) {
            throw new IllegalStateException(this + " was not claimed");
        }
        startNanos = start;
        endNanos = end;
        record(outcome, waited, begun);
        try {
            if (notify) {
                settled(outcome);
            }
        } finally {
            wake();
        }
    }

    /** Calls the callable of a claimed run in the calling thread, without permits, and settles the run. */
    protected final void concludeByCalling() {
        long start = now();
        Recorder.Begun begun = Recorder.begin();
        boolean interrupted = Thread.interrupted(); // before this run, for which it is not meant
        Outcome<T> outcome = call();
        callable = null;
        boolean endedByInterrupt =
                outcome instanceof Outcome.Cancelled<T> cancelled && cancelled.cause() instanceof InterruptedException;
        if (interrupted || endedByInterrupt) {
            Thread.currentThread().interrupt(); // meant for the caller, which does not see the exception
        }
        conclude(outcome, start, now(), waitedUntil(start), begun, false);
    }

    /** Records that the run ends now without having started; returns how long it has waited. */
    private long endUnstarted() {
        long now = now();
        long waited = waitedUntil(now);
        startNanos = now;
        callable = null;
        return waited;
    }

    /**
     * Returns the time, also if the time source throws: this run settles nevertheless.
     *
     * @return the time, or the last known moment of this run
     */
    protected final long now() {
        try {
            return time().nanoTime();
        } catch (Throwable noTime) {
            sink().report("time source, for task \"" + name() + "\"", noTime);
            return startNanos == NOT_MEASURED ? 0 : startNanos;
        }
    }

    private long waitedUntil(long now) {
        return startNanos == NOT_MEASURED
                ? NOT_MEASURED
                : Math.max(0, now - startNanos); // it may have been cancelled before its planned start
    }

    /** Settles a run in a thread that does not run it. */
    private void settleElsewhere(long end, Outcome<T> outcome, long waited, Recorder.@Nullable Begun begun) {
        BorrowedThread.runUnder(loader(), sink(), () -> settle(end, outcome, waited, begun));
    }

    private void settle(long end, Outcome<T> outcome, long waited, Recorder.@Nullable Begun begun) {
        endNanos = end;
        record(outcome, waited, begun);
        settle(outcome);
    }

    /** Settles a run that its runner has decided and whose permits are released. */
    final void settle() {
        settle(settledOutcome());
    }

    private void settle(Outcome<T> outcome) {
        try {
            settled(outcome);
        } finally {
            wake();
        }
    }

    /** Records the end, if a recording includes it. */
    private void record(Outcome<T> outcome, long waited, Recorder.@Nullable Begun begun) {
        if (begun != null || Recorder.isOn()) {
            Recorder.settled(ownerKind(), owner(), name(), outcome.status(), waited, endNanos() - startNanos, begun);
        }
    }

    /**
     * Returns the kind of the {@link #owner()}, for flight recordings.
     *
     * @return the kind, always the same; this implementation returns that of a scope
     */
    protected Recorder.OwnerKind ownerKind() {
        return Recorder.OwnerKind.SCOPE;
    }

    private void wake() {
        Signal waiters = (Signal) SIGNAL.getAndSet(this, SET);
        if (waiters != null) {
            waiters.set();
        }
    }

    /**
     * Returns whether the run is settled. Never blocks.
     *
     * @return true if its outcome is set, its listener is notified, and its permits are released, unless it was ended
     *     from outside while its callable ran: its runner releases them then, when the callable has returned
     */
    protected final boolean isSettled() {
        return signal == SET;
    }

    /**
     * Returns the thread that is inside the callable.
     *
     * @return the runner, or null if there is none
     */
    protected final @Nullable Thread runningThread() {
        return state instanceof Thread runner ? runner : null;
    }

    /**
     * Returns the thread that has entered this run.
     *
     * @return the runner, inside the callable or, if the start is notified, before it; or null if there is none
     */
    final @Nullable Thread runnerThread() {
        return state instanceof Entering(Thread runner) ? runner : runningThread();
    }

    /** {@return the moment of the start of this run, or of its submission if it has not begun; or NOT_MEASURED} */
    protected final long sinceNanos() {
        return isEntering(state) ? NOT_MEASURED : startNanos; // while ENTERING the runner writes it
    }

    /**
     * Returns whether the run is inside its callable.
     *
     * @return true if the callable was entered and has not returned, and the run was not ended from outside
     */
    protected final boolean isRunning() {
        Object now = state;
        return now instanceof Thread || now == INTERRUPTING;
    }

    /**
     * Returns whether the run was ended from outside before a thread began it, so that its permits are held until its
     * scheduler runs it.
     *
     * @return true if no thread has begun the run, and none will enter its callable
     */
    protected final boolean hasEndedUnbegun() {
        return isDecided() && (flags & (BEGUN | REFUSED)) == 0; // the state is read first
    }

    /**
     * Returns whether the callable was entered. Called on a settled run, or from {@link #settled} or {@link #ended}.
     *
     * @return false if the run was decided before
     */
    protected final boolean wasEntered() {
        return (flags & ENTERED) != 0;
    }

    /**
     * Returns the callable, for a rejection handler.
     *
     * @return the callable of a run that has not entered it
     */
    protected final Callable<? extends T> callable() {
        Callable<? extends T> body = callable;
        if (body == null) {
            throw new IllegalStateException(this + " has run before; a run runs once");
        }
        return body;
    }

    /**
     * Replaces the callable. Called from {@link #started}, or on a claimed run.
     *
     * @param replacement what the runner enters instead
     */
    protected final void replaceCallable(Callable<? extends T> replacement) {
        callable = replacement;
    }

    /**
     * Returns the callable that the runner has entered. It was set before the step to Thread, so no thread that sees
     * the runner misses a {@linkplain #replaceCallable replacement}.
     *
     * @return the callable, or null if no thread is inside it
     */
    protected final @Nullable Callable<? extends T> enteredCallable() {
        Callable<? extends T> entered = isRunning() ? callable : null;
        return entered instanceof Recorded<? extends T> recorded ? recorded.body : entered;
    }

    /**
     * Returns the signal that is set when the run is settled.
     *
     * @return the signal, always the same
     */
    protected final Signal settledSignal() {
        Signal existing = signal;
        if (existing != null) {
            return existing;
        }
        Signal fresh = new Signal();
        Signal winner = (Signal) SIGNAL.compareAndExchange(this, (Signal) null, fresh);
        return winner == null ? fresh : winner;
    }

    /**
     * Returns whether the outcome is decided. The run may not be settled yet, and its callable may still run.
     *
     * @return true if the outcome cannot change any more
     */
    public final boolean isDecided() {
        return state instanceof Outcome<?>;
    }

    /**
     * Returns whether nothing more of this run shall begin.
     *
     * @return true if the run is decided, or was {@linkplain #interrupt(String) interrupted} to end
     */
    protected final boolean isEnding() {
        Object now = state; // read first: the flag is written before the state is restored
        return now instanceof Outcome<?> || now == INTERRUPTING || (flags & INTERRUPTED) != 0;
    }

    /**
     * Waits until the run is settled.
     *
     * @return the outcome
     * @throws InterruptedException if the calling thread is interrupted; the run continues
     */
    protected final Outcome<T> awaitOutcome() throws InterruptedException {
        if (signal != SET) {
            settledSignal().await();
        }
        return settledOutcome();
    }

    /**
     * Waits until the run is settled or a deadline has passed.
     *
     * @param deadline the deadline
     * @return the outcome, or null if the deadline passed first
     * @throws InterruptedException if the calling thread is interrupted; the run continues
     */
    protected final @Nullable Outcome<T> awaitOutcome(Deadline deadline) throws InterruptedException {
        return settledSignal().await(deadline) ? settledOutcome() : null;
    }

    /**
     * Returns when the callable was entered.
     *
     * @return the moment at which the callable was entered, or that of the end if it never was; for diagnosis also
     *     before, when it may be that of the submission
     */
    public final long startNanos() {
        return startNanos;
    }

    /**
     * Returns when the run ended. Called on a settled run.
     *
     * @return the moment at which the callable ended or the run was cancelled
     */
    public final long endNanos() {
        return (flags & (BEGUN | REFUSED)) == 0 ? startNanos : endNanos;
    }

    @Override
    protected final void granted(long runningNanos) {
        endNanos = runningNanos;
    }

    /**
     * Returns the moment that {@link #granted} has recorded. Called on a run that was not entered.
     *
     * @return the moment, if it was recorded
     */
    protected final long grantedNanos() {
        return endNanos;
    }

    /**
     * Returns the outcome of a settled run.
     *
     * @return the outcome
     */
    @SuppressWarnings("unchecked") // only outcomes of T are ever put into the field
    public final Outcome<T> settledOutcome() {
        if (state instanceof Outcome<?> outcome) {
            return (Outcome<T>) outcome;
        }
        throw new IllegalStateException(this + " has not ended");
    }

    /**
     * Returns the outcome, if it is decided. The run may not be settled yet, and its callable may still run.
     *
     * @return the outcome, or null if it is not decided
     */
    @SuppressWarnings("unchecked") // only outcomes of T are ever put into the field
    public final @Nullable Outcome<T> decided() {
        return state instanceof Outcome<?> outcome ? (Outcome<T>) outcome : null;
    }
}
