package dev.raddle.kernel;

import dev.raddle.task.Outcome;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Scheduler;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A run between its submission and its callable: it may wait in the queue of a gate, is placed at a scheduler when it
 * is granted, and may be ended at any point of that way.
 *
 * @param <T> the type of the value
 */
public abstract class SubmittedRun<T> extends TaskRun<T> implements Scheduler.Placeable {

    /*
     * Overview.
     *
     * TaskRun is the state of the callable; this class is the way to it:
     *
     *   submitted ──► waiting ──► granted ──► placed ──► begun
     *
     *   submitted   in no queue yet
     *   waiting     in the queue of its gate; a run without a gate, or with a free permit, never is
     *   granted     it holds its permit; the thread that has collected it (GrantedPermits) is about to place it
     *   placed      the scheduler has it
     *   begun       its runner has made the step from null, and does everything that follows
     *
     * No field holds where a run is: its gate knows whether it waits or is held, and `state` whether it has begun or is
     * decided.
     *
     * Ending from outside. A canceller or the alarm of a time limit may decide the run anywhere on its way. A run that
     * waits leaves the queue first, so that it is not granted the permit that its own end releases, or that of another
     * run which is cancelled with it. If it was in no queue, the same thread looks again after it has decided the run,
     * because the submitter may have let it enter meanwhile; and the submitter lets no decided run enter, which it
     * checks under the gate's lock. So no decided run stays in a queue. A run that was granted at that moment is placed
     * nevertheless, or refused; either releases its permit.
     *
     * What leaving the queue makes possible is started by the notifier, as is what the end of the run calls: the thread
     * that ends it may be that of the alarms, which calls no user code.
     *
     * Attempts. A run that is repeated has its attempts in the place of its callable. So they are found there by the
     * alarm of a time limit, whose message names the attempt, and are released with the callable.
     *
     * A failed start. A scheduler may throw, or reject the run later, and have run it nevertheless. So the run is
     * claimed first. If that succeeds, or if the run was ended before it had begun, no thread runs it, and its permit
     * is released here; otherwise its runner releases it. Only a claimed run fails with the scheduler's exception.
     * Permits are released before the run is settled. The runs that are granted by that are added to the collection
     * that the placing thread is working off, if there is one, so that failing starts do not nest.
     */

    /**
     * Creates a run that is submitted now.
     *
     * @param callable the callable
     * @param submitNanos the moment of submission, for waiting times, or {@link #NOT_MEASURED}
     */
    protected SubmittedRun(Callable<? extends T> callable, long submitNanos) {
        super(callable, submitNanos);
    }

    @Override
    public abstract int priority(); // public, as schedulers see it

    /**
     * Passes this granted run to its scheduler.
     *
     * @throws Exception if no thread will run it
     */
    protected abstract void placeAtScheduler() throws Exception;

    /**
     * Releases the permit of this granted run, which no thread has begun or will. Has no effect if it is released.
     *
     * @param grants the collection to which the runs are added that are granted by this
     */
    protected abstract void releaseUnbegun(GrantedPermits grants);

    /**
     * Starts granted runs.
     *
     * @param grants the runs, and any that are granted meanwhile
     */
    protected abstract void dispatch(GrantedPermits grants);

    /**
     * Leaves the queue of the gate.
     *
     * @return the runs that are granted by this, to be dispatched even if there are none; null if this run is in no
     *     queue
     */
    protected abstract @Nullable GrantedPermits withdraw();

    /** Called when this run has left the queue without a permit. This implementation does nothing. */
    protected void leftQueue() {}

    /**
     * Returns whether the scheduler may run this run in the calling thread.
     *
     * @return true if the thread that starts it is to collect what becomes possible meanwhile
     */
    protected abstract boolean mayStartInPlace();

    /**
     * Starts this granted run: places it at its scheduler, and if that fails, fails the run.
     *
     * @param more the collection to which the runs are added that are granted instead, or null to start them here
     * @return false if it failed
     */
    public final boolean start(@Nullable GrantedPermits more) {
        if (mayStartInPlace()) {
            Dispatch.start(this);
            return true;
        }
        return place(more);
    }

    @Override
    protected final void startGranted() {
        place(null);
    }

