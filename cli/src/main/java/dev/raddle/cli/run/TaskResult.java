package dev.raddle.cli.run;

import dev.raddle.cli.file.JsonLine;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * How one task went.
 *
 * @param command the command as a person would type it
 * @param exitCode of the last attempt; null if it could not be started or never was
 * @param attempts how often its command was started
 * @param waitMillis from submission to the first attempt
 * @param runMillis from the first attempt to the end of the last, pauses included
 * @param output the file with what it printed, or null if it never ran or nobody keeps it
 * @param error why it did not succeed, or not by itself
 * @param via {@value #VIA_FALLBACK}, or null if its own command decided
 * @param endedAt when it ended, or null if that is not known
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
        @Nullable Instant endedAt) {
    /** Its fallback made up for its failure. */
    public static final String VIA_FALLBACK = "fallback";

    /** How a task went whose own command decided that, at some time. */
    public TaskResult(
            String id,
            String group,
            String command,
            TaskState state,
            @Nullable Integer exitCode,
            int attempts,
            long waitMillis,
            long runMillis,
            @Nullable String output,
            @Nullable String error) {
        this(id, group, command, state, exitCode, attempts, waitMillis, runMillis, output, error, null, null);
    }

    /** The same at a time. */
    TaskResult endedAt(Instant time) {
        return new TaskResult(
                id, group, command, state, exitCode, attempts, waitMillis, runMillis, output, error, via, time);
    }

    public boolean succeeded() {
        return state == TaskState.SUCCEEDED;
    }

    /** The same in the order of the documented fields. */
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
        return fields;
    }

    /** What {@link #fields} wrote; empty if it did not write this. */
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
                line.text("endedAt").flatMap(TaskResult::time).orElse(null)));
    }

    private static Optional<Instant> time(String text) {
        try {
            return Optional.of(Instant.parse(text));
        } catch (DateTimeParseException e) {
            return Optional.empty();
        }
    }
}
