package dev.raddle.group;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import dev.raddle.kernel.GrantedPermits;
import dev.raddle.kernel.StackRoom;
import dev.raddle.kernel.TaskRun;
import dev.raddle.task.CancelledException;
import dev.raddle.task.Outcome;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskStatus;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The run of one task in a group: the handle, the node in the group's queue and the runnable of its thread. A million
 * of these may wait at once, so each field here costs eight bytes a million times.
 */
class GroupRun<T> extends TaskRun<T> implements TaskHandle<T>, Scheduler.Placeable {

    private final String taskId;
    private @Nullable Group
            group; // changed by the submitter before the run enters, under the lock of the one it leaves

    GroupRun(String taskId, Callable<? extends T> task, long submitNanos) {
        super(task, submitNanos);
        this.taskId = taskId;
    }

    final Group group() {
        Group known = group;
        if (known == null) {
            throw new AssertionError("task \"" + taskId + "\" has no group yet");
        }
        return known;
    }

    final void setGroup(Group target) {
        group = target;
    }

    final boolean belongsTo(Group target) {
        return group == target;
    }

    /** Returns the moment of a submission, or NOT_MEASURED if nothing reports how long tasks wait. */
    static long submitNanos(TimeSource time, Events events) {
        return events.measuresWaiting() || isRecorded() ? time.nanoTime() : NOT_MEASURED;
    }

    // Placement.

    /** Returns whether {@link #start} never executes the callable in the calling thread. */
    boolean startsOnOtherThread() {
        return group().usesVirtualThreads();
    }

    @Override
    protected final void startGranted() {
        GrantedPermits grants = new GrantedPermits();
        if (!start(grants)) {
            group().owner.dispatch(grants);
        }
    }

    /** Places this granted run on a thread; returns false if that failed and other runs may have been granted. */
    boolean start(GrantedPermits grants) {
        try {
            onDequeued();
            Group target = group();
            target.owner.place(this, target);
            return true;
        } catch (Throwable failure) {
            return startFailed(failure, grants);
        }
    }

    /** Passes this run to a scheduler. If it is ended before its thread begins, that thread releases the permit. */
    final void placeOn(Scheduler scheduler) {
        if (scheduler == Scheduler.virtualThreads()) {
            scheduler.execute(this);
        } else {
            mayRunInPlace();
            scheduler.place(this);
        }
    }

    @Override
    public final void reject(RejectedExecutionException reason) {
        GrantedPermits grants = new GrantedPermits();
        startFailed(reason, grants);
        group().owner.dispatch(grants);
    }

    @Override
    public int priority() {
        return 0;
    }

    private boolean startFailed(Throwable failure, GrantedPermits grants) {
        boolean claimed = false;
        try {
            StackRoom.ensureForSections();
            claimed = claim();
            if (!claimed && !isDecided()) {
                return true; // it has begun nevertheless: its runner settles it and releases its permit
            }
            group().release(this, 0, time().nanoTime(), grants);
            if (claimed) {
                conclude(new Outcome.Failure<>(failure), true);
            }
        } catch (Throwable again) {
            abortElsewhere(failure, claimed);
        }
        return false;
    }

    /** Returns whether a thread that has run another task of the group may run this one next. */
    boolean mayRunNext() {
        return true;
    }

    /**
     * Ends this run after an internal failure to admit or to start it: it leaves the queue, or releases its permit. A
     * run that has begun goes on. May be called again if it throws.
     */
    final void abort(Throwable failure) {
        leaveQueue();
        abortRun(failure, null);
    }

    /** Called when this run has left the queue, or was granted or rejected without entering it. */
    void onDequeued() {}

    /** Called when this run has entered the queue. */
    void onQueued() {}

    /** Leaves the queue of the group that this run belongs to; returns false if it is in no queue. */
    final boolean withdraw(GrantedPermits grants) {
        Group at;
        do {
            at = group();
            if (at.withdraw(this, grants)) {
                return true;
            }
        } while (at != group()); // it was moved meanwhile
        return false;
    }

    /** Returns whether this run is decided, so that it must not enter. */
    final boolean isEnded() {
        return isDecided();
    }

    /** Arms the alarm of the task's time limit, if it has one. */
    void armTimeLimit() {}

    /** Cancels the alarm of the task's time limit. */
    void cancelTimeLimit() {}

    /** Returns whether this is a tryCall, to which neither rejection policy nor handler apply. */
    boolean isTryCall() {
        return false;
    }