    private boolean place(@Nullable GrantedPermits more) {
        try {
            placeAtScheduler();
            return true;
        } catch (Throwable failure) {
            refuse(failure, more);
            return false;
        }
    }

    @Override
    public final void reject(RejectedExecutionException reason) {
        refuse(reason, null);
    }

    /** Fails this granted run, unless it is decided. Does nothing if it has begun nevertheless. */
    private void refuse(Throwable failure, @Nullable GrantedPermits more) {
        boolean claimed = claim();
        if (!claimed && !hasEndedUnbegun()) {
            return;
        }
        GrantedPermits grants = more == null ? new GrantedPermits() : more;
        releaseUnbegun(grants);
        if (claimed) {
            conclude(new Outcome.Failure<>(failure), true);
        }
        if (more == null) {
            dispatch(grants);
        }
    }

    /**
     * Ends this run, wherever it is, unless it is decided already.
     *
     * @param outcome the outcome
     * @param mayInterrupt whether to interrupt the run if it is inside its callable; if false, such a run is not ended
     * @param notifier the executor that notifies listeners, wakes waiting threads and starts other runs
     * @return true if this call decided the run
     */
    protected final boolean endFromOutside(Outcome<T> outcome, boolean mayInterrupt, Executor notifier) {
        if (isDecided()) {
            return false;
        }
        StackRoom.ensure(); // a run that has left the queue must be decided
        boolean left = leaveQueue(notifier);
        boolean ended = end(outcome, mayInterrupt, notifier);
        if (ended && !left) {
            leaveQueue(notifier);
        }
        return ended;
    }

    private boolean leaveQueue(Executor notifier) {
        GrantedPermits grants = withdraw();
        if (grants == null) {
            return false;
        }
        leftQueue();
        notifier.execute(() -> dispatch(grants));
        return true;
    }

    /**
     * Ends this run because its time limit has passed.
     *
     * @param over the limit
     * @param notifier the executor that notifies listeners, wakes waiting threads and starts other runs
     */
    protected final void expire(TimeLimit over, Executor notifier) {
        boolean begun = isRunning();
        endFromOutside(over.outcome(name(), attempts(), begun), true, notifier);
    }

    /**
     * Makes the runner repeat an attempt as often as a policy allows. Called where {@link #replaceCallable} may be.
     *
     * @param attempt the attempt
     * @param retry the policy
     * @param limit the time limit, beyond which no attempt begins, or null
     * @param elsewhere the executor that interrupts an attempt which takes too long
     */
    protected final void repeat(
            Callable<? extends T> attempt, RetryPolicy retry, @Nullable TimeLimit limit, Executor elsewhere) {
        replaceCallable(
                new Attempts<T>(all -> all.callOnce(attempt), retry, this::isEnding, time(), name(), limit, elsewhere));
    }

    /**
     * Returns the attempts that the runner makes.
     *
     * @return the attempts, or null if no thread is inside the callable, or it is not repeated
     */
    protected final @Nullable Attempts<?> attempts() {
        return enteredCallable() instanceof Attempts<?> attempts ? attempts : null;
    }

    /**
     * Runs an action when this run is settled, in the thread that settles it, or now if it is settled.
     *
     * @param action the action, which must not throw
     * @return a runnable that removes the action
     */
    public final Runnable whenSettled(Runnable action) {
        return settledSignal().whenSet(action);
    }

    /**
     * Returns a future that is completed when this run is settled. Cancelling it does not cancel the run.
     *
     * @param <R> the type of the future's value
     * @param value the function from the outcome to the value, which may throw the exception of the future
     * @param completer the executor that runs the future's dependants
     * @return a new future
     */
    protected final <R> CompletableFuture<R> copy(Function<Outcome<T>, R> value, Executor completer) {
        CompletableFuture<R> copy = new CompletableFuture<>();
        whenSettled(() -> completer.execute(() -> complete(copy, value)));
        return copy;
    }

    private <R> void complete(CompletableFuture<R> copy, Function<Outcome<T>, R> value) {
        R found;
        try {
            found = value.apply(settledOutcome());
        } catch (Throwable thrown) {
            copy.completeExceptionally(thrown);
            return;
        }
        copy.complete(found);
    }
}
