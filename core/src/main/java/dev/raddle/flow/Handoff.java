package dev.raddle.flow;

import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskIdentity;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/** A ready node that waits for a permit of its group. */
final class Handoff implements Scheduler.Placeable, TaskIdentity, Mark {

    final Engine run;
    final int node;
    private volatile Scheduler.@Nullable Placement placement;
    private @Nullable Thread caller; // the thread that is inside place(); meaningful to that thread only
    private @Nullable Runner placer; // whose hands that thread has; likewise
    private boolean interruptedHome; // likewise: whether the thread that joins was interrupted here

    Handoff(Engine run, int node) {
        this.run = run;
        this.node = node;
    }

    void place(Scheduler group, Runner by) {
        boolean interrupted = Thread.interrupted(); // it is for the caller, and for nothing that runs here
        placer = by;
        caller = Thread.currentThread();
        try {
            placement = group.place(this);
        } finally {
            caller = null;
            placer = null;
            if (interrupted || interruptedHome) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public String owner() {
        return run.graph.name;
    }

    @Override
    public String name() {
        return run.graph.ids[node];
    }

    @Override
    public <T> T inSubmittersContext(Callable<T> action) throws Exception {
        return run.carry(action);
    }

    /** Notes that the thread that joins waits for the node, and fails if the node could never begin because of that. */
    boolean beginWait(Thread joining) {
        Scheduler.Placement place = placement;
        return place != null && place.beginWait(joining);
    }

    /** Notes that the thread that joins does not wait any more. */
    void endWait(Thread joining) {
        Scheduler.Placement place = placement;
        if (place != null) {
            place.endWait(joining);
        }
    }

    /** Leaves the group's queue, if that is possible. */
    void withdraw() {
        Scheduler.Placement place = placement;
        if (place != null) {
            place.withdraw();
        }
    }

    @Override
    public void run() {
        if (caller == Thread.currentThread()) { // the stack shall not grow with the flow
            Runner by = Objects.requireNonNull(placer);
            run.runInPlace(this, by);
            interruptedHome = by.isHome && Thread.interrupted(); // or the group would forget it
        } else {
            run.runGrouped(this);
        }
    }

    @Override
    public void reject(RejectedExecutionException reason) {
        run.refused(this, reason);
    }
}
