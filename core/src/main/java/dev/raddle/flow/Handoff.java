package dev.raddle.flow;

import dev.raddle.task.Scheduler;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/** A ready node that waits for a permit of its group. */
final class Handoff implements Scheduler.Placeable, Mark {

    private final Engine run;
    final int node;
    private volatile Scheduler.@Nullable Placement placement;

    Handoff(Engine run, int node) {
        this.run = run;
        this.node = node;
    }

    void place(Scheduler group) {
        placement = group.place(this);
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
        run.runGrouped(this);
    }

    @Override
    public void reject(RejectedExecutionException reason) {
        run.refused(this, reason);
    }
}
