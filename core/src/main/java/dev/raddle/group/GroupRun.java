package dev.raddle.group;

import dev.raddle.kernel.Attempts;
import dev.raddle.kernel.BorrowedThread;
import dev.raddle.kernel.Gate;
import dev.raddle.kernel.GrantedPermits;
import dev.raddle.kernel.GuardedListener;
import dev.raddle.kernel.Recorder;
import dev.raddle.kernel.SubmittedRun;
import dev.raddle.kernel.TaskRun;
import dev.raddle.kernel.TimeLimit;
import dev.raddle.task.CancelledException;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Outcome;
import dev.raddle.task.Rejection;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskContext;
import dev.raddle.task.TaskTimeoutException;
import dev.raddle.time.Deadline;
import dev.raddle.time.Signal;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.Locale;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The run of one task in a group: the handle, the node in the group's queue and the runnable of its thread. A million
 * of these may wait at once, so each field here costs eight bytes a million times. Whatever only some runs need is in
 * their {@link RunSettings}.
 */
final class GroupRun<T> extends SubmittedRun<T> implements TaskHandle<T> {

    private static final Scheduler VIRTUAL_THREADS = Scheduler.virtualThreads();
    private static final int PROCESSORS = Runtime.getRuntime().availableProcessors();

    private final String taskId;
    final @Nullable RunSettings settings; // null for a plain run
    boolean isUncounted; // by the breaker of the group; guarded by the group
    Group group; // changed by the submitter before the run enters, under the lock of the group that it leaves

    GroupRun(Group group, String taskId, Callable<? extends T> task, long submitNanos, @Nullable RunSettings settings) {
        super(task, submitNanos);
        this.group = group;
        this.taskId = taskId;
        this.settings = settings;
    }

    private @Nullable Origin origin() {
        return settings == null ? null : settings.origin;
    }

    // Placement.

    @Override
    protected boolean mayStartInPlace() {
        return group.engine.onlyScheduler == null && !group.usesVirtualThreads() && !(origin() instanceof CallerThread);
    }

    /** Returns whether a thread that has run another task of the group may run this one next. */
    boolean mayRunNext() {
        return !(origin() instanceof CallerThread);
    }

    /** Starts this run on a thread, or wakes the caller that executes it. */
    @Override
    protected void placeAtScheduler() {
        if (settings != null) {
            settings.disarm();
            if (settings.origin instanceof CallerThread caller) {
                caller.grantedOrSettled().set();
                return;
            }
        }
        GroupEngine engine = group.engine;
        Scheduler scheduler = engine.onlyScheduler == null ? group.scheduler() : engine.onlyScheduler;
        if (scheduler != VIRTUAL_THREADS) {
            scheduler.place(this);
        } else if (engine.cap.used() > PROCESSORS && !Thread.currentThread().isVirtual()) {
            engine.carrierHandoff.start(this);
        } else {
            scheduler.execute(this);
        }
    }

    @Override
    protected void dispatch(GrantedPermits grants) {
        group.engine.dispatch(grants);
    }

    @Override
    protected void releaseUnbegun(GrantedPermits grants) {
        group.release(this, Gate.NEVER_RAN, grantedNanos(), now(), grants, null, null);
    }

    /** Waits until this run is granted, then executes it in the calling thread until it is settled. */
    Outcome<T> runWhenGranted(CallerThread caller) throws InterruptedException {
        boolean noted = false;
        try {
            if (!caller.grantedOrSettled().isSet()) {
                noted = group.noteWait(Thread.currentThread(), this);
            }
            RunSettings own = Objects.requireNonNull(settings);
            Deadline queueEnd = own.queueTimeout == null ? null : Deadline.after(time(), own.queueTimeout);
            if (endsOwnWait()) {
                endWaitInTime(caller.grantedOrSettled(), own, queueEnd);
            }
            caller.grantedOrSettled().await();
        } catch (InterruptedException | IllegalStateException failure) {
            cancel(failure, false);
            if (group.holds(this)) {
                runHere();
            }
            throw failure;
        } finally {
            if (noted) {
                group.endWait(Thread.currentThread(), this);
            }
        }
        if (!isDone() || group.holds(this)) { // its timeout may have passed at the moment of the grant
            runHere();
        }
        return awaitOutcome();
    }

    /** Returns whether a caller waits that needs no alarm; in other than real time, an alarm ends the wait. */
    private boolean endsOwnWait() {
        return origin() instanceof CallerThread && time() == TimeSource.system();
    }

