package dev.raddle.scope;

import dev.raddle.task.Scheduler;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** A subtask that a scheduler runs, possibly in a pooled thread that also runs other tasks. */
final class PlacedSubtask<T extends @Nullable Object> extends ForkedSubtask<T> {

    private volatile Scheduler.@Nullable Placement
            placement; // null until the scheduler has accepted it, and after the end

    PlacedSubtask(StructuredTaskScope<? super T> scope, Callable<? extends T> task, int round, long forkedAt) {
        super(scope, task, round, forkedAt);
    }

    /** Stores the placement, which a shutdown withdraws. After an earlier shutdown, the forker stops this subtask. */
    void setPlacement(Scheduler.Placement placement) {
        this.placement = placement;
        if (hasEnded()) {
            this.placement = null;
        }
    }

    @Override
    void releasePlacement() {
        placement = null;
    }

    /** Registers that a thread waits for this subtask, as {@link Scheduler.Placement#beginWait} does. */
    boolean beginWait(Thread waiter) {
        Scheduler.Placement place = placement;
        return place != null && isWaiting() && place.beginWait(waiter);
    }

    void endWait(Thread waiter) {
        Scheduler.Placement place = placement;
        if (place != null) {
            place.endWait(waiter);
        }
    }

    @Override
    boolean begin() {
        if (!super.begin()) {
            return false;
        }
        thread = Thread.currentThread();
        if (scope.isShutdown()) {
            interruptRunner(); // the shutdown may have been before the thread was set
        }
        return true;
    }

    @Override
    void stop() {
        Scheduler.Placement place = placement;
        if (isWaiting() && place != null && place.withdraw()) {
            abandon();
        } else {
            super.stop();
        }
    }

    @Override
    void endInterrupts() {
        refuseInterrupts();
    }
}
