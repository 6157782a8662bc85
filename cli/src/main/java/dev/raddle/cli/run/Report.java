package dev.raddle.cli.run;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The report of a run as a JSON file: first the totals, then a line for every task.
 *
 * @param directory the run directory, or null if nothing is kept
 * @param limitOf the function from a group to its limit
 * @param outputs the outputs of the tasks whose results are requested, by id
 * @param undone the tasks whose undo command ran, with why it failed, or an empty text
 * @param succeededBefore the number of tasks that succeeded in the earlier runs that this one resumed
 */
public record Report(
        String name,
        @Nullable Path directory,
        Instant startedAt,
        Instant endedAt,
        int exitCode,
        long succeededBefore,
        Summary summary,
        ToIntFunction<String> limitOf,
        Map<String, @Nullable String> outputs,
        Map<String, String> undone,
        Tasks tasks) {

    /** Passes every result to an action. */
    @FunctionalInterface
    public interface Tasks {
        void forEach(Action<TaskResult> action) throws IOException;
    }

    /** An action that may fail to read or write a file. */
    @FunctionalInterface
    public interface Action<T> {
        void accept(T item) throws IOException;
    }

    /** Writes the report; a reader sees the old or the new file, never a part of it. */
    void write(Path path) throws IOException {
        if (directory != null && path.startsWith(directory)) {
            WholeFile.write(path, this::writeTo);
        } else {
            WholeFile.writeNamed(path, this::writeTo);
        }
    }

    private void writeTo(BufferedWriter writer) throws IOException {
        writer.write("{\n");
        for (Map.Entry<String, @Nullable Object> field : head().entrySet()) {
            writer.write("  " + Json.text(field.getKey()) + ": " + Json.text(field.getValue()) + ",\n");
        }
        writer.write("  \"tasks\": [");
        String[] separator = {"\n    "}; // before the next line
        tasks.forEach(result -> {
            writer.write(separator[0] + Json.text(fields(result)));
            separator[0] = ",\n    ";
        });
        writer.write("\n  ]\n}\n");
    }

    private Map<String, @Nullable Object> fields(TaskResult result) {
        Map<String, @Nullable Object> fields = result.fields();
        String error = undone.get(result.id());
        if (error != null) {
            fields.put("undone", error.isEmpty());
            if (!error.isEmpty()) {
                fields.put("undoError", error);
            }
        }
        return fields;
    }

    private Map<String, @Nullable Object> head() {
        Map<String, @Nullable Object> head = new LinkedHashMap<>();
        head.put("name", name);
        head.put("directory", directory == null ? null : RunDirectory.shown(directory));
        head.put("startedAt", startedAt);
        head.put("endedAt", endedAt);
        head.put("wallMillis", summary.wall().toMillis());
        head.put("exitCode", exitCode);
        head.put("succeededBefore", succeededBefore);
        head.put("totals", summary.totals().fields());
        Account account = summary.account();
        if (account != null) {
            head.put("account", account.fields());
        }
        Map<String, Object> groups = new LinkedHashMap<>();
        summary.groups().forEach((group, counts) -> {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("limit", limitOf.applyAsInt(group));
            fields.putAll(counts.fields());
            groups.put(group, fields);
        });
        head.put("groups", groups);
        if (!outputs.isEmpty()) {
            head.put("outputs", outputs);
        }
        List<Map<String, Object>> slowest =
                summary.slowest().stream().map(Report::brief).toList();
        head.put("slowest", slowest);
        return head;
    }

    private static Map<String, Object> brief(TaskResult result) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("id", result.id());
        fields.put("group", result.group());
        fields.put("state", result.state().text());
        fields.put("waitMillis", result.waitMillis());
        fields.put("runMillis", result.runMillis());
        return fields;
    }
}
