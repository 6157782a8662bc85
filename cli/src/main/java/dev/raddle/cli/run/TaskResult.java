package dev.raddle.cli.run;

import dev.raddle.cli.file.PlannedTask;
import dev.raddle.cli.file.data.JsonLine;
import dev.raddle.cli.file.value.Secrets;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The result of a task.
 *
 * @param command the command as the user would type it
 * @param exitCode the exit code of the last attempt; null if it was not started
 * @param attempts how often its command was started
 * @param waitMillis the time from submission to the first attempt
 * @param runMillis the time from the first attempt to the end of the last, including pauses
 * @param output the file with its output, or null if it never ran or its output is not kept
 * @param error why it did not succeed, or not by its own command
 * @param via {@value #VIA_FALLBACK}, or null if the result is that of its own command
 * @param endedAt the time of its end, or null if that is unknown
 * @param usage the CPU time and memory of its processes, or null if they are unknown
 */
public record TaskResult(
        String id,
        String group,
        String command,
        TaskState state,
        @Nullable Integer exitCode,
        int attempts,
        long waitMillis,
        long runMillis,
        @Nullable String output,
        @Nullable String error,
        @Nullable String via,
        @Nullable Instant endedAt,
        @Nullable Usage usage) {
    /** The fallback replaced the failed command. */
    public static final String VIA_FALLBACK = "fallback";

    /** Creates the result of a task of which no attempt began, without an error. */
    public TaskResult(String id, String group, String command, TaskState state) {
        this(id, group, command, state, null, 0, 0, 0, null, null, null, null, null);
    }

    /** Returns the result of a task of which no attempt began, without an error. */
    static TaskResult of(PlannedTask task, TaskState state) {
        return new TaskResult(task.id(), task.group(), task.command().shown(), state);
    }

    /** Returns the result of a task that waited and was not started. */
    static TaskResult unstarted(PlannedTask task, TaskState state, long waitMillis, String error) {
        return of(task, state).withTimes(waitMillis, 0).withError(error);
    }

    TaskResult withState(TaskState state) {
        return process(state, exitCode, attempts, waitMillis, runMillis, usage);
    }

    public TaskResult withAttempts(int attempts, @Nullable Integer exitCode) {
        return process(state, exitCode, attempts, waitMillis, runMillis, usage);
    }

    public TaskResult withTimes(long waitMillis, long runMillis) {
        return process(state, exitCode, attempts, waitMillis, runMillis, usage);
    }

    public TaskResult withUsage(@Nullable Usage usage) {
        return process(state, exitCode, attempts, waitMillis, runMillis, usage);
    }

    public TaskResult withOutput(@Nullable String output) {
        return texts(output, error, via, endedAt);
    }

    public TaskResult withError(@Nullable String error) {
        return texts(output, error, via, endedAt);
    }

    public TaskResult withVia(@Nullable String via) {
        return texts(output, error, via, endedAt);
    }

    public TaskResult withEndedAt(@Nullable Instant endedAt) {
        return texts(output, error, via, endedAt);
    }

    private TaskResult process(
            TaskState end, @Nullable Integer exit, int count, long waited, long ran, @Nullable Usage used) {
        return new TaskResult(id, group, command, end, exit, count, waited, ran, output, error, via, endedAt, used);
    }

    private TaskResult texts(@Nullable String file, @Nullable String why, @Nullable String by, @Nullable Instant time) {
        return new TaskResult(
                id, group, command, state, exitCode, attempts, waitMillis, runMillis, file, why, by, time, usage);
    }

    /** Returns this result without secrets. Its command has none. */
    TaskResult masked(Secrets secrets) {
        return error == null ? this : withError(secrets.mask(error));
    }

    public boolean succeeded() {
        return state == TaskState.SUCCEEDED;
    }

    /** Returns the values in the order of the documented fields. */
    public Map<String, @Nullable Object> fields() {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("id", id);
        fields.put("group", group);
        fields.put("command", command);
        fields.put("state", state.text());
        fields.put("exitCode", exitCode);
        fields.put("attempts", attempts);
        fields.put("waitMillis", waitMillis);
        fields.put("runMillis", runMillis);
        fields.put("output", output);
        fields.put("error", error);
        if (via != null) {
            fields.put("via", via);
        }
        if (endedAt != null) {
            fields.put("endedAt", endedAt);
        }
        if (usage != null) {
            fields.put("cpuMillis", usage.cpuMillis());
            if (usage.peakBytes() > 0) {
                fields.put("peakBytes", usage.peakBytes());
            }
        }
        return fields;
    }

    /** Returns the result that {@link #fields} wrote; empty if the object is something else. */
    static Optional<TaskResult> of(JsonLine line) {
        Optional<String> id = line.text("id");
        Optional<TaskState> state = line.text("state").flatMap(TaskState::of);
        if (id.isEmpty() || state.isEmpty()) {
            return Optional.empty();
        }
        OptionalLong exitCode = line.number("exitCode");
        return Optional.of(new TaskResult(
                id.get(),
                line.text("group").orElse(""),
                line.text("command").orElse(""),
                state.get(),
                exitCode.isPresent() ? (int) exitCode.getAsLong() : null,
                (int) line.number("attempts").orElse(0),
                line.number("waitMillis").orElse(0),
                line.number("runMillis").orElse(0),
                line.text("output").orElse(null),
                line.text("error").orElse(null),
                line.text("via").orElse(null),
                line.text("endedAt").flatMap(TaskResult::time).orElse(null),
                usage(line)));
    }

    private static @Nullable Usage usage(JsonLine line) {
        OptionalLong cpuMillis = line.number("cpuMillis");
        return cpuMillis.isEmpty()
                ? null
                : new Usage(cpuMillis.getAsLong(), line.number("peakBytes").orElse(0));
    }

    static Optional<Instant> time(String text) {
        try {
            return Optional.of(Instant.parse(text));
        } catch (DateTimeParseException e) {
            return Optional.empty();
        }
    }
}
