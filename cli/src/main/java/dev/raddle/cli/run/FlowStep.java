package dev.raddle.cli.run;

import dev.raddle.cli.file.PlannedTask;
import dev.raddle.cli.file.value.Failure;
import dev.raddle.group.GroupResult;
import dev.raddle.group.TaskHandle;
import dev.raddle.task.Scheduler;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A running task of a flow. The flow places it when it is ready; then it waits for its permit, and runs in the thread
 * that has it. As with any other task, it ends with exactly one {@link RunEvent.TaskEnded}.
 */
final class FlowStep implements Scheduler, GroupRunner.Stoppable {
    private final PlannedTask task;
    private final OutputFiles output;
    private final GroupRunner runner;
    private final Stop stop;
    private final AtomicBoolean queued = new AtomicBoolean();
    private final AtomicBoolean ended = new AtomicBoolean();
    private final AtomicBoolean finished = new AtomicBoolean();
    private final AtomicBoolean claimed = new AtomicBoolean(); // by the action, or by a decision without running
    private volatile long readyNanos = -1; // -1 until it is placed
    private volatile @Nullable TaskAttempts attempts; // null until it runs
    private volatile long endedNanos; // written before `result`
    private volatile @Nullable TaskResult result; // null until it has ended

    FlowStep(PlannedTask task, OutputFiles output, GroupRunner runner, Stop stop) {
        this.task = task;
        this.output = output;
        this.runner = runner;
        this.stop = stop;
        runner.startOne();
    }

    PlannedTask task() {
        return task;
    }

    OutputFiles output() {
        return output;
    }

    /** Returns the result, or null if the task has not ended. */
    @Nullable
    TaskResult result() {
        return result;
    }

    boolean hasSucceeded() {
        TaskResult outcome = result;
        return outcome != null && outcome.succeeded();
    }

    long endedNanos() {
        return endedNanos;
    }

    /** Claims the step so that it does not run; returns false if its action has begun, which then reports the end. */
    boolean claimWithoutRunning() {
        return claimed.compareAndSet(false, true);
    }

    // Waiting.

    @Override
    public void execute(Runnable part) {
        throw new UnsupportedOperationException("a flow places its nodes, it does not execute them");
    }

    @Override
    public Placement place(Placeable part) {
        readyNanos = System.nanoTime();
        queue();
        AtomicBoolean entered = new AtomicBoolean();
        TaskHandle<Boolean> handle;
        try {
            handle = runner.submit(task, () -> {
                entered.set(true);
                part.run();
            });
        } catch (IllegalStateException e) {
            throw new RejectedExecutionException(e.getMessage(), e);
        }
        AtomicBoolean withdrawn = new AtomicBoolean();
        follow(handle, part, () -> entered.get() || withdrawn.get());
        return () -> {
            withdrawn.set(true);
            return handle.cancel(false);
        };
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the action itself is rejected()
    private static void follow(TaskHandle<Boolean> handle, Placeable part, BooleanSupplier isReported) {
        handle.toCompletableFuture().whenComplete((result, error) -> {
            if (!isReported.getAsBoolean()) {
                part.reject(rejection(result, error));
            }
        });
    }

    private static RejectedExecutionException rejection(
            @Nullable GroupResult<Boolean> result, @Nullable Throwable error) {
        Throwable cause = error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
        return cause instanceof RejectedExecutionException rejected
                ? rejected
                : new RejectedExecutionException(
                        "it never began: " + (result == null ? Failure.text(cause) : result.status()), cause);
    }

    private void queue() {
        if (queued.compareAndSet(false, true)) {
            runner.post(new RunEvent.TaskQueued(runner.now(), task.id(), task.group()));
        }
    }

    // Running.

    /** Marks the action as begun; returns false if the step has been decided already and must not run. */
    boolean begin() {
        if (!claimed.compareAndSet(false, true)) {
            return false;
        }
        runner.register(this);
        return true;
    }

    /**
     * Makes the attempts. The pauses between them are awaited here and not by the flow, because a flow ends a pause by
     * an interrupt, and in a drain a task that may have begun its next attempt must not be interrupted.
     */
    TaskResult attempt(PlannedTask complete) {
        TaskAttempts all = runner.attempts(complete, output);
        attempts = all;
        for (int attempt = 1; ; attempt++) {
            try {
                return withWait(all.call());
            } catch (AttemptFailedException failure) {
                Duration pause = all.beginPause(attempt);
                try {
                    if (stop.await(pause)) {
                        return withWait(all.stopped());
                    }
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    return withWait(all.stopped());
                }
            }
        }
    }

    /** Adds the wait for the permit, which ended before the attempts began. */
    private TaskResult withWait(TaskResult made) {
        long total = (System.nanoTime() - readyNanos) / 1_000_000;
        return made.withTimes(Math.max(0, total - made.runMillis()), made.runMillis());
    }

    long millisSinceReady() {
        return readyNanos < 0 ? 0 : (System.nanoTime() - readyNanos) / 1_000_000;
    }

    @Override
    public void endPause() {
        // the pause itself waits for the stop
    }

    // Ending.

    /** Reports the end, once. */
    void end(TaskResult outcome) {
        if (ended.compareAndSet(false, true)) {
            queue();
            endedNanos = System.nanoTime();
            result = outcome;
            runner.end(outcome);
        }
    }

    /** Marks the step as finished: no further action follows. */
    void finish() {
        if (finished.compareAndSet(false, true)) {
            runner.unregister(this);
            runner.finishOne();
        }
    }

    /** Restores the result of an earlier run. */
    void restore(TaskResult earlier) {
        claimed.set(true);
        ended.set(true);
        endedNanos = System.nanoTime();
        result = earlier;
        finish();
    }

    @Override
    public void abandon() {
        TaskAttempts made = attempts;
        if (made != null) {
            end(made.abandoned("still running although the run was stopped"));
        }
        finish();
    }
}
