package dev.raddle.cli.show;

import dev.raddle.cli.run.Account;
import dev.raddle.cli.run.Counts;
import dev.raddle.cli.run.RunEvent;
import dev.raddle.cli.run.Summary;
import dev.raddle.cli.run.TaskResult;
import dev.raddle.cli.run.TaskState;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Events for tests. */
final class Events {
    static final Instant NOW = Instant.parse("2026-01-31T09:30:00Z");
    static final Path DIRECTORY = Path.of("").toAbsolutePath().resolve("runs/checks");
    static final Path REPORT = DIRECTORY.resolve("report.json");

    private Events() {}

    static RunEvent begin(long tasks, int groups) {
        return new RunEvent.RunStarted(NOW, "checks", tasks, groups, DIRECTORY, 0);
    }

    static RunEvent queued(String id, String group) {
        return new RunEvent.TaskQueued(NOW, id, group);
    }

    static RunEvent started(String id, String group) {
        return new RunEvent.AttemptStarted(NOW, id, group, 1, 1, 4711, NOW, null);
    }

    static RunEvent ended(String id, String group, TaskState state, @Nullable String output, @Nullable String error) {
        boolean ran = state != TaskState.REJECTED;
        Integer exitCode = state == TaskState.SUCCEEDED ? Integer.valueOf(0) : null;
        return new RunEvent.TaskEnded(
                NOW,
                new TaskResult(id, group, "echo x", state)
                        .withAttempts(ran ? 1 : 0, exitCode)
                        .withTimes(5, 210)
                        .withOutput(output)
                        .withError(error));
    }

    static RunEvent succeeded(String id, String group) {
        return ended(id, group, TaskState.SUCCEEDED, null, null);
    }

    static RunEvent failed(String id, String group, @Nullable String output) {
        return ended(id, group, TaskState.FAILED, output, "exit code 1");
    }

    static RunEvent dropped(String id, String group) {
        return new RunEvent.TaskEnded(
                NOW,
                new TaskResult(id, group, "echo x", TaskState.CANCELLED)
                        .withTimes(5, 0)
                        .withError("not started"));
    }

    static RunEvent drained(int tasks, List<String> handedBack) {
        Counts totals = new Counts(tasks, 3, 0, 0, 0, tasks - 3, 0, 4, 10, 400, 2);
        Account account = new Account(1, 2, tasks - 3 - handedBack.size(), handedBack, 0);
        return new RunEvent.RunEnded(
                NOW, new Summary(totals, Map.of(), List.of(), Duration.ofMillis(3210), account), 130, REPORT);
    }

    static RunEvent end(int exitCode, long succeeded, long failed) {
        Counts totals = new Counts(succeeded + failed, succeeded, failed, 0, 0, 0, 0, 4, 10, 400, 2);
        return new RunEvent.RunEnded(
                NOW, new Summary(totals, Map.of(), List.of(), Duration.ofMillis(3210), null), exitCode, REPORT);
    }

    /** The end of a run whose report could not be written. */
    static RunEvent endWithoutReport() {
        RunEvent.RunEnded end = (RunEvent.RunEnded) end(70, 1, 0);
        return new RunEvent.RunEnded(end.time(), end.summary(), end.exitCode(), null);
    }
}