    /**
     * Waits until this run is granted or settled, and ends it in the calling thread if its queue timeout or time limit
     * passes first. If it is neither granted nor settled then, another thread is about to do so.
     */
    private void endWaitInTime(Signal grantedOrSettled, RunSettings own, @Nullable Deadline queueEnd)
            throws InterruptedException {
        TimeLimit limit = own.limit;
        Duration longest = own.queueTimeout;
        if (limit != null && (queueEnd == null || limit.deadline().nanoTime() - queueEnd.nanoTime() < 0)) {
            if (!grantedOrSettled.await(limit.deadline())) {
                expire(limit, Runnable::run);
            }
        } else if (longest != null && queueEnd != null && !grantedOrSettled.await(queueEnd)) {
            onQueueTimeout(longest, Runnable::run);
        }
    }

    @Override
    protected @Nullable GrantedPermits withdraw() {
        GrantedPermits grants = new GrantedPermits();
        Group at;
        do {
            at = group;
            if (at.withdraw(this, grants)) {
                return grants;
            }
        } while (at != group); // it was moved meanwhile
        return null;
    }

    /** Returns this run as it is now, with the slots that it holds or needs. */
    TaskStats stats(boolean waits, int slots, long now) {
        long since = sinceNanos();
        Thread thread = runningThread();
        TaskRun<?> awaited = thread == null ? null : group.awaitedRuns().get(thread);
        return new TaskStats(
                this,
                waits,
                thread,
                since == NOT_MEASURED ? null : Duration.ofNanos(Math.max(0, now - since)),
                slots,
                priority(),
                awaited instanceof GroupRun<?> run ? run : null);
    }

    // Options and timeouts.

    @Override
    protected int cost() {
        return settings == null ? 1 : settings.cost;
    }

    @Override
    public int priority() {
        return settings == null ? 0 : settings.priority;
    }

    /** Returns the key of the group, unless this is the run of a scope, which names its thread itself. */
    @Override
    public String threadName() {
        return isUserCode() ? group.key : "";
    }

    @Override
    protected void taken(int slots) {
        if (settings != null) {
            settings.taken = slots;
        }
    }

    @Override
    protected int taken() {
        return settings == null ? 1 : settings.taken;
    }

    @Override
    public boolean isTimeBounded() {
        return settings != null && settings.isTimeBounded();
    }

    @Override
    protected T enter(Callable<? extends T> callable) throws Exception {
        if (group.engine.permits == null) {
            return settings == null ? callable.call() : callCounted(callable);
        }
        String loss = group.lossOf(this);
        if (loss != null) { // the thread that has revoked the permit is about to cancel this run
            throw new CancelledException(loss);
        }
        OptionalLong fence = group.fenceOf(this);
        return fence.isPresent()
                ? TaskContext.callWithFence(fence.getAsLong(), () -> callCounted(callable))
                : callCounted(callable);
    }

    private T callCounted(Callable<? extends T> callable) throws Exception {
        T value = callable.call();
        Attempts<?> all = attempts();
        if (settings != null && all != null) {
            settings.wasRetried = all.current() > 1;
        }
        return value;
    }

    private void repeatIfSet() {
        if (settings != null && settings.retry != null) {
            Callable<? extends T> task = callable();
            Callable<? extends T> attempt = group.engine.breaks ? () -> callUnlessBroken(task) : task;
            repeat(attempt, settings.retry, settings.limit, group.engine.offloadExecutor);
        }
    }

    /** Calls a task, unless this is not its first attempt and the breaker of the group refuses it. */
    private T callUnlessBroken(Callable<? extends T> task) throws Exception {
        Attempts<?> all = attempts();
        Refusal refusal = all == null || all.current() <= 1 ? null : group.attemptRefusal(this);
        if (refusal != null) {
            throw new RejectedTaskException(group.key, taskId, refusal.of(this, ""));
        }
        return task.call();
    }

    /** Arms the alarm of the time limit, if this run has one. */
    void armTimeLimit(RunSettings own) {
        TimeLimit limit = own.limit;
        if (limit != null) {
            Executor elsewhere = group.engine.offloadExecutor;
            armOrEnd(() -> own.armTimeLimit(limit, () -> elsewhere.execute(() -> expire(limit, elsewhere))));
        }
    }

    /** Arms an alarm of this run, or ends the run if that is impossible. */
    private void armOrEnd(Runnable arm) {
        try {
            arm.run();
        } catch (Throwable noTime) { // the submitter receives it
            cancel(new CancelledException("a timeout of the task could not be armed", noTime), false);
            group.retireIfEmpty();
            throw noTime;
        }
    }

