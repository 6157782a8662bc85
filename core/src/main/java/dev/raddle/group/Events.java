package dev.raddle.group;

import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Outcome;
import dev.raddle.task.TaskListener;
import org.jspecify.annotations.Nullable;

/** Notifies the policy's listeners. Exceptions that they throw go to the policy's sink and do not affect tasks. */
final class Events {

    private final @Nullable TaskLifecycleListener lifecycle;
    private final @Nullable TaskListener listener;
    private final ExceptionSink sink;

    Events(GroupPolicy policy) {
        this.lifecycle = policy.taskLifecycleListener();
        this.listener = policy.taskListener();
        this.sink = policy.exceptionSink();
    }

    /** Returns whether a listener receives the time that tasks wait. */
    boolean measuresWaiting() {
        return listener != null;
    }

    /** Returns whether there is no listener. */
    boolean hasNoListener() {
        return listener == null && lifecycle == null;
    }

    void submitted(GroupRun<?> run) {
        String key = run.groupKey();
        String id = run.taskId();
        TaskLifecycleListener lifecycleListener = lifecycle;
        if (lifecycleListener != null) {
            notifyListener("onSubmitted", key, id, () -> lifecycleListener.onSubmitted(key, id));
        }
        TaskListener taskListener = listener;
        if (taskListener != null) {
            notifyListener("onSubmitted", key, id, () -> taskListener.onSubmitted(run));
        }
    }

    void started(GroupRun<?> run, long waitNanos) {
        String key = run.groupKey();
        String id = run.taskId();
        TaskLifecycleListener lifecycleListener = lifecycle;
        if (lifecycleListener != null) {
            notifyListener("onStarted", key, id, () -> lifecycleListener.onStarted(key, id));
        }
        TaskListener taskListener = listener;
        if (taskListener != null) {
            notifyListener("onStarted", key, id, () -> taskListener.onStarted(run, waitNanos));
        }
    }

    <T> void settled(GroupRun<T> run, Outcome<T> outcome) {
        String key = run.groupKey();
        String id = run.taskId();
        TaskLifecycleListener lifecycleListener = lifecycle;
        if (lifecycleListener != null) {
            notifyListener("onCompleted", key, id, () -> lifecycleListener.onCompleted(key, id, run.result(outcome)));
        }
        TaskListener taskListener = listener;
        if (taskListener != null) {
            notifyListener("onSettled", key, id, () -> taskListener.onSettled(run, outcome, run.ranNanos()));
        }
    }

    void rejected(GroupRun<?> run, String reason) {
        String key = run.groupKey();
        String id = run.taskId();
        TaskLifecycleListener lifecycleListener = lifecycle;
        if (lifecycleListener != null) {
            notifyListener("onRejected", key, id, () -> lifecycleListener.onRejected(key, id, reason));
        }
        TaskListener taskListener = listener;
        if (taskListener != null) {
            notifyListener("onSettled", key, id, () -> taskListener.onSettled(run, new Outcome.Rejected<>(reason), 0));
        }
    }

    /**
     * Notifies the listener of the shutdown of the executor, and logs it. The level is WARNING if the executor waited
     * for its tasks and some of them did not end in time. A shutdown that did not wait ended its tasks intentionally.
     */
    void shutDown(GroupShutdownReport report) {
        TaskLifecycleListener lifecycleListener = lifecycle;
        if (lifecycleListener != null) {
            try {
                lifecycleListener.onShutdown(report);
            } catch (Throwable failure) {
                sink.report("onShutdown of the listener", failure);
            }
        }
        try {
            boolean expected = report.isDrained() || report.waited().isZero();
            System.getLogger("dev.raddle")
                    .log(
                            expected ? System.Logger.Level.DEBUG : System.Logger.Level.WARNING,
                            "group executor was shut down: " + report);
        } catch (Throwable failure) {
            sink.report("log of the shutdown of a group executor", failure);
        }
    }

    private void notifyListener(String event, String key, String id, Runnable notification) {
        try {
            notification.run();
        } catch (Throwable failure) {
            sink.report(event + " of the listener, for task \"" + id + "\" in group \"" + key + "\"", failure);
        }
    }
}
