package dev.raddle.cli.file.template;

import dev.raddle.cli.file.data.Row;
import dev.raddle.cli.file.value.Printable;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The kinds of placeholders that a text may contain. */
@FunctionalInterface
public interface Syntax {
    /** <code>${anything}</code>, in a task with {@code forEach}. */
    Syntax ROWS = Placeholder::at;

    /** Only {@linkplain Reference references}; every other <code>${…}</code> is left to the shell or is plain text. */
    Syntax REFERENCES = Syntax::reference;

    /**
     * Returns the syntax of {@code raddle map}: that of rows, and in braces without a dollar <code>{}</code>,
     * <code>{#}</code>, <code>{1}</code> and <code>{name}</code>, with the parts of a path as in GNU parallel. Other
     * braces are plain text.
     *
     * @param columns the function from a number or name to the number of an argument, or to null; any other
     *     <code>${name}</code> is invalid
     */
    static Syntax arguments(Function<String, @Nullable String> columns) {
        return (text, index) -> {
            int end = text.startsWith("{", index) ? text.indexOf('}', index) : -1;
            String name = end < 0 ? null : Row.nameInBraces(text.substring(index + 1, end), columns);
            return name == null ? checked(ROWS.at(text, index), columns) : new Placeholder(name, end + 1);
        };
    }

    /**
     * Returns the placeholder that begins at an index, or null.
     *
     * @throws IllegalArgumentException if a placeholder without an end or a name begins there
     */
    @Nullable
    Placeholder at(String text, int index);

    /** Returns whether the escape <code>$${</code> is at an index. */
    default boolean isEscaped(String text, int index) {
        return text.startsWith(Placeholder.ESCAPED, index) && (this != REFERENCES || at(text, index + 1) != null);
    }

    private static @Nullable Placeholder checked(
            @Nullable Placeholder found, Function<String, @Nullable String> columns) {
        if (found == null || Row.placeholders(Set.of(Row.LINE)).contains(found.name())) {
            return found;
        }
        String column = columns.apply(found.name());
        if (column != null) {
            return new Placeholder(column, found.end());
        }
        String name = "${" + Printable.oneLine(found.name()) + "}";
        throw new IllegalArgumentException("has the unknown placeholder " + name
                + " (known: ${line}, ${n}, ${host}; write $" + name + " for the characters themselves)");
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