    /**
     * Arms the alarm of the queue timeout, if this run has one and needs it. Called when it has entered the queue.
     */
    void armQueueTimeout(RunSettings own) {
        Duration longest = own.queueTimeout;
        if (longest == null) {
            return;
        }
        if (longest.isZero()) {
            onQueueTimeout(longest, Runnable::run); // the caller is the submitter
        } else if (!endsOwnWait()) {
            Executor elsewhere = group.engine.offloadExecutor; // the caller is an alarm
            armOrEnd(() -> own.arm(time(), longest, () -> onQueueTimeout(longest, elsewhere)));
        }
    }

    /** Withdraws this run in the calling thread, and calls user code in an executor. */
    private void onQueueTimeout(Duration longest, Executor executor) {
        Explanation why = group.explain(this);
        GrantedPermits grants = withdraw();
        if (grants != null) {
            Refusal late = group.queueTimeout(why);
            executor.execute(() -> {
                dispatch(grants);
                reject(late.of(this, "queue timeout after " + longest.toMillis() + " ms, "), false);
            });
        }
    }

    @Override
    protected void leftQueue() {
        if (settings != null) {
            settings.disarm();
        }
    }

    // Adaptive limits.

    /** Returns how this run, whose callable has returned, counts for an adaptive limit; null if it does not count. */
    Adaptation.@Nullable Kind kindFor(AdaptiveLimit limit, long ranNanos) {
        if (ranNanos <= 0 || !isDecided()) {
            return null;
        }
        return switch (placedOutcome()) {
            case Outcome.Success<?> success -> settings != null && settings.wasRetried ? null : Adaptation.Kind.RAN;
            case Outcome.Failure<?>(TaskTimeoutException late) ->
                hasMostlyRun(late, ranNanos) ? Adaptation.Kind.DROPPED : null;
            case Outcome.Failure<?> failure -> limit.isDrop(failure.error()) ? Adaptation.Kind.DROPPED : null;
            default -> null;
        };
    }

    /** Returns how this run, whose callable has returned, counts for a breaker; null if it does not count. */
    Breaker.@Nullable End endFor(CircuitBreaker breaker, long ranNanos) {
        boolean isSlow = breaker.isSlow(ranNanos);
        Outcome<?> outcome = isDecided() ? placedOutcome() : null;
        if (outcome instanceof Outcome.Success<?>) {
            return Breaker.End.of(false, isSlow);
        }
        if (!(outcome instanceof Outcome.Failure<?>(Throwable error)) || error instanceof RejectedExecutionException) {
            return null;
        }
        if (error instanceof TaskTimeoutException late) {
            boolean hasGivenUp = late.getCause() != null; // before its timeout passed; or it is that of an attempt
            return hasGivenUp || hasMostlyRun(late, ranNanos) ? Breaker.End.of(true, isSlow) : null;
        }
        return Breaker.End.of(countsFor(breaker, error), isSlow);
    }

    /** Returns whether a task that was too late has run for at least half of its time; else the queue was too slow. */
    private static boolean hasMostlyRun(TaskTimeoutException late, long ranNanos) {
        return ranNanos >= Deadline.nanos(late.budget()) / 2;
    }

    private boolean countsFor(CircuitBreaker breaker, Throwable error) {
        try {
            return breaker.counts(error);
        } catch (Throwable failure) {
            sink().report("countWhen for group \"" + group.key + "\"", failure);
            return true;
        }
    }

    private Outcome<?> placedOutcome() {
        return origin() instanceof PlacedTask placed ? placed.outcome(settledOutcome()) : settledOutcome();
    }

    // The steps of the kernel.

    @Override
    protected @Nullable ClassLoader loader() {
        return settings == null ? group.engine.loader : settings.loader;
    }

    @Override
    protected ExceptionSink sink() {
        return group.engine.sink;
    }

    @Override
    protected TimeSource time() {
        return group.engine.time;
    }

    @Override
    protected @Nullable GuardedListener events() {
        return group.engine.events;
    }

    @Override
    protected void started(long waitNanos) {
        if (settings != null) {
            repeatIfSet();
        }
        GuardedListener events = events();
        if (events != null) {
            events.onStarted(this, waitNanos);
        }
    }

    @Override
    protected void settled(Outcome<T> outcome) {
        RunSettings own = settings;
        if (own != null) {
            own.disarmTimeLimit();
        }
        GuardedListener events = events();
        if (events != null) {
            events.onSettled(this, outcome, endNanos() - startNanos());
        }
        if (own != null && own.origin instanceof PlacedTask placed) {
            placed.reportFailedStart(group.key, outcome);
        }
    }

