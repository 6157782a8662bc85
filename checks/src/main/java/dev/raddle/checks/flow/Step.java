package dev.raddle.checks.flow;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * One step of an action.
 *
 * @param word the name of the step
 * @param arguments the arguments, of the kinds that the word takes
 */
record Step(String word, List<Object> arguments) {

    private enum Kind {
        VALUE,
        TEXT,
        COUNT,
        IDS
    }

    private static final Map<String, List<Kind>> WORDS = Map.ofEntries(
            Map.entry("return", List.of(Kind.VALUE)),
            Map.entry("fail", List.of(Kind.TEXT)),
            Map.entry("error", List.of(Kind.TEXT)),
            Map.entry("failTimes", List.of(Kind.COUNT, Kind.TEXT)),
            Map.entry("await", List.of(Kind.TEXT)),
            Map.entry("awaitU", List.of(Kind.TEXT)),
            Map.entry("open", List.of(Kind.TEXT)),
            Map.entry("barrier", List.of(Kind.TEXT, Kind.COUNT)),
            Map.entry("concat", List.of(Kind.IDS, Kind.TEXT)),
            Map.entry("sum", List.of(Kind.IDS)),
            Map.entry("peek", List.of(Kind.IDS)),
            Map.entry("state", List.of(Kind.IDS)),
            Map.entry("param", List.of()),
            Map.entry("context", List.of()),
            Map.entry("threadName", List.of()),
            Map.entry("awaitIfParam", List.of(Kind.VALUE, Kind.TEXT)));

    /** Reads a list of steps; one step alone, {@code ["fail", "boom"]}, is a list of one. */
    static List<Step> parseAll(String where, Object value) {
        if (value instanceof List<?> list && !list.isEmpty() && list.getFirst() instanceof String) {
            return List.of(parse(where, value));
        }
        List<Step> steps = new ArrayList<>();
        for (Object each : JsonObject.list(where, value)) {
            steps.add(parse(where, each));
        }
        return steps;
    }

    private static Step parse(String where, Object value) {
        List<Object> parts =
                value instanceof String word ? List.of(word) : JsonObject.list("a step of " + where, value);
        if (parts.isEmpty()) {
            throw new CaseFormatException(
                    "a step of " + where + " is empty; it begins with a word, such as \"return\"");
        }
        String word = JsonObject.text("a step of " + where, parts.getFirst());
        List<Kind> kinds = WORDS.get(word);
        if (kinds == null) {
            throw new CaseFormatException(where + " has the unknown step \"" + word + "\"; known are "
                    + WORDS.keySet().stream().sorted().toList());
        }
        List<Object> arguments = parts.subList(1, parts.size());
        String call = "step \"" + word + "\" of " + where;
        if (arguments.size() != kinds.size()) {
            throw new CaseFormatException(
                    call + " takes " + kinds.size() + " arguments, was given " + arguments.size() + ": " + arguments);
        }
        List<Object> checked = new ArrayList<>();
        for (int i = 0; i < kinds.size(); i++) {
            checked.add(check(call, kinds.get(i), arguments.get(i)));
        }
        return new Step(word, checked);
    }

    private static Object check(String call, Kind kind, Object argument) {
        return switch (kind) {
            case VALUE -> argument;
            case TEXT -> JsonObject.text(call, argument);
            case COUNT -> (int) JsonObject.number(call, argument);
            case IDS -> {
                List<String> ids = new ArrayList<>();
                for (Object id : argument instanceof String one ? List.of(one) : JsonObject.list(call, argument)) {
                    ids.add(JsonObject.text(call, id));
                }
                yield ids;
            }
        };
    }

    String text(int argument) {
        return (String) arguments.get(argument);
    }

    int count(int argument) {
        return (Integer) arguments.get(argument);
    }

    @SuppressWarnings("unchecked") // check() accepts nothing else
    List<String> ids() {
        return (List<String>) arguments.getFirst();
    }

    /** Returns whether this step blocks its thread until another event occurs. */
    boolean holdsThread() {
        return switch (word) {
            case "await", "awaitU", "barrier", "awaitIfParam" -> true;
            default -> false;
        };
    }
}
