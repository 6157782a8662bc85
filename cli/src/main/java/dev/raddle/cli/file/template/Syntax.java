package dev.raddle.cli.file.template;

import org.jspecify.annotations.Nullable;

/** The kinds of placeholders that a text may contain. */
public enum Syntax {
    /** <code>${anything}</code>, in a task with {@code forEach}. */
    ROWS,
    /** The same, and <code>{}</code> for the line, as in GNU parallel. */
    BRACES,
    /** Only {@linkplain Reference references}; every other <code>${…}</code> is left to the shell or is plain text. */
    REFERENCES;

    static Syntax braces(boolean braces) {
        return braces ? BRACES : ROWS;
    }

    /**
     * Returns the placeholder that begins at an index, or null.
     *
     * @throws IllegalArgumentException if a placeholder without an end or a name begins there
     */
    @Nullable
    Placeholder at(String text, int index) {
        return this == REFERENCES ? reference(text, index) : Placeholder.at(text, index, this == BRACES);
    }

    /** Returns whether the escape <code>$${</code> is at an index. */
    boolean isEscaped(String text, int index) {
        return text.startsWith(Placeholder.ESCAPED, index)
                && (this != REFERENCES || reference(text, index + 1) != null);
    }

    private static @Nullable Placeholder reference(String text, int index) {
        int end = text.startsWith("${", index) ? text.indexOf('}', index) : -1;
        if (end < 0) {
            return null;
        }
        String name = text.substring(index + 2, end);
        return Reference.of(name).isPresent() ? new Placeholder(name, end + 1) : null;
    }
}