    @Override
    protected @Nullable TaskRun<?> releasePermits(long ranNanos, long grantedNanos, long nowNanos) {
        return group.engine.release(this, ranNanos, grantedNanos, nowNanos);
    }

    @Override
    protected Recorder.OwnerKind ownerKind() {
        return Recorder.OwnerKind.GROUP;
    }

    @Override
    protected boolean isUserCode() {
        return !(origin() instanceof PlacedTask placed) || placed.isUserCode();
    }

    // Rejection.

    /** Rejects this run, which is in no queue, unless it has begun or ended. */
    void reject(Rejection reason, boolean bySubmitter) {
        if (claim()) { // the calling thread may be another than the submitter
            BorrowedThread.runUnder(loader(), sink(), () -> rejectClaimed(reason, bySubmitter));
        }
    }

    private void rejectClaimed(Rejection reason, boolean bySubmitter) {
        if (settings != null) {
            settings.disarm();
            settings.disarmTimeLimit();
        }
        Recorder.rejected(this, reason.text());
        GroupEngine engine = group.engine;
        Outcome<T> rejected = new Outcome.Rejected<>(reason);
        if (engine.events != null) {
            engine.events.onSettled(this, rejected, 0);
        }
        RejectionHandler handler = engine.policy.rejectionHandler();
        if (origin() instanceof CallerThread caller && caller.isTryCall()) {
            conclude(rejected, false);
        } else if (handler != null) {
            settleByHandler(handler, reason);
        } else if (bySubmitter && engine.policy.rejectionPolicy() == RejectionPolicy.CALLER_RUNS) {
            repeatIfSet();
            concludeByCalling();
        } else {
            conclude(rejected, false);
        }
    }

    @SuppressWarnings("unchecked") // a callable only produces values, so one of a subtype of T is one of T
    private void settleByHandler(RejectionHandler handler, Rejection reason) {
        GroupResult<T> result = null;
        Throwable failure = null;
        try {
            result = handler.onRejected(groupKey(), taskId, (Callable<T>) callable());
        } catch (Throwable thrown) {
            failure = thrown;
        }
        if (origin() instanceof PlacedTask placed && !placed.hasBegun()) { // no result reaches the API that placed it
            if (failure != null) {
                sink().report("rejectionHandler for " + this, failure);
            }
            conclude(new Outcome.Rejected<>(reason), false);
        } else if (result != null) {
            conclude(outcomeOf(result), result.startTimeNanos(), result.endTimeNanos(), false);
        } else {
            NullPointerException none = new NullPointerException(
                    "rejectionHandler returned no result for task \"" + taskId + "\" in group \"" + group.key + "\"");
            conclude(new Outcome.Failure<>(failure == null ? none : failure), false);
        }
    }

    private static <T> Outcome<T> outcomeOf(GroupResult<T> result) {
        return switch (result.status()) {
            case SUCCESS -> new Outcome.Success<>(result.value());
            case FAILED -> new Outcome.Failure<>(errorOf(result));
            case CANCELLED -> new Outcome.Cancelled<>(errorOf(result));
            case REJECTED -> new Outcome.Rejected<>(Objects.requireNonNull(result.rejection()));
            case SKIPPED -> new Outcome.Skipped<>("skipped by the rejection handler");
        };
    }

    private static Throwable errorOf(GroupResult<?> result) {
        Throwable error = result.error();
        return error != null ? error : new NullPointerException("the rejection handler's result has no error");
    }

    /**
     * Ends a granted or running run of a stopped group: rejects it if it has not begun, else interrupts it.
     *
     * @return whether a scheduler had accepted the run and not run it
     */
    boolean stop(Rejection reason, boolean mayInterrupt) {
        if (claim()) {
            GrantedPermits grants = new GrantedPermits();
            releaseUnbegun(grants);
            dispatch(grants);
            BorrowedThread.runUnder(loader(), sink(), () -> rejectClaimed(reason, false));
            return !(origin() instanceof CallerThread);
        }
        if (mayInterrupt) {
            interrupt(reason.text());
        } else {
            cancel(new Outcome.Cancelled<>(new CancelledException(reason.text())), false);
        }
        return false;
    }

    /** Cancels this run, which held permits of a source, even if it runs. Listeners are notified on another thread. */
    void losePermits(String reason) {
        end(new Outcome.Cancelled<>(new CancelledException(reason)), true, group.engine.offloadExecutor);
    }

    /** Returns the exception of a run that was rejected, or null. */
    @Nullable
    RejectedTaskException rejection() {
        return isDone() && settledOutcome() instanceof Outcome.Rejected<T> rejected
                ? new RejectedTaskException(group.key, taskId, rejected.rejection())
                : null;
    }

