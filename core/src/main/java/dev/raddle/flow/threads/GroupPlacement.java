package dev.raddle.flow.threads;

import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskIdentity;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/** A ready node that waits for a permit of its group. */
public final class GroupPlacement implements Scheduler.Placeable, TaskIdentity, Withdrawable {

    private final RunEntry entry;
    private final PlacedRun run;
    public final int node;
    private volatile Scheduler.@Nullable Placement placement;
    private @Nullable Thread caller; // the thread that is inside place(); meaningful to that thread only
    private @Nullable Runner placer; // the runner of that thread; likewise
    private boolean joinerInterrupted; // likewise: whether the joining thread was interrupted here

    public GroupPlacement(RunEntry entry, PlacedRun run, int node) {
        this.entry = entry;
        this.run = run;
        this.node = node;
    }

    public void place(Scheduler group, Runner runner) {
        boolean interrupted = Thread.interrupted(); // meant for the caller, not for a node that runs here
        placer = runner;
        caller = Thread.currentThread();
        try {
            placement = group.place(this);
        } finally {
            caller = null;
            placer = null;
            if (interrupted || joinerInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public String owner() {
        return run.name();
    }

    @Override
    public String name() {
        return run.idOf(node);
    }

    @Override
    public <T> T inSubmittersContext(Callable<T> action) throws Exception {
        return run.callInStarterContext(action);
    }

    /** Registers that the joining thread waits for the node; throws if the node could never begin because of this. */
    boolean beginWait(Thread joining) {
        Scheduler.Placement place = placement;
        return place != null && place.beginWait(joining);
    }

    /** Registers that the joining thread no longer waits. */
    void endWait(Thread joining) {
        Scheduler.Placement place = placement;
        if (place != null) {
            place.endWait(joining);
        }
    }

    /** Leaves the group's queue, if possible. */
    @Override
    public void withdraw() {
        Scheduler.Placement place = placement;
        if (place != null) {
            place.withdraw();
        }
    }

    @Override
    public void run() {
        if (caller == Thread.currentThread()) { // the stack must not grow with the flow
            Runner runner = Objects.requireNonNull(placer);
            entry.runInPlace(this, runner);
            joinerInterrupted = runner.isJoiner && Thread.interrupted(); // otherwise the group would clear it
        } else {
            entry.runGrouped(this);
        }
    }

    @Override
    public void reject(RejectedExecutionException reason) {
        entry.handleRefusal(this, reason);
    }
}
