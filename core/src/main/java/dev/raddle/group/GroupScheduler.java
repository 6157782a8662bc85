package dev.raddle.group;

import dev.raddle.task.Scheduler;

/** Places the tasks of other APIs in a group, where they wait, run and end like the group's own tasks. */
final class GroupScheduler implements Scheduler {

    private final GroupExecutor executor;
    private final String key;

    GroupScheduler(GroupExecutor executor, String key) {
        this.executor = executor;
        this.key = key;
    }

    @Override
    public void execute(Runnable task) {
        throwIfRejected(executor.placeIn(key, task));
    }

    @Override
    public Placement place(Placeable task) {
        PlacedRun run = executor.placeIn(key, task);
        throwIfRejected(run);
        run.rejectUnlessRun(task);
        return run;
    }

    private static void throwIfRejected(PlacedRun run) {
        RejectedTaskException rejection = run.rejection();
        if (rejection != null) {
            throw rejection;
        }
    }

    @Override
    public String toString() {
        return "scheduler through group \"" + key + "\"";
    }
}
