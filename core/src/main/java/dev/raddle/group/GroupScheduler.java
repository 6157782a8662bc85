package dev.raddle.group;

import dev.raddle.task.CancelledException;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Outcome;
import dev.raddle.task.Scheduler;
import dev.raddle.time.UserCode;
import java.util.concurrent.RejectedExecutionException;

/** Places the tasks of other APIs in a group, where they wait, run and end like the group's own tasks. */
final class GroupScheduler implements Scheduler {

    private final GroupEngine engine;
    private final String key;

    GroupScheduler(GroupEngine engine, String key) {
        this.engine = engine;
        this.key = key;
    }

    @Override
    public void execute(Runnable task) {
        throwIfRejected(engine.place(key, task, newPlacedTask(task)));
    }

    @Override
    public Placement place(Placeable task) {
        PlacedTask placed = newPlacedTask(task);
        GroupRun<Object> run = engine.place(key, task, placed);
        throwIfRejected(run);
        RunPlacement placement = new RunPlacement(run);
        run.whenSettled(() -> placement.rejectUnlessBegun(task, placed, engine.sink));
        return placement;
    }

    private PlacedTask newPlacedTask(Runnable task) {
        return new PlacedTask(task, engine.sink);
    }

    private static void throwIfRejected(GroupRun<?> run) {
        RejectedTaskException rejection = run.rejection();
        if (rejection != null) {
            throw rejection;
        }
    }

    /** The placement of a task in a group, which its API can withdraw. */
    private record RunPlacement(GroupRun<Object> run, CancelledException withdrawal) implements Placement {

        RunPlacement(GroupRun<Object> run) {
            this(run, new CancelledException("withdrawn by the API that placed it"));
        }

        @Override
        public boolean withdraw() {
            return run.cancel(withdrawal, false);
        }

        @Override
        public boolean beginWait(Thread waiter) {
            return run.group.noteWait(waiter, run);
        }

        @Override
        public void endWait(Thread waiter) {
            run.group.endWait(waiter, run);
        }

        /** Rejects the task of a run that was settled without calling it, unless the task was withdrawn. */
        void rejectUnlessBegun(Placeable task, PlacedTask placed, ExceptionSink sink) {
            Outcome<Object> outcome = run.decided();
            if (placed.hasBegun()
                    || (outcome instanceof Outcome.Cancelled<Object> cancelled && cancelled.cause() == withdrawal)) {
                return;
            }
            RejectedTaskException rejection = run.rejection();
            try {
                task.reject(
                        rejection != null
                                ? rejection
                                : new RejectedExecutionException(
                                        run + " never began, it was settled as " + UserCode.textOf(outcome)));
            } catch (Throwable failure) {
                sink.report("reject() of a task placed in group \"" + run.groupKey() + "\"", failure);
            }
        }
    }

    @Override
    public String toString() {
        return "scheduler through group \"" + key + "\"";
    }
}
