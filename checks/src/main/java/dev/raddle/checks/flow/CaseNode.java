package dev.raddle.checks.flow;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * One node of a case.
 *
 * @param id its name
 * @param steps what its action does
 * @param join how many of its must upstreams have to succeed: all of them, or so many
 * @param defaultValue its default, or null
 * @param fallback its fallback, or null
 * @param timeoutMs its timeout, or 0
 * @param interruptible whether a timeout may interrupt it
 * @param retries how often it is tried again
 * @param essential whether it is never skipped for want of need
 * @param condition whether it runs, or null
 * @param onBegin what its begin callback does besides being recorded
 * @param onResult the same of its result callback
 */
record CaseNode(
        String id,
        List<Step> steps,
        Join join,
        Given defaultValue,
        Given fallback,
        long timeoutMs,
        boolean interruptible,
        int retries,
        boolean essential,
        Given condition,
        List<Step> onBegin,
        List<Step> onResult) {

    /**
     * How many upstreams have to succeed.
     *
     * @param atLeast how many; {@link #ALL} for all
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
                return new Join((int) Keyed.number(where + ".join", list.get(1)));
            }
            if (value instanceof String) {
                throw new CaseFormatException(
                        where + " has the unknown join " + Keyed.show(value) + "; known are all, any, atLeast 2");
            }
            Keyed map = Keyed.of(where + ".join", value);
            Join join = new Join((int) map.number("atLeast", 0));
            map.end();
            return join;
        }
    }

    /**
     * A value, or the failure to give one.
     *
     * @param value the value
     * @param failure the message of what is thrown instead, or null
     */
    record Given(Object value, String failure) {

        private static final Set<String> FAILURES = Set.of("fail", "error", "throw", "throws");

        /** Reads a value; {@code {"fail": "boom"}} and {@code ["fail", "boom"]} are failures. */
        static Given parse(Object value) {
            if (value instanceof Map<?, ?> map && map.size() == 1) {
                Map.Entry<?, ?> only = map.entrySet().iterator().next();
                if (only.getKey() instanceof String word && FAILURES.contains(word)) {
                    return new Given(null, String.valueOf(only.getValue()));
                }
            }
            if (value instanceof List<?> list
                    && list.size() == 2
                    && list.getFirst() instanceof String word
                    && FAILURES.contains(word)) {
                return new Given(null, String.valueOf(list.get(1)));
            }
            return new Given(value, null);
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
        String id = Keyed.of("a node", value).text("id", null);
        if (id == null) {
            throw new CaseFormatException("a node has no \"id\"");
        }
        String where = "node \"" + id + "\"";
        Keyed map = Keyed.of(where, value);
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
        map.end();
        return node;
    }

    private static boolean interruptible(Keyed map) {
        boolean refuses = map.flag("noInterrupt");
        return map.has("interrupt") ? map.flag("interrupt") : !refuses;
    }

    private static Given given(Keyed map, String... spellings) {
        String key = map.spelling(spellings);
        if (key == null) {
            return null;
        }
        Object value = map.get(key);
        return failing(key) ? new Given(null, message(key, value)) : Given.parse(value);
    }

    /** Reads what one callback does: steps, a message to fail with, or what both callbacks share. */
    private static List<Step> callback(String where, Keyed map, String which, String... spellings) {
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

    /** Without further word the callback is the one that hears of the result. */
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
