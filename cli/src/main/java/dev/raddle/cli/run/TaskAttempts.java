package dev.raddle.cli.run;

import dev.raddle.cli.file.PlannedTask;
import dev.raddle.task.RetryPolicy;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * The attempts of one task: each call is one. The group executor makes them one after the other, in one thread that holds
 * the task's permit, and rests in between. An attempt after which there is none returns how the task went; after any other
 * it throws.
 */
final class TaskAttempts implements Callable<TaskResult> {
    /** How long a process that died of SIGINT or SIGTERM may be ahead of the news that the signal was for the whole run. */
    private static final Duration NEWS = Duration.ofMillis(250);

    private static final Set<Integer> DIED_OF_A_SIGNAL_TO_ALL = Set.of(130, 143);

    static final String NOT_STARTED = "not started, the run was stopped";
    static final String STOPPED = "stopped with the run";

    /*
     * A stop ends the rest of a task by cancelling it, and must not do so to a task whose command runs, because that may
     * have the grace of a drain. A rest is noted before it is looked whether there is a stop, and its end before it is looked
     * once more; who ends rests looks at the note after the stop is known. So a rest is ended or never begins, and a task
     * whose rest was over before the stop is left alone.
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
    private volatile boolean resting;

    /** How far a task is: how many attempts were made, in how many of these a process was started, and how the last ended. */
    private record Progress(long begin, int attempts, int started, AttemptEnd last) {
        Progress with(AttemptEnd end) {
            return new Progress(begin, attempts + 1, started + (end.started() ? 1 : 0), end);
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

    /** How often the executor is to call this, and how long it is to rest in between. */
    RetryPolicy policy() {
        return RetryPolicy.builder()
                .maxAttempts(task.retry().attempts())
                .retryIf((attempt, failure) -> failure instanceof AttemptFailedException)
                .backoff((attempt, failure) -> rest(attempt))
                .build();
    }

    /** An interrupt of the thread ends the task as {@link Stop} does. */
    @Override
    public TaskResult call() throws AttemptFailedException {
        resting = false;
        Progress before = progress;
        if (before == null) {
            before = new Progress(System.nanoTime(), 0, 0, new AttemptEnd.Stopped(null));
            progress = before;
        }
        if (isOver(before.attempts)) {
            return result(before, state(before));
        }
        AttemptEnd end = launcher.attempt(task, before.attempts + 1, output);
        Progress now = before.with(end);
        progress = now;
        if (end.succeeded() || isStopped(end) || now.attempts >= task.retry().attempts()) {
            return result(now, state(now));
        }
        throw new AttemptFailedException(end);
    }

    Duration rest(int attempt) {
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
        resting = true;
        return stop.isRequested() ? Duration.ZERO : pause;
    }

    /** Whether it waits for its next attempt. */
    boolean isResting() {
        return resting;
    }

    /** Whether its first attempt has begun. */
    boolean hasBegun() {
        return progress != null;
    }

    /** How a task went whose next attempt does not come, because the run was stopped while it rested. */
    TaskResult stopped() {
        return result(progress(), TaskState.CANCELLED);
    }

    /** How a task went whose process does not end. */
    TaskResult abandoned(String error) {
        return new TaskResult(
                task.id(),
                task.group(),
                task.command().shown(),
                TaskState.CANCELLED,
                null,
                progress().started + 1,
                0,
                millisSinceSubmission(),
                output.name(),
                error);
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

    /** Whether nothing more is to be started for a task. What got its thread before a drain began is still started. */
    private boolean isOver(int attempts) {
        return stop.isEnding() || Thread.currentThread().isInterrupted() || (attempts > 0 && stop.isRequested());
    }

    /** Whether a stop of the whole run is behind this end. */
    private boolean isStopped(AttemptEnd end) {
        // Every process of a terminal or a service gets the signal at once; one may die before this process hears of
        // it.
        return diedOfSignal(end) ? isStoppedSoon() : stop.isRequested();
    }

    private static boolean diedOfSignal(AttemptEnd end) {
        Integer exitCode = end.exitCode();
        return exitCode != null && DIED_OF_A_SIGNAL_TO_ALL.contains(exitCode);
    }

    private boolean isStoppedSoon() {
        try {
            return stop.await(NEWS);
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
        boolean unfinished = now.attempts < task.retry().attempts() || diedOfSignal(end);
        if (end instanceof AttemptEnd.Stopped || stop.isEnding() || (stop.isRequested() && unfinished)) {
            return TaskState.CANCELLED;
        }
        return end instanceof AttemptEnd.TimedOut ? TaskState.TIMED_OUT : TaskState.FAILED;
    }

    private TaskResult result(Progress now, TaskState state) {
        return new TaskResult(
                task.id(),
                task.group(),
                task.command().shown(),
                state,
                now.last.exitCode(),
                now.started,
                (now.begin - submitted) / 1_000_000,
                (System.nanoTime() - now.begin) / 1_000_000,
                now.started == 0 ? null : output.name(),
                error(now, state));
    }

    private @Nullable String error(Progress now, TaskState state) {
        int most = task.retry().attempts();
        return switch (state) {
            case SUCCEEDED -> null;
            case CANCELLED -> now.attempts == 0 ? NOT_STARTED : STOPPED;
            default -> most == 1 ? now.last.text() : now.last.text() + ", attempt " + now.attempts + " of " + most;
        };
    }
}
