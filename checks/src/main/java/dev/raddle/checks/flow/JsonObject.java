package dev.raddle.checks.flow;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** An object of the file, read key by key. A key that is never read is an error: a misread case might pass. */
final class JsonObject {

    private final String where;
    private final Map<?, ?> map;
    private final Set<String> known = new LinkedHashSet<>();

    private JsonObject(String where, Map<?, ?> map) {
        this.where = where;
        this.map = map;
    }

    static JsonObject of(String where, Object value) {
        if (value instanceof Map<?, ?> map) {
            return new JsonObject(where, map);
        }
        throw new CaseFormatException(where + " must be an object, was " + show(value));
    }

    boolean has(String key) {
        known.add(key);
        return map.containsKey(key);
    }

    Object get(String key) {
        known.add(key);
        return map.get(key);
    }

    /** Returns the first of several spellings that is present, or null. */
    String spelling(String... keys) {
        String found = null;
        for (String key : keys) {
            if (has(key) && found == null) {
                found = key;
            }
        }
        return found;
    }

    String text(String key, String absent) {
        Object value = get(key);
        return value == null ? absent : text(where + "." + key, value);
    }

    boolean flag(String key) {
        Object value = get(key);
        if (value == null || value instanceof Boolean) {
            return Boolean.TRUE.equals(value);
        }
        throw new CaseFormatException(where + "." + key + " must be true or false, was " + show(value));
    }

    long number(String key, long absent) {
        Object value = get(key);
        return value == null ? absent : number(where + "." + key, value);
    }

    List<Object> list(String key) {
        Object value = get(key);
        return value == null ? List.of() : list(where + "." + key, value);
    }

    List<String> texts(String key) {
        List<String> texts = new ArrayList<>();
        for (Object each : list(key)) {
            texts.add(text(where + "." + key, each));
        }
        return texts;
    }

    /** Throws if the object has a key that was not read. */
    void checkNoUnknownKeys() {
        Set<String> unknown = new TreeSet<>();
        for (Object key : map.keySet()) {
            if (!known.contains(String.valueOf(key))) {
                unknown.add("\"" + key + "\"");
            }
        }
        if (!unknown.isEmpty()) {
            throw new CaseFormatException(where + " has the unknown key " + String.join(", ", unknown) + "; known are "
                    + String.join(", ", known));
        }
    }

    static String text(String where, Object value) {
        if (value instanceof String text) {
            return text;
        }
        throw new CaseFormatException(where + " must be a text, was " + show(value));
    }

    static long number(String where, Object value) {
        if (value instanceof Integer || value instanceof Long) {
            return ((Number) value).longValue();
        }
        throw new CaseFormatException(where + " must be a whole number, was " + show(value));
    }

    static List<Object> list(String where, Object value) {
        if (value instanceof List<?> list) {
            return new ArrayList<>(list);
        }
        throw new CaseFormatException(where + " must be a list, was " + show(value));
    }

    static String show(Object value) {
        return value instanceof String ? "\"" + value + "\"" : String.valueOf(value);
    }
}
