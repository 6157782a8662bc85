package dev.raddle.scope;

import dev.raddle.kernel.BorrowedThread;
import dev.raddle.kernel.GrantedPermits;
import dev.raddle.kernel.GuardedListener;
import dev.raddle.kernel.OffloadExecutor;
import dev.raddle.kernel.SubmittedRun;
import dev.raddle.kernel.TaskRun;
import dev.raddle.kernel.TimeLimit;
import dev.raddle.lock.Fields;
import dev.raddle.task.CancellationToken.Registration;
import dev.raddle.task.CancelledException;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Outcome;
import dev.raddle.task.Scheduler;
import dev.raddle.task.Task;
import dev.raddle.task.TaskExecutionException;
import dev.raddle.time.Alarm;
import dev.raddle.time.Deadline;
import dev.raddle.time.Signal;
import dev.raddle.time.TimeSource;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A task of a {@link ThreadScope}: the handle, the member of the scope's list, the permit in the scope's gate if it has
 * a limit, and the runnable given to the scheduler.
 */
class ScopeRun<T> extends SubmittedRun<T> implements Task<T> {

    /*
     * Overview.
     *
     * TaskRun holds the state of the run; a gate knows whether the run waits or is held (ScopeGate). Three further
     * fields change independently:
     *
     *   placement   the place in the scheduler's queue, if it can be withdrawn. A thread that ends the run from outside
     *               withdraws it, so that a cancelled task does not wait in a group's or a pool's queue. The scheduler
     *               returns the placement when the run may have been ended already. So the placing thread stores it
     *               and then reads whether the run is decided; the ending thread decides it and then reads the
     *               placement. At least one of them sees the other's write, and clears the placement after that.
     *   waits       the waits to notify at the end, or SETTLED.
     *   gone        which parts of the end have happened: SETTLED_PART, from which the outcome is in the metrics, and
     *               LEFT, from which no thread runs the callable or will. The run is pending until it has both.
     *
     * The order at the end, if the runner decides: the listener is notified, waits that cancel others are notified of a
     * failure, both parts of the end are marked in one step, the permit is released, waits are woken. If another thread
     * decides, the permit is released when the callable has actually ended, and so is LEFT marked.
     *
     * An ended run refers to no queue or thread, and to no sibling once it is unlinked (PendingRuns). So a handle that
     * is kept does not retain the tasks that ran beside it.
     */

    /** Several waits for one run: the latest, and a MultiWait or Waits. Immutable. */
    private record Waits(MultiWait latest, Object others) {}

    /** The alarm of a run, for its time limit or for its begin. */
    private static final class OwnAlarm {
        final Signal listed = new Signal(); // an alarm that fires before the run is listed has its effect then
        final Alarm alarm;

        OwnAlarm(Deadline deadline, OffloadExecutor elsewhere, Runnable action) {
            alarm = deadline.alarm(() -> elsewhere.execute(() -> listed.whenSet(action)));
        }
    }

    /** The run is settled and notifies no further waits. */
    private static final Object SETTLED = new Object();

    private static final GrantedPermits NO_GRANTS = new GrantedPermits();

    private static final byte SETTLED_PART = 1;
    private static final byte LEFT = 2;
    private static final byte ENDED = SETTLED_PART | LEFT;

    private static final VarHandle WAITS = Fields.handle(MethodHandles.lookup(), "waits", Object.class);
    private static final VarHandle GONE = Fields.handle(MethodHandles.lookup(), "gone", byte.class);

    final ScopeTasks scope;
    private final long id;
    private final @Nullable String name;
    private final RunSettings settings;
    private volatile Scheduler.@Nullable Placement placement;
    private volatile @Nullable Object waits; // null, a MultiWait, Waits or SETTLED
    private volatile byte gone;

    @Nullable
    ScopeRun<?> older; // the next in the scope's list; written before the run is listed, then guarded by the list

    private @Nullable OwnAlarm ownAlarm; // null without one; written by the submitter before any other
    private @Nullable Thread
            lastRunner; // written by the runner, before it is entered and when it leaves; for diagnosis
    private long waited; // written by the runner
    private boolean hasStarted; // written by the runner before it is entered
    private boolean decidedByRunner; // written by the runner if it decided; no other thread reads it then

    ScopeRun(
            ScopeTasks scope,
            long id,
            @Nullable String name,
            Callable<? extends T> callable,
            RunSettings settings,
            long submitNanos) {
        super(callable, submitNanos);
        this.scope = scope;
        this.id = id;
        this.name = name;
        this.settings = settings;
    }

    // Admission, placement and execution.

