package dev.raddle.kernel;

import dev.raddle.task.Outcome;
import dev.raddle.task.Scheduler;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
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
     * A failed start. A scheduler may throw, or reject the run later, and have run it nevertheless. So the run is
     * claimed first. If that succeeds, or if the run was ended before it had begun, no thread runs it, and its permit is
     * released here; otherwise its runner releases it. Only a claimed run fails with the scheduler's exception. Permits
     * are released before the run is settled. The runs that are granted by that are added to the collection that the
     * placing thread is working off, if there is one, so that failing starts do not nest.
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

    @Override
    protected final void startGranted() {
        place(null);
    }

    /**
     * Places this granted run at its scheduler. If that fails, fails the run.
     *
     * @param more the collection to which the runs are added that are granted instead, or null to start them here
     * @return false if it failed
     */
    public final boolean place(@Nullable GrantedPermits more) {
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
}
