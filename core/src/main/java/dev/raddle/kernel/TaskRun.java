package dev.raddle.kernel;

import dev.raddle.task.CancelledException;
import dev.raddle.task.Outcome;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskIdentity;
import dev.raddle.time.Deadline;
import dev.raddle.time.Signal;
import dev.raddle.time.TimeSource;
import dev.raddle.time.UserCode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * One life of a callable, from submission to settlement: the state machine under every door's handles.
 *
 * <p>A door extends it to say how the run gives its permits back and who is told, and admits it where its limits are.
 * The run is the node in the queue, the handle and the {@link Runnable} in one object.
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
     * One field, `state`, holds state, runner and result together, and moves by compare-and-set only:
     *
     *   null ───────► ENTERING ──────► Thread ──────────► Outcome          by the runner
     *   null, ENTERING ──────────────────────────────────► Outcome         by who ends it: a canceller, an alarm
     *   Thread ──────► INTERRUPTING ─► Outcome                             by who ends it and interrupts
     *   Thread ──────► INTERRUPTING ─► Thread                              by who only interrupts (a shutdown)
     *   null ───────► CLAIMED ───────► Outcome                             by who rejects or fails it before it began
     *   null, ENTERING, Thread ──────► BROKEN ───────► Outcome             by the loop whose attempt to start or run it
     *   failed
     *
     *   null          submitted; waiting, or granted and not begun
     *   ENTERING      the runner has it: it notes the start and tells `started`; the callable is not entered yet
     *   Thread        that thread is inside the callable
     *   INTERRUPTING  somebody is calling interrupt() on that thread
     *   CLAIMED       it will never begin; what becomes of it is being found out by foreign code (a rejection handler)
     *   BROKEN        the code around the callable has failed, because the stack or the heap is exhausted or a class
     *                 could not be linked; it will not go on, and is being given up
     *   Outcome       decided for good
     *
     * Exactly one thread decides: the one whose step leads to the Outcome. That step is all that a cancel, a start and
     * an end compete for, so a callable whose run was cancelled first is never entered, and a value that came late is
     * dropped.
     *
     * An interrupt reaches the thread only while INTERRUPTING stands in the field, which is only reached while that
     * thread is inside this callable. The runner cannot pass it: it leaves the callable by a step from Thread, and
     * waits the few instructions until the field has changed if it meets INTERRUPTING. Afterwards it clears the flag.
     * So the next task of that thread never sees an interrupt meant for this one.
     *
     * Decided is not yet settled. The one who decides, in this order: lets the permits be given back (the runner; after
     * a cancel the callable still runs, and its runner gives them back when it has really ended), tells `settled`, and
     * then sets `signal`, which wakes those who wait. So whoever sees a run settled finds its slot free and its
     * listener told. A door that wants to tell before permits are given back does so in `ended`, which only the runner
     * calls. The one exception to who tells: a run that was decided while ENTERING is told and settled by its runner,
     * because only the runner knows when `started` has returned; so `started` comes before `settled`.
     *
     * A run that its scheduler runs in the thread that is starting it runs in place. Whatever its end makes possible is
     * started by that thread after it, at the outermost level: see Dispatch.
     *
     * `startNanos` is written by the runner when it has the run, or by who settles a run that never began; `endNanos`
     * by who settles. Until then they have other uses, for a waiting run must stay small: while the run waits,
     * `startNanos` is the moment of its submission, and while it is inside its callable, `endNanos` is how long it
     * waited. The runner writes that before its step to Thread, and who takes the run from there reads it after a step
     * from Thread. `signal` is null until somebody waits, and SET in the end.
     */

    /** Instead of the moment of submission: nobody will ask how long the run waited. */
    protected static final long NOT_MEASURED = Long.MIN_VALUE;

    private static final Object ENTERING = new Object();
    private static final Object INTERRUPTING = new Object();
    private static final Object CLAIMED = new Object();
    private static final Object BROKEN = new Object();
    private static final Signal SET = new Signal();
    private static final VarHandle STATE;
    private static final VarHandle SIGNAL;

    static {
        SET.set();
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            STATE = lookup.findVarHandle(TaskRun.class, "state", Object.class);
            SIGNAL = lookup.findVarHandle(TaskRun.class, "signal", Signal.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    private volatile @Nullable Object state;
    private volatile @Nullable Signal signal;
    private @Nullable Callable<? extends T> callable; // forgotten when it has run, so that a handle does not keep it
    private long startNanos;
    private long endNanos;
    private boolean entered; // written by who decides, before anybody is told
    private boolean mayRunInPlace; // written by who starts it, before the scheduler has it

    /**
     * Creates a run that was submitted now.
     *
     * @param callable what to call
     * @param submitNanos the moment of submission, for waiting times, or {@link #NOT_MEASURED}
     */
    protected TaskRun(Callable<? extends T> callable, long submitNanos) {
        this.callable = callable;
        this.startNanos = submitNanos;
    }

    /**
     * A callable whose start a flight recording wants: it stands in `callable` from before the step to Thread, so
     * whoever ends the run from there finds the start without a field for it.
     */
    private record Recorded<T>(Callable<? extends T> body, Recorder.Begun begun) implements Callable<T> {
        @Override
        public T call() throws Exception {
            return body.call();
        }
    }

    private boolean step(@Nullable Object from, Object to) {
        return STATE.compareAndSet(this, from, to);
    }

    /**
     * Returns the clock of the door.
     *
     * @return the same object at every call
     */
    protected abstract TimeSource time();

    /**
     * Hears that the callable is about to be entered, in the runner's thread. Must not throw.
     *
     * @param waitNanos the time since submission; 0 if that is not known
     */
    protected abstract void started(long waitNanos);

    /**
     * Hears how the run ended, once, before those who wait are woken. Must not throw.
     *
     * @param outcome how it ended
     */
    protected abstract void settled(Outcome<T> outcome);

    /**
     * Calls the callable: the innermost part of the corridor, in which the run may be interrupted.
     *
     * @param callable what to call
     * @return what it returned
     * @throws Exception what it threw
     */
    protected T enter(Callable<? extends T> callable) throws Exception {
        return callable.call();
    }

    /**
     * Hears how the run ended before it gives anything back, if its runner decided that. Must not throw.
     *
     * @param outcome how it ended
     */
    protected void ended(Outcome<T> outcome) {}

    /**
     * Hands the run, which holds its permits, to its scheduler, and starts what becomes possible if that fails. Called
     * by a loop of {@link Dispatch}. Must not throw.
     */
    protected void startGranted() {
        throw new UnsupportedOperationException(this + " is not started by a scheduler");
    }

    /** Notes that the scheduler which gets the run next may run it in the calling thread, which is starting it. */
    protected final void mayRunInPlace() {
        mayRunInPlace = true;
    }

    /**
     * Tells whether the run comes to an end although it is waited for by whatever it needs: it has a timeout, for
     * example.
     *
     * @return true if a wait for it ends some time
     */
    protected boolean endsByItself() {
        return false;
    }

    /**
     * Tells whether the callable is user code, which may wait for what it submits.
     *
     * @return false if it only enters another run
     */
    protected boolean isUserCode() {
        return true;
    }

    /**
     * Gives back what this run holds, because its runner is through with it, and places what becomes possible. Must not
     * throw.
     *
     * @param ranNanos how long it was held
     * @param nowNanos the moment until which it was held
     * @return a granted run that this thread shall run next, or null
     */
    protected abstract @Nullable TaskRun<?> giveBack(long ranNanos, long nowNanos);

    /**
     * Runs the callable, unless the run was decided before, gives back its permits, and settles. The scheduler calls
     * this once, after the run was granted.
     */
    @Override
    @SuppressWarnings("ThreadPriorityCheck") // a virtual thread that goes on and on lets others have its carrier
    public final void run() {
        Dispatch starting = mayRunInPlace ? Dispatch.current() : null;
        Thread self = Thread.currentThread();
        boolean ownThread = starting == null;
        if (starting != null) {
            starting.enterRun(this);
        }
        boolean interrupted =
                !ownThread && Thread.interrupted(); // it is for the caller, and for nothing that it runs here
        boolean endsWithThis = ownThread && self.isVirtual();
        EnclosingScope entered = endsWithThis ? null : EnclosingScope.suspend();
        TaskRun<?> next = this;
        for (int ran = 1; (next = next.runOrBreakOff(starting, ownThread)) != null; ran++) {
            EnclosingScope.forget();
            interrupted |= !ownThread && Thread.interrupted();
            if (ran % 64 == 0) {
                Thread.yield();
            }
        }
        if (!endsWithThis) {
            EnclosingScope.resume(entered);
        }
        if (interrupted) {
            self.interrupt();
        }
        if (starting != null) {
            starting.leaveRun();
        }
    }

    /**
     * Does what {@link #run()} does in a thread that belongs to the caller: its interrupt status is left as the
     * callable leaves it, unless this run was cancelled by an interrupt.
     */
    protected final void runHere() {
        TaskRun<?> next = runOrBreakOff(null, false);
        if (next != null) {
            throw new AssertionError("a caller's thread must not be given " + next + " to run");
        }
    }

    private @Nullable TaskRun<?> runOrBreakOff(@Nullable Dispatch starting, boolean ownThread) {
        try {
            return runOnce(starting, ownThread);
        } catch (Throwable failure) { // the code around the callable has failed: it catches what the callable throws
            if (starting == null) {
                breakOffSafely(failure, Thread.currentThread());
            } else {
                starting.leaveRunBy(failure); // the loop that has started it has more stack left
            }
            throw failure;
        }
    }

    private @Nullable TaskRun<?> runOnce(@Nullable Dispatch starting, boolean ownThread) {
        Thread self = Thread.currentThread();
        if (!step(null, ENTERING)) {
            return giveBackSafely(0, time().nanoTime());
        }
        long start = time().nanoTime();
        long waited = waitedUntil(start);
        startNanos = start;
        endNanos = waited;
        Recorder.Begun begun = Recorder.begin();
        if (begun != null) {
            callable = new Recorded<>(body(), begun);
        }
        started(waited == NOT_MEASURED ? 0 : waited);
        if (!step(ENTERING, self)) {
            callable = null;
            try {
                return giveBackSafely(0, start);
            } finally {
                settle(start, settledOutcome(), waited, null);
            }
        }
        Outcome<T> outcome = starting == null ? call() : callInPlace(starting);
        boolean deciding = leave(self, outcome);
        boolean interrupted = Thread.interrupted(); // nobody who is told, and no next task, shall see it
        long end = momentOr(start); // the run has ended, and gives back what it holds, whatever else fails
        if (deciding) {
            endNanos = end;
            entered = true;
        }
        TaskRun<?> next = null;
        Dispatch mine = starting == null && mayRunInPlace ? Dispatch.open() : null;
        try {
            if (deciding) {
                ended(outcome);
            }
        } finally {
            try {
                next = giveBackSafely(end - start, end);
            } finally {
                if (mine != null) {
                    mine.closeAfter(deciding ? this : null, end, waited, begun);
                } else if (deciding) {
                    settle(end, outcome, waited, begun);
                }
            }
        }
        if (deciding && interrupted && !ownThread) {
            self.interrupt(); // it was meant for the caller
        }
        return next;
    }

    /** Gives back what the run holds, in another thread if this one fails. */
    private @Nullable TaskRun<?> giveBackSafely(long ranNanos, long nowNanos) {
        try {
            return giveBack(ranNanos, nowNanos);
        } catch (Throwable failure) {
            Scheduler.virtualThreads().execute(() -> giveBackHere(ranNanos, nowNanos));
            return null;
        }
    }

    private void giveBackHere(long ranNanos, long nowNanos) {
        TaskRun<?> next = giveBack(ranNanos, nowNanos);
        if (next != null) {
            Dispatch.start(next);
        }
    }

    /**
     * Ends a run whose start failed, or whose runner did, and gives back what it holds. May be tried again.
     *
     * @param failure how it then ended
     * @param left the runner, if it has left the run by an exception of the machinery
     */
    protected final void breakOff(Throwable failure, @Nullable Thread left) {
        if (left != null) {
            leaveBroken(left);
        }
        if (state != BROKEN && !step(null, BROKEN)) {
            return; // it has begun elsewhere and is seen to there, or it has ended
        }
        long now = momentOr(endNanos);
        giveBackHere(0, now);
        Outcome<T> outcome = new Outcome.Failure<>(failure);
        if (step(BROKEN, outcome)) {
            callable = null;
            settle(now, outcome, NOT_MEASURED, null);
        }
    }

    private void breakOffSafely(Throwable failure, Thread left) {
        try {
            breakOff(failure, left);
        } catch (Throwable again) {
            Scheduler.virtualThreads().execute(() -> breakOff(failure, left));
        }
    }

    /** Takes a thread that has left this run by an exception out of the field. */
    private void leaveBroken(Thread left) {
        if (!step(ENTERING, BROKEN)) {
            while (!step(left, BROKEN) && state == INTERRUPTING) {
                Thread.onSpinWait();
            }
        }
    }

    private long momentOr(long other) {
        try {
            return time().nanoTime();
        } catch (Throwable noTime) {
            return other; // what has broken the run, perhaps
        }
    }

    private Outcome<T> callInPlace(Dispatch starting) {
        if (!isUserCode()) {
            return call();
        }
        boolean before = starting.enterTask();
        try {
            return call();
        } finally {
            starting.leaveTask(before);
        }
    }

    private Outcome<T> call() {
        try {
            return new Outcome.Success<>(enter(body()));
        } catch (Throwable thrown) {
            return Outcome.ofThrown(thrown);
        }
    }

    private Callable<? extends T> body() {
        Callable<? extends T> body = callable;
        if (body == null) {
            throw new IllegalStateException(this + " has run before; a run has one life");
        }
        return body;
    }

    /** Takes the runner out of the field; true if the outcome that it brings is the one that counts. */
    private boolean leave(Thread self, Outcome<T> outcome) {
        boolean deciding = step(self, outcome);
        while (!deciding && !isDecided()) {
            Thread.onSpinWait(); // an interrupt is under way
            deciding = step(self, outcome);
        }
        callable = null;
        return deciding;
    }

    /**
     * Cancels the run, unless it is decided already.
     *
     * @param outcome how it then ended
     * @param mayInterrupt whether to interrupt it if it is inside its callable; if false, such a run is left alone
     * @return true if this call decided it
     */
    protected final boolean cancel(Outcome.Cancelled<T> outcome, boolean mayInterrupt) {
        return end(outcome, mayInterrupt, Runnable::run);
    }

    /**
     * Ends the run from outside, unless it is decided already.
     *
     * @param outcome how it then ended
     * @param mayInterrupt whether to interrupt it if it is inside its callable; if false, such a run is left alone
     * @param teller where those hear of it who are told: here, or in another thread if this one must not run their code
     * @return true if this call decided it
     */
    protected final boolean end(Outcome<T> outcome, boolean mayInterrupt, Executor teller) {
        for (; ; ) {
            Object now = state;
            if (now == null) {
                if (step(null, outcome)) {
                    long waited = neverBegan();
                    teller.execute(() -> settle(startNanos, outcome, waited, null));
                    return true;
                }
            } else if (now == ENTERING) {
                if (step(ENTERING, outcome)) {
                    return true; // its runner settles it
                }
            } else if (now instanceof Thread runner && mayInterrupt) {
                Recorder.Begun begun = callable instanceof Recorded<?> recorded ? recorded.begun : null;
                if (interrupt(runner, outcome)) {
                    long end = time().nanoTime();
                    long waited = endNanos;
                    entered = true;
                    teller.execute(() -> settle(end, outcome, waited, begun));
                    return true;
                }
            } else if (now == INTERRUPTING) {
                Thread.onSpinWait();
            } else {
                return false;
            }
        }
    }

    /**
     * Interrupts the run if it is inside its callable, and leaves it to the callable how it ends. A run that has been
     * granted and has not entered its callable is cancelled instead.
     *
     * @param reason why, for people
     */
    protected final void interrupt(String reason) {
        for (; ; ) {
            Object now = state;
            if (now == ENTERING) {
                Outcome<T> outcome = new Outcome.Cancelled<>(new CancelledException(reason));
                if (step(ENTERING, outcome)) {
                    return;
                }
            } else if (now instanceof Thread runner) {
                if (interrupt(runner, runner)) {
                    return;
                }
            } else if (now == INTERRUPTING) {
                Thread.onSpinWait();
            } else {
                return;
            }
        }
    }

    private boolean interrupt(Thread runner, Object then) {
        if (!step(runner, INTERRUPTING)) {
            return false;
        }
        try {
            runner.interrupt();
        } catch (Throwable failure) { // of a thread of the user's own class; the run must settle all the same
            UserCode.uncaught(failure);
        } finally {
            state = then;
        }
        return true;
    }

    /**
     * Takes a run that has not begun out of everybody's hands: it will not begin, and cannot be cancelled any more. The
     * caller must {@linkplain #conclude conclude} it.
     *
     * @return true if this call claimed it
     */
    protected final boolean claim() {
        return step(null, CLAIMED);
    }

    /**
     * Settles a run that was claimed and never ran.
     *
     * @param outcome how it ended
     * @param tell whether {@link #settled} still has to hear of it
     */
    protected final void conclude(Outcome<T> outcome, boolean tell) {
        long waited = neverBegan();
        conclude(outcome, startNanos, startNanos, waited, null, tell);
    }

    /**
     * Settles a run that was claimed, with an outcome and times that somebody else found.
     *
     * @param outcome how it ended
     * @param start when that began
     * @param end when that ended
     * @param tell whether {@link #settled} still has to hear of it
     */
    protected final void conclude(Outcome<T> outcome, long start, long end, boolean tell) {
        conclude(outcome, start, end, waitedUntil(start), null, tell);
    }

    private void conclude(
            Outcome<T> outcome, long start, long end, long waited, Recorder.@Nullable Begun begun, boolean tell) {
        if (!step(CLAIMED, outcome)) {
            throw new IllegalStateException(this + " was not claimed");
        }
        startNanos = start;
        endNanos = end;
        try {
            record(outcome, waited, begun);
            if (tell) {
                settled(outcome);
            }
        } finally {
            wake();
        }
    }

    /** Calls the callable of a claimed run in the calling thread, without permits, and settles the run. */
    protected final void concludeByCalling() {
        long start = time().nanoTime();
        Recorder.Begun begun = Recorder.begin();
        Outcome<T> outcome = call();
        callable = null;
        if (outcome instanceof Outcome.Cancelled<T> cancelled && cancelled.cause() instanceof InterruptedException) {
            Thread.currentThread().interrupt(); // it was meant for the caller, who does not get to see the exception
        }
        conclude(outcome, start, time().nanoTime(), waitedUntil(start), begun, false);
    }

    /** Returns how long the run has waited. */
    private long neverBegan() {
        long now = time().nanoTime();
        long waited = waitedUntil(now);
        startNanos = now;
        callable = null;
        return waited;
    }

    private long waitedUntil(long now) {
        return startNanos == NOT_MEASURED
                ? NOT_MEASURED
                : Math.max(0, now - startNanos); // a round may be called off early
    }

    /** Settles a run that its runner has decided and that has given its permits back. */
    final void settle(long end, long waited, Recorder.@Nullable Begun begun) {
        settle(end, settledOutcome(), waited, begun);
    }

    private void settle(long end, Outcome<T> outcome, long waited, Recorder.@Nullable Begun begun) {
        endNanos = end;
        try {
            record(outcome, waited, begun);
            settled(outcome);
        } finally {
            wake();
        }
    }

    private void record(Outcome<T> outcome, long waited, Recorder.@Nullable Begun begun) {
        if (begun != null || Recorder.isOn()) {
            boolean grouped = isInGroup();
            Recorder.settled(
                    grouped ? owner() : null,
                    grouped ? null : owner(),
                    name(),
                    outcome.status(),
                    waited,
                    endNanos - startNanos,
                    begun);
        }
    }

    /**
     * Tells what the {@link #owner()} is, for flight recordings.
     *
     * @return true if it is the key of a group, false if it is the name of a scope
     */
    protected boolean isInGroup() {
        return false;
    }

    /**
     * Tells whether a flight recording asks how tasks end, and so how long they wait.
     *
     * @return true if the moment of submission will be wanted
     */
    protected static boolean isRecorded() {
        return Recorder.isOn();
    }

    /**
     * Notes in flight recordings that the run was not admitted by its group.
     *
     * @param reason why, for people
     */
    protected final void recordRejection(String reason) {
        Recorder.rejected(this, reason);
    }

    private void wake() {
        Signal waiters = (Signal) SIGNAL.getAndSet(this, SET);
        if (waiters != null) {
            waiters.set();
        }
    }

    /**
     * Tells whether the run is settled. Never blocks.
     *
     * @return true if its outcome is known, its permits are given back and its listener is told
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
     * Tells whether the run is inside its callable.
     *
     * @return true if it was entered and neither returned nor was ended from outside
     */
    protected final boolean isRunning() {
        Object now = state;
        return now instanceof Thread || now == INTERRUPTING;
    }

    /**
     * Tells whether the callable was entered. Call it on a settled run, or from {@link #settled} or {@link #ended}.
     *
     * @return false if the run was decided before
     */
    protected final boolean wasEntered() {
        return entered;
    }

    /**
     * Returns what to call, for a handler of rejections.
     *
     * @return the callable of a claimed run
     */
    protected final Callable<? extends T> callable() {
        return body();
    }

    /**
     * Returns what the run's end sets, to wait for it or to follow it.
     *
     * @return a signal that is set when the run is settled
     */
    protected final Signal end() {
        Signal existing = signal;
        if (existing != null) {
            return existing;
        }
        Signal fresh = new Signal();
        Signal winner = (Signal) SIGNAL.compareAndExchange(this, (Signal) null, fresh);
        return winner == null ? fresh : winner;
    }

    /**
     * Tells whether it is decided how the run ends. It may not be settled yet, and its callable may still run.
     *
     * @return true if nothing can change the outcome any more
     */
    protected final boolean isDecided() {
        return state instanceof Outcome<?>;
    }

    /**
     * Waits until the run is settled.
     *
     * @return how it ended
     * @throws InterruptedException if the calling thread is interrupted; the run goes on
     */
    protected final Outcome<T> awaitOutcome() throws InterruptedException {
        if (!isSettled()) {
            Dispatch.startAll();
        }
        end().await();
        return settledOutcome();
    }

    /**
     * Waits until the run is settled or a moment has come.
     *
     * @param deadline the moment
     * @return how it ended, or null if the moment came first
     * @throws InterruptedException if the calling thread is interrupted; the run goes on
     */
    protected final @Nullable Outcome<T> awaitOutcome(Deadline deadline) throws InterruptedException {
        if (!isSettled()) {
            Dispatch.startAll();
        }
        return end().await(deadline) ? settledOutcome() : null;
    }

    /**
     * Returns when the callable was entered. Call it on a settled run.
     *
     * @return the moment at which all permits were held and the callable began; that of the end if it never began
     */
    protected final long startNanos() {
        return startNanos;
    }

    /**
     * Returns when the run ended. Call it on a settled run.
     *
     * @return the moment at which the callable ended or the run was cancelled
     */
    protected final long endNanos() {
        return endNanos;
    }

    /**
     * Returns how the run ended. Call it on a settled run.
     *
     * @return the outcome
     */
    protected final Outcome<T> settledOutcome() {
        Outcome<T> outcome = decided();
        if (outcome == null) {
            throw new IllegalStateException(this + " has not ended");
        }
        return outcome;
    }

    /**
     * Returns how the run will have ended, if that is decided. It may not be settled yet, and its callable may still
     * run.
     *
     * @return the outcome, or null if it is open
     */
    @SuppressWarnings("unchecked") // only outcomes of T are ever put into the field
    protected final @Nullable Outcome<T> decided() {
        return state instanceof Outcome<?> outcome ? (Outcome<T>) outcome : null;
    }
}
