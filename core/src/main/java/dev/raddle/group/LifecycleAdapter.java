package dev.raddle.group;

import dev.raddle.kernel.GuardedListener;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Outcome;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;

/** Notifies a {@link TaskLifecycleListener} of what the engine reports to a {@link TaskListener}. */
record LifecycleAdapter(TaskLifecycleListener listener, ExceptionSink sink) implements TaskListener {

    @Override
    public void onSubmitted(TaskIdentity task) {
        notify("onSubmitted", task, () -> listener.onSubmitted(task.owner(), task.name()));
    }

    @Override
    public void onStarted(TaskIdentity task, long waitNanos) {
        notify("onStarted", task, () -> listener.onStarted(task.owner(), task.name()));
    }

    @Override
    public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
        if (outcome instanceof Outcome.Rejected<?> rejected) {
            notify(
                    "onRejected",
                    task,
                    () -> listener.onRejected(
                            task.owner(), task.name(), rejected.rejection().text()));
        } else {
            notify("onCompleted", task, () -> listener.onCompleted(task.owner(), task.name(), resultOf(task, outcome)));
        }
    }

    @SuppressWarnings("unchecked") // the outcome is that of the run, and only read
    private static GroupResult<?> resultOf(TaskIdentity task, Outcome<?> outcome) {
        return ((GroupRun<Object>) task).result((Outcome<Object>) outcome);
    }

    private void notify(String event, TaskIdentity task, Runnable notification) {
        sink.guard(() -> GuardedListener.source(event, task, "group"), notification);
    }
}
