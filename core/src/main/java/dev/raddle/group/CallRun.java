package dev.raddle.group;

import dev.raddle.kernel.Dispatch;
import dev.raddle.kernel.GrantedPermits;
import dev.raddle.kernel.TaskRun;
import dev.raddle.kernel.TimeLimit;
import dev.raddle.task.Outcome;
import dev.raddle.task.TaskSpec;
import dev.raddle.time.Signal;
import org.jspecify.annotations.Nullable;

/**
 * A run whose thread is its caller's: being granted wakes the caller instead of starting a thread.
 *
 * <p>The caller waits for its turn, which comes when the run is granted or settled. If it is interrupted instead, it leaves
 * the queue. A run that was granted just as it was interrupted or its time ended has no other thread to return its permit:
 * the caller does, by running the run, which is decided by then and does nothing else. Whatever ends a call from outside
 * withdraws it first, so a settled call that does not hold its permit never will.
 */
final class CallRun<T> extends TunedRun<T> {

    private final Signal turn = new Signal();
    private final boolean attempt;

    CallRun(TaskSpec<T> spec, long submitNanos, @Nullable TimeLimit limit, boolean attempt) {
        super(spec, submitNanos, limit);
        this.attempt = attempt;
        end().whenSet(turn::set);
    }

    @Override
    boolean startsElsewhere() {
        return true;
    }

    @Override
    boolean start(GrantedPermits grants) {
        leftQueue();
        turn.set();
        return true;
    }

    @Override
    boolean mayFollow() {
        return false;
    }

    @Override
    boolean isAttempt() {
        return attempt;
    }

    @Override
    protected @Nullable TaskRun<?> giveBack(long ranNanos, long nowNanos) {
        return group().owner.giveBack(this, ranNanos, nowNanos, false);
    }

    /** Waits for its turn and runs the callable in this thread; returns when the run is settled. */
    Outcome<T> runInTurn() throws InterruptedException {
        boolean noted = false;
        try {
            if (!turn.isSet()) {
                noted = group().noteWait(Thread.currentThread(), this);
            }
            Dispatch.startAll(); // it may be the calling thread's to start what is before this
            turn.await();
        } catch (InterruptedException | IllegalStateException givenUp) {
            abandon(givenUp);
            throw givenUp;
        } finally {
            if (noted) {
                group().endWait(Thread.currentThread(), this);
            }
        }
        if (!isDone() || group().holds(this)) { // its time may have ended just as it was granted
            runHere();
        }
        return awaitOutcome();
    }

    private void abandon(Exception cause) {
        cancel(cause, false);
        if (group().holds(this)) {
            runHere();
        }
    }

    /** Ends a run that its caller has left by a failure of the machinery, and returns what it still holds. */
    void leftBy(Thread caller, Throwable failure) {
        breakOff(failure, caller);
        GrantedPermits grants = new GrantedPermits();
        withdraw(grants);
        group().release(this, 0, group().owner.time().nanoTime(), grants);
        group().owner.dispatch(grants);
    }
}
