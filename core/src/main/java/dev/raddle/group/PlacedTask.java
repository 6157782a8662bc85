package dev.raddle.group;

import dev.raddle.kernel.TaskRun;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.NamedTask;
import dev.raddle.task.Outcome;
import dev.raddle.time.UserCode;
import java.util.concurrent.Callable;

/**
 * The task of another API, which was placed in a group by {@link GroupExecutor#scheduler}. The task keeps its outcome
 * itself. An exception that it throws, and a failure to start it, are reported to the sink.
 */
final class PlacedTask implements Origin, Callable<Object> {

    private final Runnable task;
    private final ExceptionSink sink;
    private volatile boolean begun;

    PlacedTask(Runnable task, ExceptionSink sink) {
        this.task = task;
        this.sink = sink;
    }

    /** Returns the name that a task has in the API that places it; if it has none, that of its class. */
    static String nameOf(Runnable task) {
        return UserCode.nameOf(task instanceof NamedTask named ? named::name : null, task);
    }

    @Override
    public Object call() {
        begun = true;
        try {
            task.run();
        } catch (Throwable failure) {
            sink.report("task " + UserCode.textOf(task) + ", placed in a group", failure);
            throw failure;
        }
        return "done";
    }

    /** Returns whether the task was called. */
    boolean hasBegun() {
        return begun;
    }

    /** Returns whether the task is user code, and not the run of another API. */
    boolean isUserCode() {
        return !(task instanceof TaskRun<?>);
    }

    /** Returns how the task has ended: its own outcome if it is a run of another API, or else that in the group. */
    Outcome<?> outcome(Outcome<?> inGroup) {
        Outcome<?> own = task instanceof TaskRun<?> run ? run.decided() : null;
        return own != null && inGroup instanceof Outcome.Success<?> ? own : inGroup;
    }

    /** Reports the failure of a run that has ended without calling the task. */
    void reportFailedStart(String groupKey, Outcome<?> outcome) {
        if (!begun && outcome instanceof Outcome.Failure<?> failure) {
            sink.report("start of a task placed in group \"" + groupKey + "\"", failure.error());
        }
    }
}
