package dev.raddle.flow;

import dev.raddle.task.Scheduler;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * A ready node on its way to another thread. In the slot of a node with a group it says that the node waits for a permit.
 *
 * <p>It is a {@link ForkJoinTask} so that a fork-join pool need not wrap it.
 */
@SuppressWarnings("serial") // nobody writes it anywhere
final class Handoff extends ForkJoinTask<Void> implements Scheduler.Placeable, Mark {

    final transient FlowRun<?> run;
    final int node;
    final boolean grouped;

    private transient @Nullable Thread placer; // the thread that is inside place(); meaningful to that thread only
    private boolean postponed; // written and read by the placer
    private transient volatile Scheduler.@Nullable Placement placement; // of a node with a group

    Handoff(FlowRun<?> run, int node, boolean grouped) {
        this.run = run;
        this.node = node;
        this.grouped = grouped;
    }

    /** Hands it over. Returns true if the scheduler wants the calling thread to do it, which it shall do itself, later. */
    boolean place(Scheduler scheduler) {
        placer = Thread.currentThread();
        try {
            Scheduler.Placement place = scheduler.place(this);
            if (grouped) {
                placement = place;
            }
        } finally {
            placer = null;
        }
        return postponed;
    }

    /** Leaves the scheduler's queue, if that is possible. */
    void withdraw() {
        Scheduler.Placement place = placement;
        if (place != null) {
            place.withdraw();
        }
    }

    @Override
    public void run() {
        if (!grouped && placer == Thread.currentThread()) {
            postponed = true; // or the stack would grow with the flow
            return;
        }
        run.runIn(this);
    }

    @Override
    public void reject(RejectedExecutionException reason) {
        run.rejected(this, reason);
    }

    @Override
    protected boolean exec() {
        run();
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
