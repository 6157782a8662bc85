package dev.raddle.cli.run;

import dev.raddle.cli.file.PlannedTask;
import dev.raddle.task.RetryPolicy;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * The attempts of one task: each call makes one. The group executor calls this repeatedly, in one thread that holds the
 * task's permit, with pauses in between. The last attempt returns the result; any other throws.
 */
final class TaskAttempts implements Callable<TaskResult> {
    /**
     * The maximum delay between a process's death by SIGINT or SIGTERM and this process's handling of the same signal.
     */
    private static final Duration SIGNAL_DELAY = Duration.ofMillis(250);

    private static final Set<Integer> SIGNAL_EXIT_CODES = Set.of(130, 143);

    static final String NOT_STARTED = "not started, the run was stopped";
    static final String STOPPED = "stopped with the run";

    /*
     * A stop ends the pause of a task by cancelling it, and must not cancel a task whose command runs, because that may
     * have the grace period of a drain. `pausing` is set before the stop is read, and cleared before the stop is read
     * again; the thread that ends pauses reads `pausing` after the stop has been set. So a pause is ended or never
     * begins, and a task whose pause was over before the stop is not cancelled.
     */
    private final PlannedTask task;
    private final OutputFiles output;
    private final EventLoop events;
    private final Stop stop;
    private final InstantSource clock;
    private final Launcher launcher;
    private final long submitted = System.nanoTime();
    // Written by the thread that makes the attempts.
    private volatile @Nullable Progress progress; // null before the first attempt
    private volatile boolean pausing;

    /** The progress of a task: the attempts, how many started a process, how the last ended, and what all used. */
    private record Progress(
            long begin,
            int attempts,
            int started,
            AttemptEnd last,
            @Nullable Usage usage) {
        Progress with(AttemptEnd end) {
            return new Progress(
                    begin, attempts + 1, started + (end.started() ? 1 : 0), end, Usage.sum(usage, end.usage()));
        }
    }

    TaskAttempts(
            PlannedTask task, OutputFiles output, Launcher launcher, EventLoop events, Stop stop, InstantSource clock) {
        this.task = task;
        this.output = output;
        this.events = events;
        this.stop = stop;
        this.clock = clock;
        this.launcher = launcher;
    }

    /** Returns the number of calls and the pauses between them. */
    RetryPolicy policy() {
        return RetryPolicy.builder()
                .maxAttempts(task.retry().attempts())
                .retryIf((attempt, failure) -> failure instanceof AttemptFailedException)
                .backoff((attempt, failure) -> beginPause(attempt))
                .build();
    }

    /** Makes an attempt. An interrupt of the thread ends the task as {@link Stop} does. */
    @Override
    public TaskResult call() throws AttemptFailedException {
        pausing = false;
        Progress before = progress;
        if (before == null) {
            before = new Progress(System.nanoTime(), 0, 0, new AttemptEnd.Stopped(null), null);
            progress = before;
        }
        if (isOver(before.attempts)) {
            return result(before, state(before));
        }
        AttemptEnd end = launcher.attempt(task, before.attempts + 1, output);
        Progress now = before.with(end);
        progress = now;
        if (end.succeeded() || wasStopped(end) || now.attempts >= task.retry().attempts()) {
            return result(now, state(now));
        }
        throw new AttemptFailedException(end);
    }

    Duration beginPause(int attempt) {
        Duration pause = task.retry().backoff().after(attempt);
        AttemptEnd end = progress().last;
        events.post(new RunEvent.AttemptFailed(
                clock.instant(),
                task.id(),
                task.group(),
                attempt,
                task.retry().attempts(),
                end.exitCode(),
                end.text(),
                pause));
        pausing = true;
        return stop.isRequested() ? Duration.ZERO : pause;
    }

    /** Returns whether the task pauses before its next attempt. */
    boolean isPausing() {
        return pausing;
    }

    /** Returns whether its first attempt has begun. */
    boolean hasBegun() {
        return progress != null;
    }

    /** Returns the result of a task whose next attempt was cancelled because the run was stopped. */
    TaskResult stopped() {
        return result(progress(), TaskState.CANCELLED);
    }

    /** Returns the result of a task whose process does not end. */
    TaskResult abandoned(String error) {
        return TaskResult.of(task, TaskState.CANCELLED)
                .withAttempts(progress().started + 1, null)
                .withTimes(0, millisSinceSubmission())
                .withOutput(output.name())
                .withError(error);
    }

    long millisSinceSubmission() {
        return (System.nanoTime() - submitted) / 1_000_000;
    }

    private Progress progress() {
        Progress now = progress;
        if (now == null) {
            throw new IllegalStateException("task \"" + task.id() + "\" has not begun");
        }
        return now;
    }

    /**
     * Returns whether no further attempt may start. A task that got its thread before a drain began may still start its
     * first.
     */
    private boolean isOver(int attempts) {
        return stop.isEnding()
                || stop.isFinishing()
                || Thread.currentThread().isInterrupted()
                || (attempts > 0 && stop.isRequested());
    }

    /** Returns whether a stop of the whole run caused this end. */
    private boolean wasStopped(AttemptEnd end) {
        // A terminal or a service manager sends a signal to all processes at once; a command may die before this
        // process has handled the signal.
        return hasSignalExitCode(end) ? awaitStop() : stop.isRequested();
    }

    private static boolean hasSignalExitCode(AttemptEnd end) {
        Integer exitCode = end.exitCode();
        return exitCode != null && SIGNAL_EXIT_CODES.contains(exitCode);
    }

    private boolean awaitStop() {
        try {
            return stop.await(SIGNAL_DELAY);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }

    private TaskState state(Progress now) {
        AttemptEnd end = now.last;
        if (end.succeeded()) {
            return TaskState.SUCCEEDED;
        }
        boolean unfinished = now.attempts < task.retry().attempts() || hasSignalExitCode(end);
        if (end instanceof AttemptEnd.Stopped || stop.isEnding() || (stop.isRequested() && unfinished)) {
            return TaskState.CANCELLED;
        }
        return end instanceof AttemptEnd.TimedOut ? TaskState.TIMED_OUT : TaskState.FAILED;
    }

    private TaskResult result(Progress now, TaskState state) {
        return TaskResult.of(task, state)
                .withAttempts(now.started, now.last.exitCode())
                .withTimes((now.begin - submitted) / 1_000_000, (System.nanoTime() - now.begin) / 1_000_000)
                .withOutput(now.started == 0 ? null : output.name())
                .withError(error(now, state))
                .withUsage(now.usage);
    }

    private @Nullable String error(Progress now, TaskState state) {
        int maxAttempts = task.retry().attempts();
        return switch (state) {
            case SUCCEEDED -> null;
            case CANCELLED -> now.attempts == 0 ? NOT_STARTED : STOPPED;
            default ->
                maxAttempts == 1
                        ? now.last.text()
                        : now.last.text() + ", attempt " + now.attempts + " of " + maxAttempts;
        };
    }
}