    /** Arms the alarm of the task's own time limit, if it has one; the scope's deadline has its own alarm. */
    final void armLimit() {
        TimeLimit limit = settings.limit;
        if (limit != null && limit.enclosure() == null) {
            arm(limit.deadline(), () -> expire(limit, Runnable::run));
        }
    }

    /** Arms an alarm, which has no effect before {@link #listed} is called. */
    final void arm(Deadline deadline, Runnable action) {
        ownAlarm = new OwnAlarm(deadline, scope.offload(), action);
    }

    /** Records that the run is listed, so that it may end. */
    final void listed() {
        if (ownAlarm != null) {
            ownAlarm.listed.set();
        }
    }

    @Override
    protected final boolean mayStartInPlace() {
        return !scope.onVirtualThreads;
    }

    @Override
    protected final void placeAtScheduler() {
        if (isDecided()) {
            throw new CancelledException("task \"" + name() + "\" was ended before it was placed");
        }
        Scheduler scheduler = scope.options.scheduler;
        if (scope.onVirtualThreads) {
            scheduler.execute(this);
            return;
        }
        Scheduler.Placement place = scheduler.place(this);
        if (place != Scheduler.Placement.FINAL) {
            placement = place;
            if (isDecided()) { // otherwise the thread that ends it sees the placement
                if (hasEndedUnbegun()) {
                    withdraw(place); // the settling thread may have cleared the field without having seen it
                }
                placement = null;
            }
        }
    }

    @Override
    protected final void dispatch(GrantedPermits grants) {
        scope.dispatch(grants);
    }

    @Override
    protected final void releaseUnbegun(GrantedPermits grants) {
        leave(LEFT, grants);
    }

    @Override
    public final <R> R inSubmittersContext(Callable<R> action) throws Exception {
        Thread self = Thread.currentThread();
        ClassLoader before = self.getContextClassLoader();
        BorrowedThread.useLoader(self, loader(), sink());
        try {
            return settings.context.call(action);
        } finally {
            BorrowedThread.useLoader(self, before, sink());
        }
    }

    /** Withdraws the run from the scheduler's queue, if it has a place there and has not begun. */
    private void withdraw(Scheduler.@Nullable Placement place) {
        if (place != null) {
            scope.guard("withdraw() of task \"" + name() + "\" from its scheduler", place::withdraw);
        }
    }

    @Override
    protected final @Nullable GrantedPermits withdraw() {
        ScopeGate gate = scope.gate;
        if (gate == null) {
            return null;
        }
        GrantedPermits grants = new GrantedPermits();
        return gate.withdraw(this, grants) ? grants : null;
    }

    /** Marks parts of the end, one of which is LEFT, and leaves the gate, in whatever place the run is there. */
    private void leave(byte parts, GrantedPermits grants) {
        markGone(parts);
        ScopeGate gate = scope.gate;
        if (gate != null) {
            gate.leave(this, grants);
        }
        leftScope();
    }

    private void markGone(byte parts) {
        byte before = (byte) GONE.getAndBitwiseOr(this, parts);
        if (before != ENDED && (before | parts) == ENDED) {
            scope.pending.countEnd();
        }
    }

    /** Makes this a run that is never counted or listed. Called before it is used. */
    final void neverPending() {
        gone = ENDED;
    }

    /** Returns whether this run is not pending any more. */
    final boolean hasEnded() {
        return gone == ENDED;
    }

    /** Called when the run has left the scope. */
    void leftScope() {}

    @Override
    protected final @Nullable GuardedListener events() {
        return scope.events;
    }

    @Override
    protected final void started(long waitNanos) {
        lastRunner = Thread.currentThread();
        waited = waitNanos;
        hasStarted = true;
        if (settings.retry != null) {
            Callable<? extends T> callable = callable();
            repeat(() -> settings.context.call(callable), settings.retry, settings.limit, scope.offload());
        }
        GuardedListener events = scope.events;
        if (events != null) {
            events.onStarted(this, waitNanos);
        }
    }

    @Override
    protected final T enter(Callable<? extends T> callable) throws Exception {
        Thread self = Thread.currentThread();
        boolean named = self.isVirtual() && self.getName().isEmpty();
        if (named) {
            self.setName(name == null ? scope.name : scope.name + "/" + name); // for thread dumps
        }
        Set<Registration> outer = scope.registrations == null ? null : scope.suspendRegistrations(self);
        try {
            return callInContext(callable);
        } finally {
            if (scope.registrations != null) {
                scope.endRegistrations(self, outer);
            }
            if (named && !scope.onVirtualThreads) { // else the thread ends with the run
                self.setName("");
            }
        }
    }

