package dev.raddle.flow;

import dev.raddle.task.NamedTask;
import dev.raddle.task.Scheduler;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * A request for a thread to a scheduler. The thread takes what lies in the run's stack of ready nodes, which may be nothing.
 *
 * <p>It is a {@link ForkJoinTask} so that a fork-join pool need not wrap it. One that virtual threads are called with can be used
 * again.
 */
@SuppressWarnings("serial") // nobody writes it anywhere
final class Call extends ForkJoinTask<Void> implements Scheduler.Placeable, NamedTask {

    private final transient Engine run;
    private final byte place;
    private transient @Nullable Thread caller; // the thread that is inside place(); meaningful to that thread only
    private boolean postponed; // written and read by that thread

    Call(Engine run, byte place) {
        this.run = run;
        this.place = place;
    }

    @Override
    public String name() {
        return run.label();
    }

    /** Calls once. Returns true if the scheduler wants the calling thread to come, which it shall do later. */
    boolean place(Scheduler scheduler) {
        caller = Thread.currentThread();
        try {
            scheduler.place(this);
        } finally {
            caller = null;
        }
        return postponed;
    }

    @Override
    public void run() {
        if (caller == Thread.currentThread()) {
            postponed = true; // or the stack would grow with the flow
            return;
        }
        run.runReady(place);
    }

    @Override
    public void reject(RejectedExecutionException reason) {
        run.refused(place, reason);
    }

    /** Hears that a fork-join pool lets go of it, because it is shut down. */
    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        boolean wasDone = isDone();
        boolean isCancelled = super.cancel(mayInterruptIfRunning);
        if (isCancelled && !wasDone) {
            run.refused(place, new RejectedExecutionException("the pool was shut down before it had a thread for it"));
        }
        return isCancelled;
    }

    @Override
    protected boolean exec() {
        run.runReady(place);
        return true;
    }

    @Override
    @SuppressWarnings("NullAway") // Void
    public Void getRawResult() {
        return null;
    }

    @Override
    protected void setRawResult(Void unused) {}
}
