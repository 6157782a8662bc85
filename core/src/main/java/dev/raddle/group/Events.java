package dev.raddle.group;

import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Outcome;
import dev.raddle.task.OwnerChange;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;

/**
 * Notifies the listener of an executor. Exceptions that it throws go to the policy's sink and do not affect tasks.
 *
 * @param listener the listener
 * @param sink the policy's sink
 */
record Events(TaskListener listener, ExceptionSink sink) {

    void submitted(TaskIdentity task) {
        runGuarded(sink, "onSubmitted", task, () -> listener.onSubmitted(task));
    }

    void started(TaskIdentity task, long waitNanos) {
        runGuarded(sink, "onStarted", task, () -> listener.onStarted(task, waitNanos));
    }

    void settled(TaskIdentity task, Outcome<?> outcome, long ranNanos) {
        runGuarded(sink, "onSettled", task, () -> listener.onSettled(task, outcome, ranNanos));
    }

    void changed(OwnerChange change) {
        try {
            listener.onChanged(change);
        } catch (Throwable failure) {
            sink.report("onChanged of the listener, for group \"" + change.owner() + "\"", failure);
        }
    }

    static void runGuarded(ExceptionSink sink, String event, TaskIdentity task, Runnable notification) {
        try {
            notification.run();
        } catch (Throwable failure) {
            sink.report(
                    event + " of the listener, for task \"" + task.name() + "\" in group \"" + task.owner() + "\"",
                    failure);
        }
    }
}
