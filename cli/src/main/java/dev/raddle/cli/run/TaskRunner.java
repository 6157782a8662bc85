package dev.raddle.cli.run;

import dev.raddle.cli.file.PlannedTask;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Runs one task after the other, each in the thread that calls: its attempts and the pauses between them. */
final class TaskRunner {
    /** How long a process that died of SIGINT or SIGTERM may be ahead of the news that the signal was for the whole run. */
    private static final Duration NEWS = Duration.ofMillis(250);

    private static final Set<Integer> DIED_OF_A_SIGNAL_TO_ALL = Set.of(130, 143);

    static final String NOT_STARTED = "not started, the run was stopped";
    static final String STOPPED = "stopped with the run";

    private final EventLoop events;
    private final Stop stop;
    private final InstantSource clock;
    private final Launcher launcher;

    TaskRunner(EventLoop events, Stop stop, InstantSource clock) {
        this.events = events;
        this.stop = stop;
        this.clock = clock;
        this.launcher = new Launcher(events, stop, clock);
    }

    /**
     * Runs a task to its end. Called by one thread for each task, which holds the task's permit. An interrupt of that thread
     * ends the task as {@link Stop} does.
     */
    TaskResult run(PlannedTask task, OutputFiles output, Duration waited) {
        long start = System.nanoTime();
        int attempt = 0;
        int started = 0;
        AttemptEnd end = new AttemptEnd.Stopped(null);
        while (!isOver(attempt)) {
            attempt++;
            end = launcher.attempt(task, attempt, output);
            started += end.started() ? 1 : 0;
            if (end.succeeded() || isStopped(end) || attempt >= task.retry().attempts()) {
                break;
            }
            Duration pause = task.retry().backoff().after(attempt);
            events.post(new RunEvent.AttemptFailed(
                    clock.instant(),
                    task.id(),
                    task.group(),
                    attempt,
                    task.retry().attempts(),
                    end.exitCode(),
                    end.text(),
                    pause));
            isStoppedWithin(pause);
        }
        TaskState state = state(task, end, attempt);
        return new TaskResult(
                task.id(),
                task.group(),
                task.command().shown(),
                state,
                end.exitCode(),
                started,
                waited.toMillis(),
                (System.nanoTime() - start) / 1_000_000,
                started == 0 ? null : output.name(),
                error(task, state, end, attempt));
    }

    /** Whether nothing more is to be started for a task. What got its thread before a drain began is still started. */
    private boolean isOver(int attempts) {
        return stop.isEnding() || Thread.currentThread().isInterrupted() || (attempts > 0 && stop.isRequested());
    }

    /** Whether a stop of the whole run is behind this end. */
    private boolean isStopped(AttemptEnd end) {
        // Every process of a terminal or a service gets the signal at once; one may die before this process hears of
        // it.
        return diedOfSignal(end) ? isStoppedWithin(NEWS) : stop.isRequested();
    }

    private static boolean diedOfSignal(AttemptEnd end) {
        Integer exitCode = end.exitCode();
        return exitCode != null && DIED_OF_A_SIGNAL_TO_ALL.contains(exitCode);
    }

    private boolean isStoppedWithin(Duration time) {
        try {
            return stop.await(time);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }

    private TaskState state(PlannedTask task, AttemptEnd end, int attempt) {
        if (end.succeeded()) {
            return TaskState.SUCCEEDED;
        }
        boolean unfinished = attempt < task.retry().attempts() || diedOfSignal(end);
        if (end instanceof AttemptEnd.Stopped || stop.isEnding() || (stop.isRequested() && unfinished)) {
            return TaskState.CANCELLED;
        }
        return end instanceof AttemptEnd.TimedOut ? TaskState.TIMED_OUT : TaskState.FAILED;
    }

    private static @Nullable String error(PlannedTask task, TaskState state, AttemptEnd end, int attempt) {
        return switch (state) {
            case SUCCEEDED -> null;
            case CANCELLED -> attempt == 0 ? NOT_STARTED : STOPPED;
            default ->
                task.retry().attempts() == 1
                        ? end.text()
                        : end.text() + ", attempt " + attempt + " of "
                                + task.retry().attempts();
        };
    }
}
