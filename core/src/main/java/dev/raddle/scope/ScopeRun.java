package dev.raddle.scope;

import dev.raddle.kernel.Attempts;
import dev.raddle.kernel.CapturedContext;
import dev.raddle.kernel.GrantedPermits;
import dev.raddle.kernel.TaskRun;
import dev.raddle.kernel.TimeLimit;
import dev.raddle.task.CancelledException;
import dev.raddle.task.Outcome;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Scheduler;
import dev.raddle.task.Task;
import dev.raddle.task.TaskExecutionException;
import dev.raddle.time.Alarm;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** One life of a task of a scope: the handle, the node in the scope's gate, and what the scheduler runs. */
class ScopeRun<T> extends TaskRun<T> implements Task<T>, Scheduler.Placeable {

    /*
     * Overview.
     *
     * The kernel's state says how the run stands (TaskRun), the gate whether it waits or is held (ScopeGate). Three further
     * things have a life of their own:
     *
     *   placement   the place at the scheduler, if it can be left. Whoever ends the run from outside leaves it, so that a
     *               cancelled task does not wait in a group's or a pool's queue. It is known only after the scheduler has
     *               returned it, when the run may have been ended already: so the placer looks once more after it has noted
     *               it, and the two cannot both miss.
     *   watches     the waits that want to hear of its end, or SETTLED: see Watch.
     *   start       null until the hook has heard of the start. Whoever has to tell it of the end tries to put ENDED_EARLY
     *               there: if that works, the runner is still telling the start, and tells of the end after it. So a hook
     *               never hears of an end before the start.
     *
     * The order at the end, if the runner decides: hook and listener are told, waits that cancel others hear of a failure,
     * the end is counted and the permit given back in one step, waits are woken. If somebody else decides, the permit is
     * given back when the callable has really ended.
     */

