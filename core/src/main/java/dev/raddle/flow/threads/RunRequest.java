package dev.raddle.flow.threads;

import dev.raddle.task.NamedTask;
import dev.raddle.task.Scheduler;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * A request to a scheduler to run ready nodes. The thread that executes it takes nodes from the stack of the run, which
 * may be empty.
 *
 * <p>It is a {@link ForkJoinTask} so that a fork-join pool need not wrap it. A request to virtual threads can be placed
 * again.
 */
@SuppressWarnings("serial") // never serialized
public final class RunRequest extends ForkJoinTask<Void> implements Scheduler.Placeable, NamedTask {

    private final transient RunEntry run;
    private final byte place;
    private transient @Nullable Thread caller; // the thread that is inside place(); meaningful to that thread only
    private boolean postponed; // written and read by that thread

    public RunRequest(RunEntry run, byte place) {
        this.run = run;
        this.place = place;
    }

    @Override
    public String name() {
        return run.label();
    }

    @Override
    public String threadName() {
        return run.name();
    }

    /**
     * Places this request. Returns whether the scheduler executed it in the calling thread, which must run the nodes
     * later.
     */
    public boolean place(Scheduler scheduler) {
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
            postponed = true; // otherwise the stack would grow with the flow
            return;
        }
        run.runReady(place);
    }

    @Override
    public void reject(RejectedExecutionException reason) {
        run.handleRefusal(place, reason);
    }

    /** Called by a fork-join pool that discards this request because it is shut down. */
    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        boolean wasDone = isDone();
        boolean isCancelled = super.cancel(mayInterruptIfRunning);
        if (isCancelled && !wasDone) {
            run.handleRefusal(
                    place, new RejectedExecutionException("the pool was shut down before it ran the request"));
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
