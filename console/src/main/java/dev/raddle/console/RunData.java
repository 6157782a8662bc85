package dev.raddle.console;

import dev.raddle.flow.PlanEdge;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A run as the page reads it: maps, lists, texts and numbers. What is null or empty is left out. */
final class RunData {

    private RunData() {}

    /** Returns a run with its nodes and their dependencies. */
    static Map<String, Object> of(RunView run) {
        Map<String, Object> data = new LinkedHashMap<>();
        Map<String, ? extends RunView.Node> nodes = run.nodes();
        data.put("row", row(run, nodes));
        Map<String, Object> rows = new LinkedHashMap<>();
        nodes.forEach((id, node) -> rows.put(id, node(node)));
        data.put("nodes", rows);
        data.put("edges", run.edges().stream().map(RunData::edge).toList());
        Finding finding = RunFindings.of(run, null, Long.MAX_VALUE);
        put("findings", finding == null ? List.of() : List.of(Json.plain(finding)), data);
        put("critical", run.criticalPath(), data);
        put("facts", facts(run.facts()), data);
        put("text", run.text(), data);
        return data;
    }

    /** Returns a run as one row of a list. */
    static Map<String, Object> row(RunView run) {
        return row(run, run.nodes());
    }

    private static Map<String, Object> row(RunView run, Map<String, ? extends RunView.Node> nodes) {
        Map<String, Integer> counts = new TreeMap<>();
        nodes.values().forEach(node -> counts.merge(shareOf(node.state()), 1, Integer::sum));
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("name", run.name());
        row.put("label", run.label());
        row.put("state", run.state());
        put("startedAt", run.startedAt(), row);
        put("endedAt", run.endedAt(), row);
        put("why", RunFindings.why(run), row);
        row.put("nodes", nodes.size());
        row.putAll(counts);
        return row;
    }

    /** Returns a run whose code throws. */
    static Map<String, Object> ofUnreadable(RunView run, Throwable failure) {
        return Map.of("row", rowOfUnreadable(run, failure), "nodes", Map.of(), "edges", List.of());
    }

    static Map<String, Object> rowOfUnreadable(RunView run, Throwable failure) {
        String name = run.getClass().getName();
        return Map.of("name", name, "state", "unreadable", "nodes", 0, "error", Failures.lineOf(failure));
    }

    /** Returns for which share of the nodes one in a state counts; the others are in none. */
    private static String shareOf(String state) {
        return switch (state) {
            case "succeeded", "degraded" -> "succeeded";
            case "failed", "timed-out", "rejected" -> "failed";
            case "running" -> "running";
            case "pending", "waiting" -> "pending";
            default -> "other";
        };
    }

    private static Map<String, Object> node(RunView.Node node) {
        Map<String, Object> data = new LinkedHashMap<>();
        data.put("state", node.state());
        put("group", node.group(), data);
        put("why", node.why(), data);
        if (node.takesSignal()) {
            data.put("signal", true);
        }
        put("error", node.error(), data);
        put("readyAt", node.readyAt(), data);
        put("startedAt", node.startedAt(), data);
        put("endedAt", node.endedAt(), data);
        put("attempts", node.attempts().stream().map(RunData::attempt).toList(), data);
        put("facts", facts(node.facts()), data);
        put("text", node.text(), data);
        return data;
    }

    private static Map<String, Object> attempt(RunView.Attempt attempt) {
        Map<String, Object> data = new LinkedHashMap<>();
        put("startedAt", attempt.startedAt(), data);
        put("endedAt", attempt.endedAt(), data);
        put("error", attempt.error(), data);
        return data;
    }

    private static List<String> edge(PlanEdge edge) {
        return List.of(edge.from(), edge.to(), edge.kind());
    }

    /** Returns facts as a list, because an object of JSON has no order. */
    private static List<List<String>> facts(Map<String, String> facts) {
        List<List<String>> list = new ArrayList<>();
        facts.forEach((name, value) -> list.add(List.of(name, value)));
        return list;
    }

    private static void put(String name, @Nullable Object value, Map<String, Object> data) {
        if (value instanceof Instant moment) {
            data.put(name, moment.toEpochMilli());
        } else if (value != null && !(value instanceof Collection<?> all && all.isEmpty())) {
            data.put(name, value);
        }
    }
}
