package dev.raddle.cli.run;

import dev.raddle.cli.file.PlannedTask;
import java.time.Duration;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;

/** Runs one task after the other, each in the thread that calls: its attempts and the pauses between them. */
final class TaskRunner {
    /** How long a process that died of SIGINT may be ahead of the news that the whole run was interrupted. */
    private static final Duration NEWS = Duration.ofMillis(250);

    private static final int DIED_OF_SIGINT = 130;

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

    /** Runs a task to its end. Called by one thread for each task, which holds the task's permit. */
    TaskResult run(PlannedTask task, OutputFiles output, Duration waited) throws InterruptedException {
        long start = System.nanoTime();
        int attempt = 0;
        int started = 0;
        AttemptEnd end = new AttemptEnd.Stopped(null);
        while (!stop.isRequested()) {
            attempt++;
            end = launcher.attempt(task, attempt, output);
            started += end instanceof AttemptEnd.NotStarted ? 0 : 1;
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
            stop.await(pause);
        }
        return new TaskResult(
                task.id(),
                task.group(),
                task.command().shown(),
                state(end),
                end.exitCode(),
                started,
                waited.toMillis(),
                (System.nanoTime() - start) / 1_000_000,
                started == 0 ? null : output.name(),
                error(task, end, attempt));
    }

    /** Whether a stop of the whole run is behind this end. */
    private boolean isStopped(AttemptEnd end) throws InterruptedException {
        Integer exitCode = end.exitCode();
        // Ctrl-C reaches every process of a terminal at once; the command may die before this process hears of it.
        return (exitCode != null && exitCode == DIED_OF_SIGINT) ? stop.await(NEWS) : stop.isRequested();
    }

    private TaskState state(AttemptEnd end) {
        if (end.succeeded()) {
            return TaskState.SUCCEEDED;
        }
        if (stop.isRequested()) {
            return TaskState.CANCELLED;
        }
        return end instanceof AttemptEnd.TimedOut ? TaskState.TIMED_OUT : TaskState.FAILED;
    }

    private @Nullable String error(PlannedTask task, AttemptEnd end, int attempt) {
        if (end.succeeded()) {
            return null;
        }
        if (stop.isRequested()) {
            return attempt == 0 ? "not started, the run was stopped" : "stopped with the run";
        }
        return task.retry().attempts() == 1
                ? end.text()
                : end.text() + ", attempt " + attempt + " of " + task.retry().attempts();
    }
}
