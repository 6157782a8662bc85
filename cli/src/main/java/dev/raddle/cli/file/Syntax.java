package dev.raddle.cli.file;

import org.jspecify.annotations.Nullable;

/** Which placeholders a text may have. */
enum Syntax {
    /** <code>${anything}</code>, in a task with {@code forEach}. */
    ROWS,
    /** The same, and <code>{}</code> for the line, as in GNU parallel. */
    BRACES,
    /** Only {@linkplain Reference references}; every other <code>${…}</code> is nobody's or the shell's. */
    REFERENCES;

    static Syntax braces(boolean braces) {
        return braces ? BRACES : ROWS;
    }

    /**
     * The placeholder that begins at an index, or null.
     *
     * @throws IllegalArgumentException if one begins there that has no end or no name
     */
    @Nullable
    Placeholder at(String text, int index) {
        return this == REFERENCES ? reference(text, index) : Placeholder.at(text, index, this == BRACES);
    }

    /** Whether the characters <code>$${</code> stand at an index for <code>${</code>. */
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
