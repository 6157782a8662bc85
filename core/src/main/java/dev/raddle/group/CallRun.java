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
 * A run that is executed in the caller's thread: a grant wakes the caller instead of starting a thread.
 *
 * <p>The caller waits until the run is granted or settled. If it is interrupted first, it withdraws the run. If the run
 * was granted at the moment of the interrupt or of its timeout, no other thread would release its permit. The caller
 * does so by running the run, which is decided then and only releases its permit. A thread that ends a call from
 * outside withdraws it first, so a settled call that does not hold its permit will never hold it.
 */
final class CallRun<T> extends ConfiguredRun<T> {

    private final Signal grantedOrSettled = new Signal();
    private final boolean tryCall;

    CallRun(TaskSpec<T> spec, long submitNanos, @Nullable TimeLimit limit, boolean tryCall) {
        super(spec, submitNanos, limit);
        this.tryCall = tryCall;
        end().whenSet(grantedOrSettled::set);
    }

    @Override
    boolean startsOnOtherThread() {
        return true;
    }

    @Override
    boolean start(GrantedPermits grants) {
        onDequeued();
        grantedOrSettled.set();
        return true;
    }

    @Override
    boolean mayRunNext() {
        return false;
    }

    @Override
    boolean isTryCall() {
        return tryCall;
    }

    @Override
    protected @Nullable TaskRun<?> releasePermits(long ranNanos, long nowNanos) {
        return group().owner.releaseAndDispatch(this, ranNanos, nowNanos, false);
    }

    /** Waits until this run is granted, then executes it in the calling thread until it is settled. */
    Outcome<T> runWhenGranted() throws InterruptedException {
        boolean noted = false;
        try {
            if (!grantedOrSettled.isSet()) {
                noted = group().noteWait(Thread.currentThread(), this);
            }
            Dispatch.startAll(); // runs that the calling thread has to start may be ahead of this one
            grantedOrSettled.await();
        } catch (InterruptedException | IllegalStateException failure) {
            abandon(failure);
            throw failure;
        } finally {
            if (noted) {
                group().endWait(Thread.currentThread(), this);
            }
        }
        if (!isDone() || group().holds(this)) { // its timeout may have passed at the moment of the grant
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

    /** Ends a run whose caller has failed internally, and releases the permit that the run may hold. */
    void abandonedBy(Thread caller, Throwable failure) {
        abortRun(failure, caller);
        GrantedPermits grants = new GrantedPermits();
        withdraw(grants);
        group().release(this, 0, group().owner.time().nanoTime(), grants);
        group().owner.dispatch(grants);
    }
}
