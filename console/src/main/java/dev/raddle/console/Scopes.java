package dev.raddle.console;

import dev.raddle.scope.ScopeDump;
import dev.raddle.scope.ThreadScope;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The trees of the watched scopes. */
final class Scopes {

    private static final int MOST_ROOTS = 50;

    record TaskRow(
            String name,
            String state,
            @Nullable Long sinceAt,
            @Nullable String thread,
            @Nullable String stack) {}

    /** A scope, inside the last one before it whose depth is less: JSON must not be nested as deeply as scopes are. */
    record Row(
            int depth,
            String name,
            String state,
            String startedBy,
            @Nullable String owner,
            List<TaskRow> tasks) {}

    record Rows(List<Row> scopes) {}

    record Summary(int count) {}

    private final Watched<ThreadScope> scopes = new Watched<>(scope -> false);

    /** Adds a scope, which is forgotten when it has closed and all its tasks have ended. */
    Console.Watch add(String name, ThreadScope scope) {
        Console.Watch watch = scopes.add(name + "#" + scope.id(), scope);
        scope.defer(watch::close);
        return watch;
    }

    Summary summary() {
        return new Summary(scopes.all().size());
    }

    Rows rows(long now) {
        List<Row> rows = new ArrayList<>();
        Set<String> shown = new HashSet<>(); // roots: two scopes of one tree have the same
        for (ThreadScope scope : scopes.all().values()) {
            if (shown.size() < MOST_ROOTS) {
                addTree(scope, shown, rows, now);
            }
        }
        return new Rows(rows);
    }

    /** Adds the tree of a scope, in the order of its dump: a scope comes after its parent. */
    private static void addTree(ThreadScope scope, Set<String> shown, List<Row> rows, long now) {
        Map<String, Integer> depths = new HashMap<>();
        Map<Long, String> owners = new HashMap<>();
        for (JsonNode container :
                Json.read(ScopeDump.json(scope)).path("threadDump").path("threadContainers")) {
            String name = container.path("container").asString("");
            if (!name.equals("<root>")) {
                int depth = 1 + depths.getOrDefault(container.path("parent").asString(""), -1);
                if (depth == 0 && !shown.add(name)) {
                    return;
                }
                depths.put(name, depth);
                rows.add(row(name, depth, container, owners, now));
            }
            for (JsonNode thread : container.path("threads")) {
                owners.put(number(thread.path("tid")), thread.path("name").asString(""));
            }
        }
    }

    private static Row row(String name, int depth, JsonNode container, Map<Long, String> owners, long now) {
        List<TaskRow> tasks = new ArrayList<>();
        container.path("threads").forEach(thread -> tasks.add(task(thread.path("subtask"), thread, now)));
        container.path("waiting").forEach(task -> tasks.add(task(task, null, now)));
        return new Row(
                depth,
                name.contains("/") ? name.substring(0, name.lastIndexOf('/')) : name,
                container.path("state").asString(""),
                container.path("startedBy").asString(""),
                owners.get(number(container.path("owner"))),
                tasks);
    }

    private static TaskRow task(JsonNode task, @Nullable JsonNode thread, long now) {
        StringBuilder stack = new StringBuilder();
        if (thread != null) {
            thread.path("stack")
                    .forEach(frame ->
                            stack.append("    at ").append(frame.asString("")).append('\n'));
        }
        return new TaskRow(
                task.path("name").asString(""),
                task.path("state").asString(""),
                toTenths(now - number(task.path("ageMillis"))),
                thread == null ? null : thread.path("name").asString(""),
                thread == null ? null : stack.toString());
    }

    /** Returns a number, which a dump has in quotes. */
    private static long number(JsonNode quoted) {
        return Long.parseLong(quoted.asString("0"));
    }

    /** Returns a moment to a tenth of a second, so that it is mostly the same in each sample. */
    private static long toTenths(long at) {
        return (at + 50) / 100 * 100;
    }
}