    // The handle.

    @Override
    public String groupKey() {
        return group.key;
    }

    @Override
    public String taskId() {
        return taskId;
    }

    @Override
    public String owner() {
        return group.key;
    }

    @Override
    public String name() {
        return taskId;
    }

    @Override
    public GroupResult<T> await() throws InterruptedException {
        return resultOrThrow(awaitEnd());
    }

    @Override
    public GroupResult<T> await(long timeout, TimeUnit unit) throws InterruptedException {
        Outcome<T> outcome = awaitOutcome(Deadline.after(time(), Duration.ofNanos(unit.toNanos(timeout))));
        return outcome == null
                ? waitTimedOut(timeout + " " + unit.name().toLowerCase(Locale.ROOT))
                : resultOrThrow(outcome);
    }

    private GroupResult<T> waitTimedOut(String waited) {
        long now = time().nanoTime();
        TimeoutException late = new TimeoutException("task \"" + taskId + "\" in group \"" + groupKey()
                + "\" had not ended after " + waited + "; it goes on");
        return GroupResult.cancelled(groupKey(), taskId, late, now, now);
    }

    @Override
    public GroupResult<T> join() {
        try {
            return await();
        } catch (InterruptedException interrupt) {
            return interrupted(interrupt);
        }
    }

    @Override
    public GroupResult<T> join(long timeout, TimeUnit unit) {
        try {
            return await(timeout, unit);
        } catch (InterruptedException interrupt) {
            return interrupted(interrupt);
        }
    }

    private GroupResult<T> interrupted(InterruptedException interrupt) {
        Thread.currentThread().interrupt();
        long now = time().nanoTime();
        return GroupResult.cancelled(group.key, taskId, interrupt, now, now);
    }

    @Override
    public boolean isDone() {
        return isSettled();
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        return !isDone() && cancel(new CancelledException("cancelled through its handle"), mayInterruptIfRunning);
    }

    boolean cancel(Throwable cause, boolean mayInterrupt) {
        return endFromOutside(new Outcome.Cancelled<>(cause), mayInterrupt, Runnable::run);
    }

    @Override
    public CompletableFuture<GroupResult<T>> toCompletableFuture() {
        // a thread that is reused for further tasks does not run the dependants
        Executor completer = group.engine.reuseThreads ? group.engine.offloadExecutor.forLongActions() : Runnable::run;
        return copy(this::resultOrThrow, completer);
    }

    /** Waits until this run is settled; throws IllegalStateException if the wait could never end. */
    private Outcome<T> awaitEnd() throws InterruptedException {
        if (isSettled()) {
            return settledOutcome();
        }
        Thread self = Thread.currentThread();
        boolean noted = group.noteWait(self, this);
        try {
            return awaitOutcome();
        } finally {
            if (noted) {
                group.endWait(self, this);
            }
        }
    }

    /** Waits for the result, which may be a rejection; throws IllegalStateException if the wait could never end. */
    GroupResult<T> awaitResult() throws InterruptedException {
        return result(awaitEnd());
    }

    /** Waits for the result until a deadline; returns null if the deadline passed first. */
    @Nullable
    GroupResult<T> awaitResult(Deadline deadline) throws InterruptedException {
        Outcome<T> outcome = awaitOutcome(deadline);
        return outcome == null ? null : result(outcome);
    }

    GroupResult<T> result(Outcome<T> outcome) {
        String key = group.key;
        long start = startNanos();
        long end = endNanos();
        // Not a switch over patterns: it is linked at run time, in the path of a JVM's first task.
        if (outcome instanceof Outcome.Failure<T> failure) {
            return GroupResult.failed(key, taskId, failure.error(), start, end);
        }
        if (outcome instanceof Outcome.Cancelled<T> cancelled) {
            return GroupResult.cancelled(key, taskId, cancelled.cause(), start, end);
        }
        if (outcome instanceof Outcome.Rejected<T> rejected) {
            return GroupResult.rejected(key, taskId, rejected.rejection(), end);
        }
        T value = outcome instanceof Outcome.Success<T> success ? success.value() : null; // null if it was skipped
        return new GroupResult<>(key, taskId, outcome.status(), value, null, start, end, null);
    }

    private GroupResult<T> resultOrThrow(Outcome<T> outcome) {
        if (outcome instanceof Outcome.Rejected<T> rejected && group.engine.throwsRejections) {
            throw new RejectedTaskException(group.key, taskId, rejected.rejection());
        }
        return result(outcome);
    }

    @Override
    public String toString() {
        return "task \"" + taskId + "\" in " + group;
    }
}
