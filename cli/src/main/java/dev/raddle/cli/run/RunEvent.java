package dev.raddle.cli.run;

import dev.raddle.cli.file.value.Secrets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** An event of a run. */
public sealed interface RunEvent {

    Instant time();

    /** Returns this event without secrets, which only the reasons of failures may contain. */
    default RunEvent masked(Secrets secrets) {
        if (secrets.isEmpty()) {
            return this;
        }
        return switch (this) {
            case AttemptFailed e ->
                new AttemptFailed(
                        e.time, e.id, e.group, e.attempt, e.attempts, e.exitCode, secrets.mask(e.error), e.pause);
            case TaskEnded e -> new TaskEnded(e.time, e.result.masked(secrets));
            case TaskUndone e -> new TaskUndone(e.time, e.id, e.group, e.error == null ? null : secrets.mask(e.error));
            default -> this;
        };
    }

    /**
     * The run begins.
     *
     * @param tasks the number of tasks, or -1 if it is not known yet
     * @param groups the number of their groups, or -1
     * @param directory the run directory, or null if nothing is kept
     * @param succeededBefore the number of tasks that succeeded in an earlier run that this one resumes
     */
    record RunStarted(
            Instant time,
            String name,
            long tasks,
            int groups,
            @Nullable Path directory,
            long succeededBefore) implements RunEvent {}

    /** A task was submitted; it waits until another event follows. */
    record TaskQueued(Instant time, String id, String group) implements RunEvent {}

    /**
     * The command of a task was started.
     *
     * @param processStart the start of the process as reported by the operating system; with the pid it identifies the
     *     process uniquely
     * @param token the token in its environment and in those of its descendants, or null
     */
    record AttemptStarted(
            Instant time,
            String id,
            String group,
            int attempt,
            int attempts,
            long pid,
            @Nullable Instant processStart,
            @Nullable String token)
            implements RunEvent {}

    /** An attempt failed and another follows after a pause. */
    record AttemptFailed(
            Instant time,
            String id,
            String group,
            int attempt,
            int attempts,
            @Nullable Integer exitCode,
            String error,
            Duration pause)
            implements RunEvent {}

    /** A task has ended, or will never begin. */
    record TaskEnded(Instant time, TaskResult result) implements RunEvent {}

    /**
     * A task that had succeeded was undone because the run failed.
     *
     * @param error why undoing failed, or null if it succeeded
     */
    record TaskUndone(
            Instant time, String id, String group, @Nullable String error) implements RunEvent {}

    /** The run is stopping: nothing new is started, and running tasks are ended. */
    record RunStopping(Instant time, Stop.Reason reason) implements RunEvent {}

    /**
     * Every task has ended. Always the last event.
     *
     * @param exitCode the exit code of the process, also when a report could not be written
     * @param report the report in the run directory, or null if there is none
     */
    record RunEnded(
            Instant time,
            Summary summary,
            int exitCode,
            @Nullable Path report) implements RunEvent {}
}
