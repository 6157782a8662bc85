package dev.raddle.cli.run;

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

    /** Returns this result with another wait time. */
    TaskResult withWait(long millis) {
        return with(millis, error, endedAt);
    }

    /** Returns this result with a time, or without one. */
    public TaskResult endedAt(@Nullable Instant time) {
        return with(waitMillis, error, time);
    }

    /** Returns this result without secrets. Its command has none. */
    TaskResult masked(Secrets secrets) {
        return with(waitMillis, error == null ? null : secrets.mask(error), endedAt);
    }

    private TaskResult with(long wait, @Nullable String why, @Nullable Instant end) {
        return new TaskResult(
                id, group, command, state, exitCode, attempts, wait, runMillis, output, why, via, end, usage);
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
