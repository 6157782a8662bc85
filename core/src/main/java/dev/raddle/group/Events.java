package dev.raddle.group;

import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Outcome;
import dev.raddle.task.TaskListener;
import org.jspecify.annotations.Nullable;

/** Tells the policy's listeners, and keeps from the tasks whatever these throw. */
final class Events {

    private final @Nullable TaskLifecycleListener lifecycle;
    private final @Nullable TaskListener listener;
    private final ExceptionSink sink;

    Events(GroupPolicy policy) {
        this.lifecycle = policy.taskLifecycleListener();
        this.listener = policy.taskListener();
        this.sink = policy.exceptionSink();
    }

    /** Whether anybody wants to know how long tasks wait. */
    boolean measuresWaiting() {
        return listener != null;
    }

    /** Whether there is no listener. */
    boolean isSilent() {
        return listener == null && lifecycle == null;
    }

    void submitted(GroupRun<?> run) {
        String key = run.groupKey();
        String id = run.taskId();
        TaskLifecycleListener hears = lifecycle;
        if (hears != null) {
            tell("onSubmitted", key, id, () -> hears.onSubmitted(key, id));
        }
        TaskListener alsoHears = listener;
        if (alsoHears != null) {
            tell("onSubmitted", key, id, () -> alsoHears.onSubmitted(run));
        }
    }

    void started(GroupRun<?> run, long waitNanos) {
        String key = run.groupKey();
        String id = run.taskId();
        TaskLifecycleListener hears = lifecycle;
        if (hears != null) {
            tell("onStarted", key, id, () -> hears.onStarted(key, id));
        }
        TaskListener alsoHears = listener;
        if (alsoHears != null) {
            tell("onStarted", key, id, () -> alsoHears.onStarted(run, waitNanos));
        }
    }

    <T> void settled(GroupRun<T> run, Outcome<T> outcome) {
        String key = run.groupKey();
        String id = run.taskId();
        TaskLifecycleListener hears = lifecycle;
        if (hears != null) {
            tell("onCompleted", key, id, () -> hears.onCompleted(key, id, run.result(outcome)));
        }
        TaskListener alsoHears = listener;
        if (alsoHears != null) {
            tell("onSettled", key, id, () -> alsoHears.onSettled(run, outcome, run.ranNanos()));
        }
    }

    void rejected(GroupRun<?> run, String reason) {
        String key = run.groupKey();
        String id = run.taskId();
        TaskLifecycleListener hears = lifecycle;
        if (hears != null) {
            tell("onRejected", key, id, () -> hears.onRejected(key, id, reason));
        }
        TaskListener alsoHears = listener;
        if (alsoHears != null) {
            tell("onSettled", key, id, () -> alsoHears.onSettled(run, new Outcome.Rejected<>(reason), 0));
        }
    }

    /**
     * Notifies the listener of the end of the executor, and logs it: as a warning if the executor waited for its tasks and in
     * vain; one that did not wait was meant to end them.
     */
    void shutDown(GroupShutdownReport report) {
        TaskLifecycleListener notified = lifecycle;
        if (notified != null) {
            try {
                notified.onShutdown(report);
            } catch (Throwable failure) {
                sink.report("onShutdown of the listener", failure);
            }
        }
        try {
            boolean asMeant = report.isDrained() || report.waited().isZero();
            System.getLogger("dev.raddle")
                    .log(
                            asMeant ? System.Logger.Level.DEBUG : System.Logger.Level.WARNING,
                            "group executor was shut down: " + report);
        } catch (Throwable failure) {
            sink.report("log of the shutdown of a group executor", failure);
        }
    }

    private void tell(String event, String key, String id, Runnable telling) {
        try {
            telling.run();
        } catch (Throwable failure) {
            sink.report(event + " of the listener, for task \"" + id + "\" in group \"" + key + "\"", failure);
        }
    }
}
