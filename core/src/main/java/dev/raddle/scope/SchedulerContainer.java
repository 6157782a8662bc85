package dev.raddle.scope;

import dev.raddle.task.Scheduler;
import dev.raddle.time.UserCode;
import java.util.List;

/** Subtasks run through a scheduler, and leave its queue when the scope is shut down. */
final class SchedulerContainer implements Container {

    private final Scheduler scheduler;
    private final List<ScopedValue<?>> registered;

    SchedulerContainer(Scheduler scheduler, List<ScopedValue<?>> registered) {
        this.scheduler = scheduler;
        this.registered = registered;
    }

    @Override
    public void start(ForkedSubtask<?> subtask) {
        Scheduler.Placement placement = scheduler.place(new Entry(subtask).carrying(registered));
        if (subtask instanceof PlacedSubtask<?> placed) {
            placed.placed(placement);
        }
    }

    @Override
    public void close() {} // the threads are the scheduler's

    @Override
    public String toString() {
        return "scheduler: " + UserCode.textOf(scheduler);
    }
}
