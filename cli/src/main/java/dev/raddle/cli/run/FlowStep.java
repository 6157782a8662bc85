package dev.raddle.cli.run;

import dev.raddle.cli.file.Failure;
import dev.raddle.cli.file.PlannedTask;
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
 * A task of a flow on its way. The flow says when it is ready, by placing it: then it waits for its permit, and runs in the
 * thread that has it. Like any other task it ends with exactly one {@link RunEvent.TaskEnded}.
 */
final class FlowStep implements Scheduler, GroupRunner.Ongoing {
    private final PlannedTask task;
    private final OutputFiles output;
    private final GroupRunner runner;
    private final Stop stop;
    private final AtomicBoolean queued = new AtomicBoolean();
    private final AtomicBoolean ended = new AtomicBoolean();
    private final AtomicBoolean finished = new AtomicBoolean();
    private final AtomicBoolean claimed = new AtomicBoolean(); // by the action, or by who decides it without
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

    /** How it went; null if it has not ended. */
    @Nullable
    TaskResult result() {
        return result;
    }

    boolean hasSucceeded() {
        TaskResult how = result;
        return how != null && how.succeeded();
    }

    long endedNanos() {
        return endedNanos;
    }

    /** Decides that it does not run; false if its action was entered, which then tells of its end. */
    boolean decideWithoutRunning() {
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

    @SuppressWarnings("FutureReturnValueIgnored") // what rejected() does is the end of it
    private static void follow(TaskHandle<Boolean> handle, Placeable part, BooleanSupplier isTold) {
        handle.toCompletableFuture().whenComplete((result, error) -> {
            if (!isTold.getAsBoolean()) {
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

    /** Says that the action was entered; false if it has been decided meanwhile, and must not run. */
    boolean begin() {
        if (!claimed.compareAndSet(false, true)) {
            return false;
        }
        runner.enter(this);
        return true;
    }

    /**
     * Makes the attempts. The pauses between them are waited for here and not by the flow: a flow's pause ends by an interrupt,
     * and in a drain nobody must interrupt a task that might have begun its next attempt.
     */
    TaskResult attempt(PlannedTask filled) {
        TaskAttempts all = runner.attempts(filled, output);
        attempts = all;
        for (int attempt = 1; ; attempt++) {
            try {
                return waiting(all.call());
            } catch (AttemptFailedException failure) {
                Duration pause = all.rest(attempt);
                try {
                    if (stop.await(pause)) {
                        return waiting(all.stopped());
                    }
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    return waiting(all.stopped());
                }
            }
        }
    }

    /** With the wait for the permit, which was over before the attempts began. */
    private TaskResult waiting(TaskResult made) {
        long total = (System.nanoTime() - readyNanos) / 1_000_000;
        return new TaskResult(
                made.id(),
                made.group(),
                made.command(),
                made.state(),
                made.exitCode(),
                made.attempts(),
                Math.max(0, total - made.runMillis()),
                made.runMillis(),
                made.output(),
                made.error());
    }

    long millisSinceReady() {
        return readyNanos < 0 ? 0 : (System.nanoTime() - readyNanos) / 1_000_000;
    }

    @Override
    public void endRest() {
        // the rest itself waits for the stop
    }

    // Ending.

    /** Tells of the end, once. */
    void end(TaskResult how) {
        if (ended.compareAndSet(false, true)) {
            queue();
            endedNanos = System.nanoTime();
            result = how;
            runner.end(how);
        }
    }

    /** Notes that nothing more comes of it. */
    void finish() {
        if (finished.compareAndSet(false, true)) {
            runner.leave(this);
            runner.finishOne();
        }
    }

    /** Takes over what an earlier run did. */
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