    private T callInContext(Callable<? extends T> callable) throws Exception {
        HookListener hook = scope.hook;
        if (settings.retry == null) {
            return settings.context.call(
                    hook == null
                            ? callable
                            : () -> {
                                hook.notifyStart(this);
                                return callable.call();
                            });
        }
        if (hook != null) {
            settings.context.call(() -> {
                hook.notifyStart(this);
                return hook;
            });
        }
        return callable.call(); // each attempt enters the context
    }

    @Override
    protected final void ended(Outcome<T> outcome) {
        decidedByRunner = true;
        if (scope.events != null) {
            notifyListener(outcome);
        }
        notifyWaitsOfFailure(outcome);
    }

    @Override
    protected final @Nullable TaskRun<?> releasePermits(long ranNanos, long grantedNanos, long nowNanos) {
        if (!decidedByRunner) {
            notifyWaitsOfFailure(decided()); // of a timeout; the thread that ended the run may notify later
        }
        GrantedPermits grants = scope.gate == null ? NO_GRANTS : new GrantedPermits();
        leave(decidedByRunner ? ENDED : LEFT, grants);
        lastRunner = null;
        if (grants != NO_GRANTS) {
            scope.dispatch(grants);
        }
        return null;
    }

    @Override
    protected void settled(Outcome<T> outcome) {
        if (ownAlarm != null) {
            ownAlarm.alarm.cancel();
        }
        if (!decidedByRunner) {
            notifyListener(outcome);
            notifyWaitsOfFailure(outcome);
            settleFromOutside();
        }
        if (placement != null) {
            placement = null; // a handle must not keep a queue reachable
        }
        Object chain = WAITS.getAndSet(this, SETTLED);
        while (chain instanceof Waits several) {
            several.latest().settled(this);
            chain = several.others();
        }
        if (chain instanceof MultiWait last) {
            last.settled(this);
        }
    }

    /** Marks the end. If the run never began, also releases its permit, because the scheduler may never run it. */
    private void settleFromOutside() {
        if (wasEntered()) {
            markGone(SETTLED_PART);
            return;
        }
        withdraw(placement);
        GrantedPermits grants = new GrantedPermits();
        leave(ENDED, grants);
        scope.dispatch(grants);
    }

    /**
     * Lets waits cancel other runs if this one has failed. Called before the permit is released, for which one of those
     * may wait.
     */
    private void notifyWaitsOfFailure(@Nullable Outcome<T> outcome) {
        if (outcome instanceof Outcome.Failure<T> failure) {
            Object chain = waits;
            while (chain instanceof Waits several) {
                several.latest().failed(this, failure.error());
                chain = several.others();
            }
            if (chain instanceof MultiWait last) {
                last.failed(this, failure.error());
            }
        }
    }

    /** Adds this run to the sums of its scope. */
    final void addTo(ScopeMeter sums) {
        if ((gone & SETTLED_PART) != 0) {
            Outcome<T> outcome = settledOutcome();
            if (wasEntered()) {
                sums.addEnd(outcome, waited, endNanos() - startNanos());
            } else {
                sums.addEndBeforeStart(outcome);
            }
        } else if (hasStarted) {
            sums.addRunning();
        }
    }

    void notifyListener(Outcome<T> outcome) {
        GuardedListener events = scope.events;
        if (events != null) {
            events.onSettled(this, outcome, wasEntered() ? endNanos() - startNanos() : 0);
        }
    }

    // Ending from outside.

    @Override
    public final boolean cancel() {
        return cancel(
                new CancelledException("task \"" + name() + "\" was cancelled through its handle"), Runnable::run);
    }

    final boolean cancel(Throwable cause, Executor notifier) {
        return endFromOutside(new Outcome.Cancelled<>(cause), true, notifier);
    }

    // Waiting.

    /** Notifies a wait when this run is settled, or now if it is settled already. */
    final void addWait(MultiWait wait) {
        Object before = waits;
        while (before != SETTLED) {
            if (WAITS.compareAndSet(this, before, before == null ? wait : new Waits(wait, before))) {
                return;
            }
            before = waits;
        }
        wait.settled(this);
    }

    final Outcome<T> awaitEnd() throws InterruptedException {
        if ((placement == null && scope.gate == null) || isSettled()) {
            return awaitOutcome();
        }
        WaitRegistration waiting = beginWait();
        try {
            return awaitOutcome();
        } finally {
            waiting.remove();
        }
    }

    /** A registered wait for a run: in the scope if it has a limit, and at the scheduler if that has one. */
    record WaitRegistration(
            ScopeRun<?> run, Thread waiter, @Nullable ScopeGate gate, Scheduler.@Nullable Placement place) {
        void remove() {
            if (gate != null) {
                gate.endWait(waiter, run);
            }
            if (place != null) {
                place.endWait(waiter);
            }
        }
    }

