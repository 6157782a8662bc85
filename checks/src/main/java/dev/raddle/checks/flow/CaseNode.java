package dev.raddle.checks.flow;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * One node of a case.
 *
 * @param id the name
 * @param steps the steps of its action
 * @param join the number of its must upstreams that have to succeed
 * @param defaultValue the default, or null
 * @param fallback the fallback, or null
 * @param timeoutMs the timeout, or 0
 * @param interruptible whether a timeout may interrupt it
 * @param retries the maximum number of further attempts
 * @param essential whether it runs even if it is unneeded
 * @param condition the condition under which it runs, or null
 * @param onBegin the steps of its begin callback
 * @param onResult the steps of its result callback
 */
record CaseNode(
        String id,
        List<Step> steps,
        Join join,
        ValueOrFailure defaultValue,
        ValueOrFailure fallback,
        long timeoutMs,
        boolean interruptible,
        int retries,
        boolean essential,
        ValueOrFailure condition,
        List<Step> onBegin,
        List<Step> onResult) {

    /**
     * The number of upstreams that have to succeed.
     *
     * @param atLeast the number; {@link #ALL} for all
     */
    record Join(int atLeast) {
        static final int ALL = Integer.MIN_VALUE;

        static Join parse(String where, Object value) {
            if (value == null || value.equals("all")) {
                return new Join(ALL);
            }
            if (value.equals("any")) {
                return new Join(1);
            }
            if (value instanceof String text && text.matches("atLeast[ :(]?\\s*-?\\d+\\)?")) {
                return new Join(Integer.parseInt(text.replaceAll("[^-\\d]", "")));
            }
            if (value instanceof List<?> list && list.size() == 2 && "atLeast".equals(list.getFirst())) {
                return new Join((int) JsonObject.number(where + ".join", list.get(1)));
            }
            if (value instanceof String) {
                throw new CaseFormatException(
                        where + " has the unknown join " + JsonObject.show(value) + "; known are all, any, atLeast 2");
            }
            JsonObject map = JsonObject.of(where + ".join", value);
            Join join = new Join((int) map.number("atLeast", 0));
            map.checkNoUnknownKeys();
            return join;
        }
    }

    /**
     * A value, or a failure to supply one.
     *
     * @param value the value
     * @param failure the message of the exception that is thrown instead, or null
     */
    record ValueOrFailure(Object value, String failure) {

        private static final Set<String> FAILURES = Set.of("fail", "error", "throw", "throws");

        /** Reads a value; {@code {"fail": "boom"}} and {@code ["fail", "boom"]} are failures. */
        static ValueOrFailure parse(Object value) {
            if (value instanceof Map<?, ?> map && map.size() == 1) {
                Map.Entry<?, ?> only = map.entrySet().iterator().next();
                if (only.getKey() instanceof String word && FAILURES.contains(word)) {
                    return new ValueOrFailure(null, String.valueOf(only.getValue()));
                }
            }
            if (value instanceof List<?> list
                    && list.size() == 2
                    && list.getFirst() instanceof String word
                    && FAILURES.contains(word)) {
                return new ValueOrFailure(null, String.valueOf(list.get(1)));
            }
            return new ValueOrFailure(value, null);
        }

        Object get() {
            if (failure != null) {
                throw new IllegalStateException(failure);
            }
            return value;
        }
    }

    CaseNode(String id, Step... steps) {
        this(id, List.of(steps), new Join(Join.ALL), null, null, 0, true, 0, false, null, List.of(), List.of());
    }

    CaseNode joined(int atLeast) {
        return new CaseNode(
                id,
                steps,
                new Join(atLeast),
                defaultValue,
                fallback,
                timeoutMs,
                interruptible,
                retries,
                essential,
                condition,
                onBegin,
                onResult);
    }

    static CaseNode parse(Object value) {
        String id = JsonObject.of("a node", value).text("id", null);
        if (id == null) {
            throw new CaseFormatException("a node has no \"id\"");
        }
        String where = "node \"" + id + "\"";
        JsonObject map = JsonObject.of(where, value);
        map.get("id");
        CaseNode node = new CaseNode(
                id,
                map.has("steps") ? Step.parseAll(where, map.get("steps")) : List.of(),
                Join.parse(where, map.get("join")),
                given(map, "default", "defaultFails", "defaultThrows"),
                given(map, "fallback", "fallbackFails", "fallbackThrows"),
                map.number("timeoutMs", 0),
                interruptible(map),
                (int) map.number("retries", 0),
                map.flag("essential"),
                given(map, "when", "condition", "conditionFails", "conditionThrows", "whenFails", "whenThrows"),
                callback(where, map, "begin", "onBegin", "begin", "beginCallback", "beginFails", "beginThrows"),
                callback(where, map, "result", "onResult", "result", "resultCallback", "resultFails", "resultThrows"));
        map.get("note");
        map.checkNoUnknownKeys();
        return node;
    }

    private static boolean interruptible(JsonObject map) {
        boolean noInterrupt = map.flag("noInterrupt");
        return map.has("interrupt") ? map.flag("interrupt") : !noInterrupt;
    }

    private static ValueOrFailure given(JsonObject map, String... spellings) {
        String key = map.spelling(spellings);
        if (key == null) {
            return null;
        }
        Object value = map.get(key);
        return failing(key) ? new ValueOrFailure(null, message(key, value)) : ValueOrFailure.parse(value);
    }

    /** Reads the steps of one callback: its own steps or failure message, or those that both callbacks share. */
    private static List<Step> callback(String where, JsonObject map, String which, String... spellings) {
        String own = map.spelling(spellings);
        String shared = map.spelling("callback", "callbackFails", "callbackThrows");
        if (own == null && (shared == null || !isFor(which, map.get(shared)))) {
            return List.of();
        }
        String key = own == null ? shared : own;
        Object value = map.get(key);
        if (value instanceof List<?>) {
            return Step.parseAll(where + "." + key, value);
        }
        String message = String.valueOf(value);
        return message.startsWith("error ")
                ? List.of(new Step("error", List.of(message.substring(6))))
                : List.of(new Step("fail", List.of(message.startsWith("fail ") ? message.substring(5) : message)));
    }

    /**
     * Returns whether a shared value is for the callback; a value that names no callback is for the result callback.
     */
    private static boolean isFor(String which, Object value) {
        return which.equals(value) || "both".equals(value) || (which.equals("result") && !"begin".equals(value));
    }

    private static boolean failing(String key) {
        return key.endsWith("Fails") || key.endsWith("Throws");
    }

    private static String message(String key, Object value) {
        return value instanceof String text ? text : key;
    }

    boolean holdsThread() {
        return steps.stream().anyMatch(Step::holdsThread);
    }
}
