package dev.raddle.checks.flow;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The expected outcome of a case.
 *
 * @param status the status of the run, or null
 * @param nodes the expectations of the nodes by id; {@code *} stands for the nodes that are not listed
 * @param notRun the ids of nodes whose action is never entered
 * @param order the order of beginnings and ends
 * @param sameThread the ids of nodes that share a thread, in groups
 * @param buildError the words of the report of an invalid plan, or null if it is valid
 * @param runsTotal the number of times that actions are entered in all, or null
 */
record Expectation(
        Object status,
        Map<String, Map<String, Object>> nodes,
        List<String> notRun,
        List<Order> order,
        List<List<String>> sameThread,
        List<String> buildError,
        Object runsTotal) {

    static final String OTHERS = "*";
    private static final String RUNS_TOTAL = "#runsTotal";

    private static final Set<String> NODE_KEYS =
            Set.of("state", "value", "via", "runs", "error", "interrupted", "note");
    private static final Set<String> STATES = Set.of("SUCCESS", "EXCEPTION", "TIMEOUT", "SKIPPED", "CANCELLED");
    private static final Set<String> VIAS = Set.of("ACTION", "FALLBACK", "DEFAULT", "NONE");
    private static final Set<String> STATUSES = Set.of("SUCCESS", "DEGRADED", "FAILED", "CANCELLED", "TIMED_OUT");

    /**
     * One event that must precede another.
     *
     * @param first the node whose action ended
     * @param second the node whose action began, or ended, after that
     * @param end whether the second event is an end
     */
    record Order(String first, String second, boolean end) {

        private static final String END = "!end";

        static Order parse(Object value) {
            List<Object> pair = JsonObject.list("an order", value);
            if (pair.size() != 2) {
                throw new CaseFormatException("an order must be [x, y], was " + pair);
            }
            String second = JsonObject.text("an order", pair.get(1));
            boolean end = second.endsWith(END);
            return new Order(
                    JsonObject.text("an order", pair.get(0)),
                    end ? second.substring(0, second.length() - END.length()) : second,
                    end);
        }
    }

    static Expectation parse(Object value) {
        JsonObject map = JsonObject.of("expect", value);
        Object runsTotal = map.get(RUNS_TOTAL);
        Map<String, Map<String, Object>> nodes = new LinkedHashMap<>();
        Object listed = map.get("nodes");
        if (listed instanceof Map<?, ?> byId) {
            for (Map.Entry<?, ?> entry : byId.entrySet()) {
                if (RUNS_TOTAL.equals(entry.getKey())) {
                    runsTotal = entry.getValue();
                } else {
                    nodes.put(String.valueOf(entry.getKey()), node(entry.getKey(), entry.getValue()));
                }
            }
        } else if (listed != null) {
            throw new CaseFormatException("expect.nodes must be an object, was " + JsonObject.show(listed));
        }
        Expectation expectation = new Expectation(
                known("expect.status", map.get("status"), STATUSES),
                nodes,
                map.texts("notRun"),
                map.list("order").stream().map(Order::parse).toList(),
                groups(map.list("sameThread")),
                buildError(map.get("buildError")),
                runsTotal);
        map.get("note");
        map.get("limitMs"); // FlowCase reads it
        map.checkNoUnknownKeys();
        return expectation;
    }

    private static Map<String, Object> node(Object id, Object value) {
        String where = "the expectation of \"" + id + "\"";
        Map<String, Object> node = new LinkedHashMap<>();
        if (value instanceof String state) {
            node.put("state", state);
        } else if (value instanceof Map<?, ?> map) {
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                String key = String.valueOf(entry.getKey());
                if (!NODE_KEYS.contains(key)) {
                    throw new CaseFormatException(where + " has the unknown key \"" + key + "\"; known are "
                            + NODE_KEYS.stream().sorted().toList());
                }
                node.put(key, entry.getValue());
            }
        } else {
            throw new CaseFormatException(where + " must be an object, was " + JsonObject.show(value));
        }
        known(where + ": state", node.get("state"), STATES);
        known(where + ": via", node.get("via"), VIAS);
        return node;
    }

    private static Object known(String where, Object value, Set<String> words) {
        for (Object each : value instanceof List<?> several ? several : value == null ? List.of() : List.of(value)) {
            if (!(each instanceof String) || !words.contains(each)) {
                throw new CaseFormatException(where + " must be one of "
                        + words.stream().sorted().toList() + ", was " + JsonObject.show(each));
            }
        }
        return value;
    }

    private static List<List<String>> groups(List<Object> value) {
        List<List<String>> groups = new ArrayList<>();
        List<Object> lists = !value.isEmpty() && value.getFirst() instanceof String ? List.of(value) : value;
        for (Object each : lists) {
            groups.add(JsonObject.list("sameThread", each).stream()
                    .map(id -> JsonObject.text("sameThread", id))
                    .toList());
        }
        return groups;
    }

    private static List<String> buildError(Object value) {
        if (value == null) {
            return null;
        }
        return value instanceof String one
                ? List.of(one)
                : JsonObject.list("expect.buildError", value).stream()
                        .map(String::valueOf)
                        .toList();
    }

    /** Returns the expectations of a node, or an empty map. */
    Map<String, Object> of(String id) {
        Map<String, Object> node = nodes.get(id);
        return node != null ? node : nodes.getOrDefault(OTHERS, Map.of());
    }
}