    /**
     * Registers that the calling thread waits for this run. Throws if the run could never begin because of that wait.
     */
    final WaitRegistration beginWait() {
        Thread self = Thread.currentThread();
        ScopeGate limit = scope.gate;
        ScopeGate gate = limit != null && limit.beginWait(self, this) ? limit : null;
        Scheduler.Placement place = placement;
        try {
            boolean inPlace = place != null && !isTimeBounded() && place.beginWait(self);
            return new WaitRegistration(this, self, gate, inPlace ? place : null);
        } catch (Throwable failure) { // usually because the wait is hopeless
            new WaitRegistration(this, self, gate, null).remove();
            throw failure;
        }
    }

    @Override
    public final boolean isTimeBounded() {
        return settings.limit != null || scope.enclosure.deadline() != null;
    }

    @Override
    public final T await() throws InterruptedException {
        Outcome<T> outcome = awaitEnd();
        scope.pending.clearAfter(this);
        return valueOf(outcome);
    }

    @Override
    public final T await(Duration longest) throws InterruptedException, TimeoutException {
        Outcome<T> outcome = awaitOutcome(Deadline.after(time(), longest));
        if (outcome == null) {
            throw new TimeoutException("task \"" + name() + "\" in scope \"" + scope.name + "\" had not ended after "
                    + TimeLimit.text(longest) + "; it goes on");
        }
        return valueOf(outcome);
    }

    @SuppressWarnings("NullAway") // T says whether the value may be null
    private T valueOf(Outcome<T> outcome) {
        if (outcome instanceof Outcome.Success<T> success) {
            return success.value();
        }
        throw asThrown(outcome);
    }

    /** Returns the exception of a wait for this run, which has no value. Throws it if it is an error. */
    final RuntimeException asThrown(Outcome<?> outcome) {
        return switch (outcome) {
            case Outcome.Failure<?> failure -> asThrown(failure.error());
            case Outcome.Cancelled<?> cancelled -> asCancelled(cancelled.cause());
            default -> throw new AssertionError("a task of a scope cannot end as " + outcome);
        };
    }

    private RuntimeException asThrown(Throwable error) {
        if (error instanceof Error thrown) {
            throw thrown;
        }
        return error instanceof RuntimeException thrown
                ? thrown
                : new TaskExecutionException("task \"" + name() + "\" in scope \"" + scope.name + "\" failed", error);
    }

    private RuntimeException asCancelled(Throwable cause) {
        ScopeTimeoutException expired = scope.pending.expiredBy(cause);
        if (expired != null) {
            return expired;
        }
        return cause instanceof CancelledException cancelled
                ? cancelled
                : new CancelledException("task \"" + name() + "\" ended because it was interrupted", cause);
    }

    // The handle.

    @Override
    public final long id() {
        return id;
    }

    @Override
    public final String name() {
        return nameOf(name, id);
    }

    /** Returns the name of a task: the given one, or that of its number. */
    static String nameOf(@Nullable String name, long id) {
        return name == null ? "task-" + id : name;
    }

    @Override
    public final String owner() {
        return scope.name;
    }

    @Override
    protected final @Nullable ClassLoader loader() {
        return settings.loader;
    }

    @Override
    protected final TimeSource time() {
        return scope.time;
    }

    @Override
    protected final ExceptionSink sink() {
        return scope.sink;
    }

    @Override
    public final int priority() {
        return settings.rank;
    }

    @Override
    public final boolean isDone() {
        return isDecided();
    }

    @Override
    public final State state() {
        Outcome<T> outcome = decided();
        if (outcome != null) {
            return stateOf(outcome);
        }
        return isRunning() ? State.RUNNING : State.PENDING;
    }

    static State stateOf(Outcome<?> outcome) {
        return switch (outcome.status()) {
            case SUCCESS -> State.SUCCESS;
            case FAILED -> State.FAILED;
            default -> State.CANCELLED;
        };
    }

    @Override
    public final Optional<Thread> runner() {
        return Optional.ofNullable(runningThread());
    }

    @Override
    public final Optional<Outcome<T>> outcome() {
        return Optional.ofNullable(decided());
    }

    /** Returns the thread that ran the callable last, which may still run it although the run was ended, or null. */
    final @Nullable Thread lastRunner() {
        return lastRunner;
    }

    /** Returns whether this run is a task, not a job whose rounds are tasks. */
    boolean isTask() {
        return true;
    }

    final RunSettings settings() {
        return settings;
    }

    @Override
    public final CompletableFuture<T> toCompletableFuture() {
        return copy(this::valueOf, Runnable::run);
    }

    @Override
    public String toString() {
        return "task \"" + name() + "\" in scope \"" + scope.name + "\", " + state();
    }
}
