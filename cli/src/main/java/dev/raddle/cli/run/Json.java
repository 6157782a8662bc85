package dev.raddle.cli.run;

import java.util.Collection;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes JSON: maps, collections, texts, numbers, booleans and null. Other values are written as their text. */
public final class Json {
    private Json() {}

    /** Returns the JSON text of a value, without a line break. */
    public static String text(@Nullable Object value) {
        StringBuilder json = new StringBuilder();
        write(value, json);
        return json.toString();
    }

    private static void write(@Nullable Object value, StringBuilder json) {
        switch (value) {
            case null -> json.append("null");
            case Number number -> json.append(number);
            case Boolean truth -> json.append(truth);
            case Map<?, ?> map -> object(map, json);
            case Collection<?> items -> array(items, json);
            default -> quoted(value.toString(), json);
        }
    }

    private static void object(Map<?, ?> map, StringBuilder json) {
        String separator = "{";
        for (Map.Entry<?, ?> entry : map.entrySet()) {
            json.append(separator);
            quoted(String.valueOf(entry.getKey()), json);
            json.append(':');
            write(entry.getValue(), json);
            separator = ",";
        }
        json.append(map.isEmpty() ? "{}" : "}");
    }

    private static void array(Collection<?> items, StringBuilder json) {
        String separator = "";
        json.append('[');
        for (Object item : items) {
            json.append(separator);
            write(item, json);
            separator = ",";
        }
        json.append(']');
    }

    private static void quoted(String text, StringBuilder json) {
        json.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"' -> json.append("\\\"");
                case '\\' -> json.append("\\\\");
                case '\n' -> json.append("\\n");
                case '\r' -> json.append("\\r");
                case '\t' -> json.append("\\t");
                default -> {
                    if (c < ' ' || c == 0x7F || isLone(text, i) || c == '\u2028' || c == '\u2029') {
                        json.append(String.format("\\u%04x", (int) c));
                    } else {
                        json.append(c);
                    }
                }
            }
        }
        json.append('"');
    }

    /** Returns whether the character is an unpaired surrogate, which no encoding can represent. */
    private static boolean isLone(String text, int i) {
        char c = text.charAt(i);
        if (Character.isHighSurrogate(c)) {
            return i + 1 == text.length() || !Character.isLowSurrogate(text.charAt(i + 1));
        }
        return Character.isLowSurrogate(c) && (i == 0 || !Character.isHighSurrogate(text.charAt(i - 1)));
    }
}
