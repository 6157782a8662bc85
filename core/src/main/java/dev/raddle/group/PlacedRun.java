package dev.raddle.group;

import dev.raddle.kernel.CapturedContext;
import dev.raddle.kernel.TaskRun;
import dev.raddle.task.CancelledException;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.NamedTask;
import dev.raddle.task.Outcome;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskSpec;
import dev.raddle.time.UserCode;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * The run of a task of another API, which was placed in a group. The task keeps its outcome itself. An exception that
 * it throws, and a failure to start it, are reported to the sink.
 */
final class PlacedRun extends ConfiguredRun<Object> implements Scheduler.Placement {

    private final Body body;
    private final CancelledException withdrawal = new CancelledException("withdrawn by the API that placed it");

    /**
     * Creates a run of a task.
     *
     * @param context the submitter's context, in which the task is called
     */
    PlacedRun(
            Runnable task,
            CapturedContext context,
            ExceptionSink sink,
            @Nullable Duration queueTimeout,
            long submitNanos) {
        this(new Body(task, sink), context, queueTimeout, submitNanos);
    }

    private PlacedRun(Body body, CapturedContext context, @Nullable Duration queueTimeout, long submitNanos) {
        super(spec(body, context, queueTimeout), submitNanos, null);
        this.body = body;
    }

    private static TaskSpec<Object> spec(Body body, CapturedContext context, @Nullable Duration queueTimeout) {
        int priority = body.task instanceof Scheduler.Placeable placeable ? placeable.priority() : 0;
        TaskSpec<Object> spec =
                TaskSpec.named(nameOf(body.task), context.around(body)).priority(priority);
        return queueTimeout == null ? spec : spec.queueTimeout(queueTimeout);
    }

    /** Returns the name that a task has in the API that places it; if it has none, that of its class. */
    static String nameOf(Runnable task) {
        return UserCode.nameOf(task instanceof NamedTask named ? named::name : null, task);
    }

    /** Calls the task, and records that the call has begun. */
    private static final class Body implements Callable<Object> {
        private final Runnable task;
        private final ExceptionSink sink;
        private volatile boolean begun;

        Body(Runnable task, ExceptionSink sink) {
            this.task = task;
            this.sink = sink;
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
    }

    @Override
    protected boolean isUserCode() {
        return !(body.task instanceof TaskRun<?>);
    }

    @Override
    protected void settled(Outcome<Object> outcome) {
        super.settled(outcome);
        if (!body.begun && outcome instanceof Outcome.Failure<Object> failure) {
            body.sink.report("start of a task placed in group \"" + groupKey() + "\"", failure.error());
        }
    }

    @Override
    public boolean withdraw() {
        return cancel(withdrawal, false);
    }

    @Override
    public boolean beginWait(Thread waiter) {
        return group().noteWait(waiter, this);
    }

    @Override
    public void endWait(Thread waiter) {
        group().endWait(waiter, this);
    }

    /** Rejects the task when this run is settled without having begun, unless the task was withdrawn. */
    void rejectUnlessRun(Scheduler.Placeable task) {
        end().whenSet(() -> {
            if (!body.begun && !wasWithdrawn()) {
                reject(task);
            }
        });
    }

    private boolean wasWithdrawn() {
        return settledOutcome() instanceof Outcome.Cancelled<Object> cancelled && cancelled.cause() == withdrawal;
    }

    private void reject(Scheduler.Placeable task) {
        RejectedTaskException rejection = rejection();
        try {
            task.reject(
                    rejection != null
                            ? rejection
                            : new RejectedExecutionException(
                                    this + " never began, it was settled as " + UserCode.textOf(settledOutcome())));
        } catch (Throwable failure) {
            body.sink.report("reject() of a task placed in group \"" + groupKey() + "\"", failure);
        }
    }

    @Nullable
    RejectedTaskException rejection() {
        return isDone() && settledOutcome() instanceof Outcome.Rejected<Object> rejected
                ? new RejectedTaskException(groupKey(), taskId(), rejected.reason())
                : null;
    }
}
