package dev.raddle.cli.file.template;

import dev.raddle.cli.file.value.Printable;
import org.jspecify.annotations.Nullable;

/** A placeholder found in a text: its name and the index after it. */
public record Placeholder(String name, int end) {
    /** The escape for a literal dollar and opening brace. */
    public static final String ESCAPED = "$${";

    /**
     * Returns the placeholder that begins at an index, or null.
     *
     * @throws IllegalArgumentException if a placeholder without an end or a name begins there
     */
    static @Nullable Placeholder at(String text, int index) {
        if (!text.startsWith("${", index)) {
            return null;
        }
        int end = text.indexOf('}', index);
        if (end < 0) {
            throw new IllegalArgumentException(
                    "has a placeholder without an end: \"" + Printable.oneLine(text.substring(index))
                            + "\"; close it with }, or write $${ for the characters ${");
        }
        String name = text.substring(index + 2, end);
        if (name.isBlank()) {
            throw new IllegalArgumentException(
                    "has a placeholder without a name: ${}; write ${line}, or $${ for the" + " characters ${");
        }
        return new Placeholder(name, end + 1);
    }
}