    @Override
    protected final TimeSource time() {
        return group().owner.time();
    }

    @Override
    protected final void started(long waitNanos) {
        group().owner.events().started(this, waitNanos);
    }

    @Override
    protected void settled(Outcome<T> outcome) {
        group().owner.events().settled(this, outcome);
    }

    @Override
    protected @Nullable TaskRun<?> releasePermits(long ranNanos, long nowNanos) {
        return group().owner.releaseAndDispatch(this, ranNanos, nowNanos, true);
    }

    @Override
    protected final boolean isInGroup() {
        return true;
    }

    final boolean tryClaim() {
        return claim();
    }

    final void noteRejection(String reason) {
        recordRejection(reason);
    }

    final void settleRejected(String reason) {
        conclude(new Outcome.Rejected<>(reason), false);
    }

    final void runInCaller() {
        concludeByCalling();
    }

    @SuppressWarnings("unchecked") // a callable only produces values, so one of a subtype of T is one of T
    final void settleByHandler(RejectionHandler handler) {
        GroupResult<T> result;
        try {
            result = handler.onRejected(groupKey(), taskId, (Callable<T>) callable());
        } catch (Throwable failure) {
            conclude(new Outcome.Failure<>(failure), false);
            return;
        }
        if (result == null) {
            conclude(
                    new Outcome.Failure<>(new NullPointerException("rejectionHandler returned no result for task \""
                            + taskId + "\" in group \"" + groupKey() + "\"")),
                    false);
            return;
        }
        conclude(outcomeOf(result), result.startTimeNanos(), result.endTimeNanos(), false);
    }

    private static <T> Outcome<T> outcomeOf(GroupResult<T> result) {
        return switch (result.status()) {
            case SUCCESS -> new Outcome.Success<>(result.value());
            case FAILED -> new Outcome.Failure<>(errorOf(result));
            case CANCELLED -> new Outcome.Cancelled<>(errorOf(result));
            case REJECTED -> {
                String reason = result.rejectionReason();
                yield new Outcome.Rejected<>(reason == null ? "rejected by the rejection handler" : reason);
            }
            case SKIPPED -> new Outcome.Skipped<>("skipped by the rejection handler");
        };
    }

    private static Throwable errorOf(GroupResult<?> result) {
        Throwable error = result.error();
        return error != null ? error : new NullPointerException("the rejection handler's result has no error");
    }

    /** Ends a granted or running run of a stopped group: rejects it if it has not begun, else interrupts it. */
    final void stop(String reason, boolean mayInterrupt) {
        if (tryClaim()) {
            try {
                GrantedPermits grants = new GrantedPermits();
                group().release(this, 0, time().nanoTime(), grants);
                group().owner.dispatch(grants);
                group().owner.rejectClaimed(this, reason, false);
            } catch (Throwable failure) {
                abortElsewhere(failure, true);
            }
        } else if (mayInterrupt) {
            interrupt(reason);
        } else {
            cancel(new Outcome.Cancelled<>(new CancelledException(reason)), false);
        }
    }

    // The handle.

    @Override
    public final String groupKey() {
        return group().key;
    }

    @Override
    public final String taskId() {
        return taskId;
    }

    @Override
    public final String owner() {
        return group().key;
    }

    @Override
    public final String name() {
        return taskId;
    }

    @Override
    public final GroupResult<T> await() throws InterruptedException {
        return resultOrThrow(awaitResult());
    }

    @Override
    public final GroupResult<T> await(Duration timeout) throws InterruptedException {
        Outcome<T> outcome = awaitOutcome(Deadline.after(time(), timeout));
        return outcome == null ? waitTimedOut(MILLISECONDS.convert(timeout) + " ms") : resultOrThrow(result(outcome));
    }

    @Override
    public final GroupResult<T> await(long timeout, TimeUnit unit) throws InterruptedException {
        Outcome<T> outcome = awaitOutcome(Deadline.after(time(), Duration.ofNanos(unit.toNanos(timeout))));
        return outcome == null
                ? waitTimedOut(timeout + " " + unit.name().toLowerCase(Locale.ROOT))
                : resultOrThrow(result(outcome));
    }

    private GroupResult<T> waitTimedOut(String waited) {
        long now = time().nanoTime();
        TimeoutException late = new TimeoutException("task \"" + taskId + "\" in group \"" + groupKey()
                + "\" had not ended after " + waited + "; it goes on");
        return GroupResult.cancelled(groupKey(), taskId, late, now, now);
    }