    private static final Object STARTED = new Object();
    private static final Object ENDED_EARLY = new Object();
    private static final VarHandle WATCHES;
    private static final VarHandle START;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            WATCHES = lookup.findVarHandle(ScopeRun.class, "watches", Watch.Chain.class);
            START = lookup.findVarHandle(ScopeRun.class, "start", Object.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    final ThreadScope scope;
    private final long id;
    private final @Nullable String name;
    private final int priority;
    private final @Nullable RetryPolicy retry;
    private final @Nullable TimeLimit limit;
    private final Surroundings seen;
    private final @Nullable TaskInfo info;
    private volatile @Nullable Attempts<T> attempts;
    private volatile Scheduler.@Nullable Placement placement;
    private volatile Watch.@Nullable Chain watches;
    private volatile boolean endedFromOutside; // or somebody is about to

    @SuppressWarnings("UnusedVariable") // by START
    private volatile @Nullable Object start; // null, STARTED or ENDED_EARLY

    private @Nullable Alarm limitAlarm; // written by the submitter before the run is anywhere
    private @Nullable Thread lastRunner; // written by the runner before it is entered; for diagnosis
    private long waited; // written by the runner
    private boolean counted; // whether the start was counted; written by the runner before it is entered
    private boolean toldByRunner; // written by the runner, if it decided; nobody else reads it then

    ScopeRun(
            ThreadScope scope,
            long id,
            @Nullable String name,
            Callable<? extends T> callable,
            int priority,
            @Nullable RetryPolicy retry,
            @Nullable TimeLimit limit,
            Surroundings seen,
            long submitNanos) {
        super(callable, submitNanos);
        this.scope = scope;
        this.id = id;
        this.name = name;
        this.priority = priority;
        this.retry = retry;
        this.limit = limit;
        this.seen = seen;
        this.info = scope.infoOf(this);
    }

    // The corridor.

    /**
     * Begins to watch the time, if the task has a limit of its own: that of the scope is the scope's to watch. Fails the run if
     * that is impossible.
     */
    final void arm() {
        if (limit != null && isTimed()) {
            try {
                limitAlarm = limit.deadline().alarm(() -> outOfTime(limit));
            } catch (Throwable noAlarm) {
                endFromOutside(new Outcome.Failure<>(noAlarm), Runnable::run);
            }
        }
    }

    private void outOfTime(TimeLimit over) {
        endFromOutside(over.outcome(name(), attempts, isRunning()), scope.elsewhere());
    }

    @Override
    protected final void startGranted() {
        GrantedPermits grants = new GrantedPermits();
        place(scope.scheduler(), grants);
        scope.dispatch(grants);
    }

    /** Hands the run, which was granted, to the scheduler; adds to the grants if that fails. */
    final void place(Scheduler scheduler, GrantedPermits grants) {
        if (isDecided()) {
            release(false, 0, grants);
            return;
        }
        if (scheduler != Scheduler.virtualThreads()) {
            mayRunInPlace();
        }
        try {
            Scheduler.Placement place = scheduler.place(this);
            if (place != Scheduler.Placement.FINAL) {
                placement = place;
                if (endedFromOutside) {
                    leavePlace();
                }
                if (isDecided()) {
                    placement = null; // who settles it may have looked before
                }
            }
        } catch (Throwable failure) {
            neverRuns(failure, grants);
        }
    }

    @Override
    public final <R> R inSubmittersContext(Callable<R> action) throws Exception {
        return seen.context().call(action);
    }

    @Override
    public final void reject(RejectedExecutionException reason) {
        GrantedPermits grants = new GrantedPermits();
        neverRuns(reason, grants);
        scope.dispatch(grants);
    }

    private void neverRuns(Throwable failure, GrantedPermits grants) {
        boolean claimed = claim();
        if (!claimed && !isDecided()) {
            return; // it has begun nevertheless: its runner sees to the rest
        }
        release(false, 0, grants);
        if (claimed) {
            conclude(new Outcome.Failure<>(failure), true);
        }
    }

    /** Gives up the place at the scheduler, if the run has not begun there. */
    private void leavePlace() {
        Scheduler.Placement place = placement;
        if (place != null) {
            scope.guard("withdraw() of task \"" + name() + "\" from its scheduler", place::withdraw);
        }
    }

    private void release(boolean counts, long ranNanos, GrantedPermits grants) {
        scope.gate().release(this, counts, ranNanos, grants);
        left();
    }

    /** Hears that nothing of the run is in the scope any more. */
    void left() {}

    @Override
    protected final void started(long waitNanos) {
        lastRunner = Thread.currentThread();
        waited = waitNanos;
        counted = true;
        scope.gate().meter().started();
        scope.tellStarted(this, waitNanos);
    }

    @Override
    protected final T enter(Callable<? extends T> callable) throws Exception {
        Thread self = Thread.currentThread();
        boolean named = self.isVirtual() && self.getName().isEmpty();
        if (named) {
            self.setName(name == null ? scope.name() : scope.name() + "/" + name); // for thread dumps
        }
        if (scope.scheduler() == Scheduler.virtualThreads()) { // the thread ends with the run
            useLoader(self, seen.loader());
            return inContext(callable);
        }
        ClassLoader own = self.getContextClassLoader();
        useLoader(self, seen.loader());
        try {
            return inContext(callable);
        } finally {
            useLoader(self, own); // the task may have set another
            if (named) {
                self.setName("");
            }
        }
    }

    private void useLoader(Thread self, @Nullable ClassLoader loader) {
        if (self.getContextClassLoader() != loader) {
            scope.guard("setContextClassLoader of a thread", () -> self.setContextClassLoader(loader));
        }
    }

    private T inContext(Callable<? extends T> callable) throws Exception {
        CapturedContext context = seen.context();
        if (retry == null || retry.maxAttempts() == 1) {
            if (info == null) {
                return context.call(callable);
            }
            return context.call(() -> {
                tellStart(info);
                return callable.call();
            });
        }
        if (info != null) {
            context.call(() -> tellStart(info));
        }
        Attempts<T> all = new Attempts<>(() -> attempt(callable), retry, this::isDecided, time(), name(), limit);
        attempts = all;
        try {
            return all.call();
        } finally {
            attempts = null; // it keeps the callable
        }
    }

    /** Makes one attempt, which sees nothing of what the one before has changed. */
    private T attempt(Callable<? extends T> callable) throws Exception {
        useLoader(Thread.currentThread(), seen.loader());
        return seen.context().call(callable);
    }

    /** Tells the hook of the start; or of an end that came while it heard of that, and the callable is not called then. */
    private ScopeRun<T> tellStart(TaskInfo task) {
        scope.tellHook("onStart", task, hook -> hook.onStart(task));
        if (!START.compareAndSet(this, (Object) null, STARTED)) {
            tellHook(task, settledOutcome());
            throw new CancelledException("task \"" + name() + "\" was ended while its hook heard of its start");
        }
        return this;
    }

    @Override
    protected final void ended(Outcome<T> outcome) {
        toldByRunner = true;
        tell(outcome);
        tellOfFailure(outcome);
    }

    @Override
    protected final @Nullable TaskRun<?> giveBack(long ranNanos, long nowNanos) {
        Outcome<T> outcome = decided();
        if (!toldByRunner && outcome != null) {
            tellOfFailure(outcome); // a task that ran out of time has failed, too, and its teller may come later
        }
        GrantedPermits grants = new GrantedPermits();
        release(toldByRunner, ranNanos, grants);
        lastRunner = null;
        scope.dispatch(grants);
        return null;
    }

    @Override
    protected void settled(Outcome<T> outcome) {
        if (limitAlarm != null) {
            limitAlarm.cancel();
        }
        if (!toldByRunner) {
            tell(outcome);
            tellOfFailure(outcome);
            settleFromOutside();
        }
        if (placement != null) {
            placement = null; // a handle must not keep a queue
        }
        Watch.Chain chain = (Watch.Chain) WATCHES.getAndSet(this, Watch.Chain.SETTLED);
        for (; chain != null; chain = chain.next()) {
            if (chain.watch() != null) {
                chain.watch().settled(this);
            }
        }
    }

    /** Counts the run; gives its permit back, too, if it never began: its scheduler may never call it. */
    private void settleFromOutside() {
        if (wasEntered()) {
            scope.gate().count(this);
            return;
        }
        leavePlace();
        GrantedPermits grants = new GrantedPermits();
        release(true, 0, grants);
        scope.dispatch(grants);
    }

    /** Lets waits cancel the others: before the permit is given back for which one of these may wait. */
    private void tellOfFailure(Outcome<T> outcome) {
        if (outcome instanceof Outcome.Failure<T> failure) {
            for (Watch.Chain chain = watches; chain != null; chain = chain.next()) {
                if (chain.watch() != null) {
                    chain.watch().failed(this, failure.error());
                }
            }
        }
    }

    /** Counts how this ended; called under the gate's lock, once. */
    void countIn(ScopeMeter meter) {
        State state = state();
        if (wasEntered()) {
            meter.ended(state, waited, endNanos() - startNanos());
            return;
        }
        if (counted) {
            meter.neverStarted();
        }
        meter.endedBeforeStart(state);
    }

    void tell(Outcome<T> outcome) {
        if (info != null && (toldByRunner || !leftToTheRunner())) {
            tellHook(info, outcome);
        }
        scope.tellSettled(this, outcome, ranNanos());
    }

    /** Leaves it to the runner to tell the hook of an end from outside, if the hook has not heard of the start yet. */
    private boolean leftToTheRunner() {
        return wasEntered() && START.compareAndSet(this, (Object) null, ENDED_EARLY);
    }

    private long ranNanos() {
        return wasEntered() ? endNanos() - startNanos() : 0;
    }

    private void tellHook(TaskInfo task, Outcome<T> outcome) {
        Duration ran = Duration.ofNanos(ranNanos());
        switch (outcome) {
            case Outcome.Success<T> success -> scope.tellHook("onSuccess", task, hook -> hook.onSuccess(task, ran));
            case Outcome.Failure<T> failure ->
                scope.tellHook("onFailure", task, hook -> hook.onFailure(task, failure.error(), ran));
            default -> scope.tellHook("onCancel", task, hook -> hook.onCancel(task, ran));
        }
    }

    // Ending from outside.

    @Override
    public final boolean cancel() {
        return cancel(
                new CancelledException("task \"" + name() + "\" was cancelled through its handle"), Runnable::run);
    }

    final boolean cancel(Throwable cause, Executor teller) {
        return endFromOutside(new Outcome.Cancelled<>(cause), teller);
    }

    /**
     * Ends the run wherever it is. It leaves the scope's queue before it is decided, so that what becomes possible by that
     * does not go to it, and its place at the scheduler when it is settled.
     */
    private boolean endFromOutside(Outcome<T> outcome, Executor teller) {
        if (isDecided()) {
            return false;
        }
        GrantedPermits grants = new GrantedPermits();
        if (scope.gate().withdraw(this, grants)) {
            left();
            teller.execute(() -> scope.dispatch(grants));
        }
        endedFromOutside = true;
        return end(outcome, true, teller);
    }

    /** Leaves the queue that the run has just entered, if it was ended meanwhile. */
    final void leaveIfEnded() {
        GrantedPermits grants = new GrantedPermits();
        if (isDecided() && scope.gate().withdraw(this, grants)) {
            left();
            scope.dispatch(grants);
        }
    }

    // Waiting.

    /**
     * Lets a wait hear when this run is settled, now if it is.
     *
     * @param alone the chain of that watch alone, which all its runs can share
     */
    final void watch(Watch watch, Watch.Chain alone) {
        Watch.Chain before = watches;
        while (before != Watch.Chain.SETTLED) {
            if (WATCHES.compareAndSet(this, before, before == null ? alone : new Watch.Chain(watch, before))) {
                return;
            }
            before = watches;
        }
        watch.settled(this);
    }

    final Outcome<T> awaitEnd() throws InterruptedException {
        if (end().isSet()) {
            return settledOutcome();
        }
        Waiting waiting = beginWait();
        try {
            return awaitOutcome();
        } finally {
            waiting.end();
        }
    }

    /** What a wait for a run was noted by: the scope's limit, and whatever limits it where it was placed. */
    record Waiting(ScopeRun<?> run, Thread waiter, boolean inScope, Scheduler.@Nullable Placement place) {
        void end() {
            if (inScope) {
                run.scope.gate().endWait(waiter, run);
            }
            if (place != null) {
                place.endWait(waiter);
            }
        }
    }

    /** Notes that the calling thread waits for this; fails if it is a task without the end of which this could never begin. */
    final Waiting beginWait() {
        Thread self = Thread.currentThread();
        boolean inScope = scope.gate().isLimited() && scope.gate().beginWait(self, this);
        Scheduler.Placement place = placement;
        try {
            boolean inPlace = place != null && !endsByItself() && place.beginWait(self);
            return new Waiting(this, self, inScope, inPlace ? place : null);
        } catch (IllegalStateException hopeless) {
            new Waiting(this, self, inScope, null).end();
            throw hopeless;
        }
    }

    @Override
    protected final boolean endsByItself() {
        return limit != null || scope.deadline() != null;
    }

    @Override
    public final T await() throws InterruptedException {
        return valueOf(awaitEnd());
    }

    @Override
    public final T await(Duration longest) throws InterruptedException, TimeoutException {
        Outcome<T> outcome = awaitOutcome(Deadline.after(time(), longest));
        if (outcome == null) {
            throw new TimeoutException("task \"" + name() + "\" in scope \"" + scope.name() + "\" had not ended after "
                    + TimeLimit.text(longest) + "; it goes on");
        }
        return valueOf(outcome);
    }

    @SuppressWarnings("NullAway") // whether the value may be null is for the caller's T to say
    private T valueOf(Outcome<T> outcome) {
        if (outcome instanceof Outcome.Success<T> success) {
            return success.value();
        }
        throw asThrown(outcome);
    }

    /** Returns what a wait for this run throws, if it has no value; throws it if it is an error. */
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
                : new TaskExecutionException("task \"" + name() + "\" in scope \"" + scope.name() + "\" failed", error);
    }

