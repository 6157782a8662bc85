package dev.raddle.scope;

import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Outcome;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import org.jspecify.annotations.Nullable;

/**
 * Notifies the listener of one scope, in the calling thread, and reports what user code throws to the sink. No caller
 * holds a lock.
 *
 * @param scope the name of the scope
 * @param sink the sink for exceptions of the listener
 * @param listener the listener
 * @param hook the part of the listener that notifies a {@link ThreadHook}, or null
 */
record ScopeEvents(
        String scope,
        ExceptionSink sink,
        TaskListener listener,
        @Nullable HookListener hook) {

    void notifySubmitted(TaskIdentity task) {
        runGuarded(scope, sink, "onSubmitted of the listener", () -> listener.onSubmitted(task));
    }

    void notifyStarted(TaskIdentity task, long waitNanos) {
        runGuarded(scope, sink, "onStarted of the listener", () -> listener.onStarted(task, waitNanos));
    }

    void notifySettled(TaskIdentity task, Outcome<?> outcome, long ranNanos) {
        runGuarded(scope, sink, "onSettled of the listener", () -> listener.onSettled(task, outcome, ranNanos));
    }

    /**
     * Runs user code and reports what it throws to a sink.
     *
     * @param scope the name of the scope
     * @param sink the sink
     * @param source the description of the user code
     * @param userCode the user code
     */
    static void runGuarded(String scope, ExceptionSink sink, String source, Runnable userCode) {
        try {
            userCode.run();
        } catch (Throwable failure) {
            sink.report(source + " in scope \"" + scope + "\"", failure);
        }
    }
}