    @Override
    public final GroupResult<T> join() {
        try {
            return await();
        } catch (InterruptedException interrupt) {
            return waitInterrupted(interrupt);
        }
    }

    @Override
    public final GroupResult<T> join(Duration timeout) {
        try {
            return await(timeout);
        } catch (InterruptedException interrupt) {
            return waitInterrupted(interrupt);
        }
    }

    @Override
    public final GroupResult<T> join(long timeout, TimeUnit unit) {
        try {
            return await(timeout, unit);
        } catch (InterruptedException interrupt) {
            return waitInterrupted(interrupt);
        }
    }

    private GroupResult<T> waitInterrupted(InterruptedException interrupt) {
        Thread.currentThread().interrupt();
        long now = time().nanoTime();
        return GroupResult.cancelled(groupKey(), taskId, interrupt, now, now);
    }

    @Override
    public final boolean isDone() {
        return isSettled();
    }

    @Override
    public final boolean cancel(boolean mayInterruptIfRunning) {
        return !isDone() && cancel(new CancelledException("cancelled through its handle"), mayInterruptIfRunning);
    }

    final boolean cancel(Throwable cause, boolean mayInterrupt) {
        boolean left = leaveQueue();
        boolean cancelled = cancel(new Outcome.Cancelled<>(cause), mayInterrupt);
        if (cancelled && !left) {
            leaveQueue(); // it may have entered meanwhile
        }
        return cancelled;
    }

    private boolean leaveQueue() {
        GrantedPermits grants = new GrantedPermits();
        boolean left = withdraw(grants);
        if (left) {
            onDequeued();
            group().owner.dispatch(grants);
        }
        return left;
    }

    @Override
    public final CompletableFuture<GroupResult<T>> toCompletableFuture() {
        CompletableFuture<GroupResult<T>> copy = new CompletableFuture<>();
        end().whenSet(() -> group().owner.runDependant(() -> complete(copy)));
        return copy;
    }

    private void complete(CompletableFuture<GroupResult<T>> copy) {
        GroupResult<T> result;
        try {
            result = resultOrThrow(result(settledOutcome()));
        } catch (RejectedTaskException rejected) {
            copy.completeExceptionally(rejected);
            return;
        }
        copy.complete(result);
    }

    /** Waits for the result, which may be a rejection; throws IllegalStateException if the wait could never end. */
    final GroupResult<T> awaitResult() throws InterruptedException {
        if (isDone()) {
            return result(settledOutcome());
        }
        Thread self = Thread.currentThread();
        boolean noted = group().noteWait(self, this);
        try {
            return result(awaitOutcome());
        } finally {
            if (noted) {
                group().endWait(self, this);
            }
        }
    }

    /** Waits for the result until a deadline; returns null if the deadline passed first. */
    final @Nullable GroupResult<T> awaitResult(Deadline deadline) throws InterruptedException {
        Outcome<T> outcome = awaitOutcome(deadline);
        return outcome == null ? null : result(outcome);
    }

    final GroupResult<T> result(Outcome<T> outcome) {
        String key = groupKey();
        return switch (outcome) {
            case Outcome.Success<T> success ->
                GroupResult.success(key, taskId, success.value(), startNanos(), endNanos());
            case Outcome.Failure<T> failure ->
                GroupResult.failed(key, taskId, failure.error(), startNanos(), endNanos());
            case Outcome.Cancelled<T> cancelled ->
                GroupResult.cancelled(key, taskId, cancelled.cause(), startNanos(), endNanos());
            case Outcome.Rejected<T> rejected -> GroupResult.rejected(key, taskId, rejected.reason(), endNanos());
            case Outcome.Skipped<T> skipped ->
                new GroupResult<>(key, taskId, TaskStatus.SKIPPED, null, null, startNanos(), endNanos());
        };
    }

    private GroupResult<T> resultOrThrow(GroupResult<T> result) {
        if (result.status() == TaskStatus.REJECTED
                && group().owner.throwsRejections()
                && settledOutcome() instanceof Outcome.Rejected<T> rejected) {
            throw new RejectedTaskException(groupKey(), taskId, rejected.reason());
        }
        return result;
    }

    /** Returns the thread that executes the callable, or null. */
    final @Nullable Thread runner() {
        return runningThread();
    }

    /** Returns how many slots this run takes. */
    final int slots() {
        return taken();
    }

    final long ranNanos() {
        return endNanos() - startNanos();
    }

    @Override
    public String toString() {
        return "task \"" + taskId + "\" in " + group;
    }
}
