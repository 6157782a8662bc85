package dev.raddle.scope;

import dev.raddle.task.Scheduler;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** A subtask that a scheduler runs, in a thread that may have been another's and will be another's again. */
final class PlacedSubtask<T extends @Nullable Object> extends ForkedSubtask<T> {

    private volatile Scheduler.@Nullable Placement
            placement; // null until the scheduler has accepted it, and after the end

    PlacedSubtask(StructuredTaskScope<? super T> scope, Callable<? extends T> task, int round, long forkedAt) {
        super(scope, task, round, forkedAt);
    }

    /** Lets a shutdown take it back. One that came before is caught up with by the forker. */
    void placed(Scheduler.Placement placement) {
        this.placement = placement;
        if (hasEnded()) {
            this.placement = null;
        }
    }

    @Override
    void leftPlace() {
        placement = null;
    }

    /** Notes that a thread waits for it, as {@link Scheduler.Placement#beginWait} does. */
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
            interruptRunner(); // a shutdown may have come too early to find the thread
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
    void wantNoInterrupt() {
        refuseInterrupts();
    }
}
