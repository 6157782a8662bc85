package dev.raddle.scope;

import dev.raddle.task.Scheduler;
import dev.raddle.time.UserCode;
import java.util.List;

/** Runs subtasks on a scheduler. They leave the scheduler's queue when the scope is shut down. */
final class SchedulerContainer implements Container {

    private final SubtaskScope scope;
    private final Scheduler scheduler;
    private final Scheduler.Lease lease;
    private final List<ScopedValue<?>> registered;

    SchedulerContainer(SubtaskScope scope, Scheduler scheduler, List<ScopedValue<?>> registered) {
        this.scope = scope;
        this.scheduler = scheduler;
        this.registered = registered;
        this.lease = scheduler.lease();
    }

    @Override
    public void start(ForkedSubtask<?> subtask, boolean byOwner) {
        subtask.setPlacement(scheduler.place(new SubtaskBody(subtask).withValues(scope.inside, registered)));
    }

    @Override
    public void close() { // the scheduler owns the threads
        lease.close();
    }

    @Override
    public String toString() {
        return "scheduler: " + UserCode.textOf(scheduler);
    }
}