    private RuntimeException asCancelled(Throwable cause) {
        ScopeTimeoutException expired = scope.expiredBy(cause);
        if (expired != null) {
            return expired;
        }
        return cause instanceof CancelledException cancelled
                ? cancelled
                : new CancelledException("task \"" + name() + "\" was interrupted, and gave up", cause);
    }

    // The handle.

    @Override
    public final long id() {
        return id;
    }

    @Override
    public final String name() {
        return name == null ? "task-" + id : name;
    }

    @Override
    public final String owner() {
        return scope.name();
    }

    @Override
    protected final TimeSource time() {
        return scope.time();
    }

    @Override
    public final int priority() {
        return priority;
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
        return switch (outcome) {
            case Outcome.Success<?> success -> State.SUCCESS;
            case Outcome.Failure<?> failure -> State.FAILED;
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

    /** Returns the thread that ran the callable last, which may still be in it although the run was ended. */
    final @Nullable Thread lastRunner() {
        return lastRunner;
    }

    /** Returns what the run was given of its submitter. */
    final Surroundings seen() {
        return seen;
    }

    /** Runs an action when the run is settled, in the thread that settles it, or at once. */
    final void whenEnded(Runnable action) {
        end().whenSet(action);
    }

    /** Returns how the run ended, once it is settled. */
    final Outcome<T> result() {
        return settledOutcome();
    }

    /** Tells whether an alarm may end this before it has entered the scope. */
    final boolean isTimed() {
        return limit != null && limit.enclosure() == null;
    }

    final long begunNanos() {
        return startNanos();
    }

    final long decidedNanos() {
        return endNanos();
    }

    @Override
    public final CompletableFuture<T> toCompletableFuture() {
        CompletableFuture<T> copy = new CompletableFuture<>();
        end().whenSet(() -> complete(copy));
        return copy;
    }

    private void complete(CompletableFuture<T> copy) {
        T value;
        try {
            value = valueOf(settledOutcome());
        } catch (Throwable thrown) {
            copy.completeExceptionally(thrown);
            return;
        }
        copy.complete(value);
    }

    @Override
    public String toString() {
        return "task \"" + name() + "\" in scope \"" + scope.name() + "\", " + state();
    }
}
