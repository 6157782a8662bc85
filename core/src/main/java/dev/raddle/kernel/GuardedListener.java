package dev.raddle.kernel;

import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Outcome;
import dev.raddle.task.OwnerChange;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import org.jspecify.annotations.Nullable;

/**
 * Notifies a listener in the calling thread, under the context class loader that this thread has. What the listener
 * throws goes to a sink and has no other effect. No caller holds a lock. It has the methods of {@link TaskListener} and
 * is none, so that a notification which it does not forward does not compile.
 *
 * @param listener the listener
 * @param sink the sink
 * @param kind the kind of the owner of the tasks, such as "group", for messages
 */
public record GuardedListener(TaskListener listener, ExceptionSink sink, String kind) {

    /**
     * Guards a listener, if there is one.
     *
     * @param listener the listener, or null
     * @param sink the sink
     * @param kind the kind of the owner of the tasks
     * @return the guarded listener, or null
     */
    public static @Nullable GuardedListener of(@Nullable TaskListener listener, ExceptionSink sink, String kind) {
        return listener == null ? null : new GuardedListener(listener, sink, kind);
    }

    /**
     * Notifies of a submission.
     *
     * @param task the task
     */
    public void onSubmitted(TaskIdentity task) {
        try {
            listener.onSubmitted(task);
        } catch (Throwable failure) {
            report("onSubmitted", task, failure);
        }
    }

    /**
     * Notifies of a start.
     *
     * @param task the task
     * @param waitNanos the time since the submission
     */
    public void onStarted(TaskIdentity task, long waitNanos) {
        try {
            listener.onStarted(task, waitNanos);
        } catch (Throwable failure) {
            report("onStarted", task, failure);
        }
    }

    /**
     * Notifies of an end.
     *
     * @param task the task
     * @param outcome the outcome
     * @param runNanos the time since the start
     */
    public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
        try {
            listener.onSettled(task, outcome, runNanos);
        } catch (Throwable failure) {
            report("onSettled", task, failure);
        }
    }

    /**
     * Notifies of a changed limit.
     *
     * @param change the change
     */
    public void onChanged(OwnerChange change) {
        try {
            listener.onChanged(change);
        } catch (Throwable failure) {
            sink.report("onChanged of the listener, for " + kind + " \"" + change.owner() + "\"", failure);
        }
    }

    private void report(String event, TaskIdentity task, Throwable failure) {
        sink.report(source(event, task, kind), failure);
    }

    /**
     * Returns a description of a callback, for a sink.
     *
     * @param event the name of the method of the listener
     * @param task the task
     * @param kind the kind of the owner of the task
     * @return the description
     */
    public static String source(String event, TaskIdentity task, String kind) {
        return event + " of the listener, for task \"" + task.name() + "\" in " + kind + " \"" + task.owner() + "\"";
    }
}
