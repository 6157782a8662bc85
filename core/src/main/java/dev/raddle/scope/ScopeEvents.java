package dev.raddle.scope;

import dev.raddle.task.Outcome;
import dev.raddle.task.TaskListener;
import dev.raddle.time.UserCode;
import java.time.Instant;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Notifies the hook and the listener of one scope, in the calling thread, and reports what user code throws to the
 * sink. It has no state of its own. No caller holds a lock.
 */
final class ScopeEvents {

    private final ScopeSettings settings;

    ScopeEvents(ScopeSettings settings) {
        this.settings = settings;
    }

    /** Returns the description of a run for the hook, or null if there is no hook. */
    @Nullable
    TaskInfo infoOf(ScopeRun<?> run) {
        return settings.options.hook == null
                ? null
                : new TaskInfo(
                        settings.id, run.id(), run.name(), Instant.now(), UserCode.textOf(settings.options.scheduler));
    }

    void notifyHook(String event, TaskInfo task, Consumer<ThreadHook> notification) {
        ThreadHook hook = settings.options.hook;
        if (hook != null) {
            runGuarded(event + " of the hook, for task \"" + task.name() + "\"", () -> notification.accept(hook));
        }
    }

    void notifySubmitted(ScopeRun<?> run) {
        TaskListener listener = settings.options.listener;
        if (listener != null) {
            runGuarded("onSubmitted of the listener", () -> listener.onSubmitted(run));
        }
    }

    void notifyStarted(ScopeRun<?> run, long waitNanos) {
        TaskListener listener = settings.options.listener;
        if (listener != null) {
            runGuarded("onStarted of the listener", () -> listener.onStarted(run, waitNanos));
        }
    }

    void notifySettled(ScopeRun<?> run, Outcome<?> outcome, long ranNanos) {
        TaskListener listener = settings.options.listener;
        if (listener != null) {
            runGuarded("onSettled of the listener", () -> listener.onSettled(run, outcome, ranNanos));
        }
    }

    /** Runs user code and reports what it throws to the sink. */
    void runGuarded(String source, Runnable userCode) {
        try {
            userCode.run();
        } catch (Throwable failure) {
            settings.options.sink.report(source + " in scope \"" + settings.name + "\"", failure);
        }
    }
}
