package dev.raddle.cli.run;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Something that happened in a run. */
public sealed interface RunEvent {

    Instant time();

    /**
     * The run begins.
     *
     * @param tasks how many there are, or -1 if that is not known yet
     * @param groups how many groups they are in, or -1
     * @param directory the run directory, or null if nothing is kept
     * @param succeededBefore how many succeeded in an earlier run that this one resumes
     */
    record RunStarted(
            Instant time,
            String name,
            long tasks,
            int groups,
            @Nullable Path directory,
            long succeededBefore) implements RunEvent {}

    /** A task was submitted; it waits unless another event follows. */
    record TaskQueued(Instant time, String id, String group) implements RunEvent {}

    /**
     * The command of a task was started.
     *
     * @param born when the operating system says that the process began; with the pid it names the process for good
     * @param token the token in its environment and in those of the processes that it starts, or null
     */
    record AttemptStarted(
            Instant time,
            String id,
            String group,
            int attempt,
            int attempts,
            long pid,
            @Nullable Instant born,
            @Nullable String token)
            implements RunEvent {

        /** One of a process without a token. */
        public AttemptStarted(
                Instant time, String id, String group, int attempt, int attempts, long pid, @Nullable Instant born) {
            this(time, id, group, attempt, attempts, pid, born, null);
        }
    }

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
     * A task that had succeeded was taken back, because the run failed.
     *
     * @param error why that did not work, or null if it did
     */
    record TaskUndone(
            Instant time, String id, String group, @Nullable String error) implements RunEvent {}

    /** From now on nothing new is started and what runs is told to end. */
    record RunStopping(Instant time, Stop.Reason reason) implements RunEvent {}

    /**
     * Every task has ended. Always the last event.
     *
     * @param exitCode what the process ends with, also when a report could not be written
     * @param report the report in the run directory, or null if there is none
     */
    record RunEnded(
            Instant time,
            Summary summary,
            int exitCode,
            @Nullable Path report) implements RunEvent {}
}
