package dev.raddle.group;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import dev.raddle.kernel.GrantedPermits;
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
 * One life of a task in a group: the handle, the node in the group's queue and the runnable of its thread. There may be a
 * million of these, waiting; a field more is eight bytes more for each.
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
            throw new AssertionError("task \"" + taskId + "\" has not been given to a group");
        }
        return known;
    }

    final void giveTo(Group target) {
        group = target;
    }

    final boolean isOf(Group target) {
        return group == target;
    }

    /** The moment of submission of a run that is submitted now, if anybody will ask how long it waited. */
    static long submitNanos(TimeSource time, Events events) {
        return events.measuresWaiting() || isRecorded() ? time.nanoTime() : NOT_MEASURED;
    }

    // The corridor.

    /** Whether to start the run cannot run it in the calling thread. */
    boolean startsElsewhere() {
        return group().usesVirtualThreads();
    }

    @Override
    protected final void startGranted() {
        GrantedPermits grants = new GrantedPermits();
        if (!start(grants)) {
            group().owner.dispatch(grants);
        }
    }

    /** Places the run, which was granted, on a thread; false if that failed and more may have been granted instead. */
    boolean start(GrantedPermits grants) {
        try {
            leftQueue();
            Group target = group();
            target.owner.place(this, target);
            return true;
        } catch (Throwable failure) {
            return notStarted(failure, grants);
        }
    }

    /** Hands the run to a scheduler. It is not taken back from there when it is ended: it gives its permit back when it comes. */
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
        notStarted(reason, grants);
        group().owner.dispatch(grants);
    }

    @Override
    public int priority() {
        return 0;
    }

    private boolean notStarted(Throwable failure, GrantedPermits grants) {
        boolean claimed = claim();
        if (!claimed && !isDecided()) {
            return true; // it has begun nevertheless: its runner sees to the rest
        }
        group().release(this, 0, time().nanoTime(), grants);
        if (claimed) {
            conclude(new Outcome.Failure<>(failure), true);
        }
        return false;
    }

    /** Whether a thread that has run another task of the group may run this one next. */
    boolean mayFollow() {
        return true;
    }

    /**
     * Ends a run that the machinery has failed to admit or to start, wherever it is: it leaves the queue, or returns what it
     * holds. A run that has begun goes on. May be tried again.
     */
    final void breakOff(Throwable failure) {
        leave();
        breakOff(failure, null);
    }

    /** Hears that the run is not in the queue any more, or never was. */
    void leftQueue() {}

    /** Hears that the run stands in the queue. */
    void waitsInQueue() {}

    /** Leaves the queue of whichever group the run is in; false if it stands in none. */
    final boolean withdraw(GrantedPermits grants) {
        Group at;
        do {
            at = group();
            if (at.withdraw(this, grants)) {
                return true;
            }
        } while (at != group()); // it was passed on meanwhile
        return false;
    }

    /** Tells whether the run was ended before it entered, so that it must not. */
    final boolean isEnded() {
        return isDecided();
    }

    /** Begins to watch the time that the task has, if that is limited. */
    void arm() {}

    /** Stops watching the time. */
    void disarm() {}

    /** Whether a refusal is for the one who asked alone: policy and handler have no say. */
    boolean isAttempt() {
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
    protected @Nullable TaskRun<?> giveBack(long ranNanos, long nowNanos) {
        return group().owner.giveBack(this, ranNanos, nowNanos, true);
    }

    @Override
    protected final boolean isInGroup() {
        return true;
    }

    final boolean claimed() {
        return claim();
    }

    final void noteRejection(String reason) {
        recordRejection(reason);
    }

    final void rejected(String reason) {
        conclude(new Outcome.Rejected<>(reason), false);
    }

    final void runByCaller() {
        concludeByCalling();
    }

    @SuppressWarnings("unchecked") // a callable of a subtype of T is one of T to those who only call it
    final void handledBy(RejectionHandler handler) {
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
                yield new Outcome.Rejected<>(reason == null ? "the rejection handler agreed" : reason);
            }
            case SKIPPED -> new Outcome.Skipped<>("the rejection handler said so");
        };
    }

    private static Throwable errorOf(GroupResult<?> result) {
        Throwable error = result.error();
        return error != null ? error : new NullPointerException("the rejection handler's result has no error");
    }

    /** Takes a granted or running run off what is shutting down: one that has not begun never does, others are interrupted. */
    final void stop(String reason, boolean mayInterrupt) {
        if (claimed()) {
            GrantedPermits grants = new GrantedPermits();
            group().release(this, 0, time().nanoTime(), grants);
            group().owner.dispatch(grants);
            group().owner.rejectClaimed(this, reason, false);
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
        return orThrow(awaitResult());
    }

    @Override
    public final GroupResult<T> await(Duration timeout) throws InterruptedException {
        Outcome<T> outcome = awaitOutcome(Deadline.after(time(), timeout));
        return outcome == null ? notYet(MILLISECONDS.convert(timeout) + " ms") : orThrow(result(outcome));
    }

    @Override
    public final GroupResult<T> await(long timeout, TimeUnit unit) throws InterruptedException {
        Outcome<T> outcome = awaitOutcome(Deadline.after(time(), Duration.ofNanos(unit.toNanos(timeout))));
        return outcome == null
                ? notYet(timeout + " " + unit.name().toLowerCase(Locale.ROOT))
                : orThrow(result(outcome));
    }

    private GroupResult<T> notYet(String waited) {
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
            return interrupted(interrupt);
        }
    }

    @Override
    public final GroupResult<T> join(Duration timeout) {
        try {
            return await(timeout);
        } catch (InterruptedException interrupt) {
            return interrupted(interrupt);
        }
    }

    @Override
    public final GroupResult<T> join(long timeout, TimeUnit unit) {
        try {
            return await(timeout, unit);
        } catch (InterruptedException interrupt) {
            return interrupted(interrupt);
        }
    }

    private GroupResult<T> interrupted(InterruptedException interrupt) {
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
        boolean left = leave();
        boolean cancelled = cancel(new Outcome.Cancelled<>(cause), mayInterrupt);
        if (cancelled && !left) {
            leave(); // it may have entered meanwhile
        }
        return cancelled;
    }

    private boolean leave() {
        GrantedPermits grants = new GrantedPermits();
        boolean left = withdraw(grants);
        if (left) {
            leftQueue();
            group().owner.dispatch(grants);
        }
        return left;
    }

    @Override
    public final CompletableFuture<GroupResult<T>> toCompletableFuture() {
        CompletableFuture<GroupResult<T>> copy = new CompletableFuture<>();
        end().whenSet(() -> group().owner.follow(() -> complete(copy)));
        return copy;
    }

    private void complete(CompletableFuture<GroupResult<T>> copy) {
        GroupResult<T> result;
        try {
            result = orThrow(result(settledOutcome()));
        } catch (RejectedTaskException rejected) {
            copy.completeExceptionally(rejected);
            return;
        }
        copy.complete(result);
    }

    /** Waits for the result, a rejection included; fails rather than to wait for something that could never come. */
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

    /** Waits as {@link #awaitResult()} does, until a moment; null if the moment came first. */
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

    private GroupResult<T> orThrow(GroupResult<T> result) {
        if (result.status() == TaskStatus.REJECTED
                && group().owner.throwsRejections()
                && settledOutcome() instanceof Outcome.Rejected<T> rejected) {
            throw new RejectedTaskException(groupKey(), taskId, rejected.reason());
        }
        return result;
    }

    /** Returns the thread that is inside the callable, or null. */
    final @Nullable Thread runner() {
        return runningThread();
    }

    /** Returns how many slots the run takes. */
    final int slots() {
        return taken();
    }

    /** Whether a wait for the run ends some time, whatever keeps it. */
    final boolean comesToAnEnd() {
        return endsByItself();
    }

    final long ranNanos() {
        return endNanos() - startNanos();
    }

    @Override
    public String toString() {
        return "task \"" + taskId + "\" in " + group;
    }
}
