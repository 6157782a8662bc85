package dev.raddle.cli.file.template;

import dev.raddle.cli.file.data.InvalidRowException;
import dev.raddle.cli.file.data.Row;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The value of {@code when}: comparisons of texts, joined by {@code and}, {@code or} and {@code not}.
 *
 * <pre>
 * either     = all { "or" all }
 * all        = single { "and" single }
 * single     = "not" single | "(" either ")" | comparison
 * comparison = value ( "==" | "!=" | "contains" ) value
 * value      = "${" name "}" | 'text' | "text" | word
 * </pre>
 */
public sealed interface Condition {

    /**
     * Parses a condition.
     *
     * @throws InvalidConditionException if the text is not a condition
     */
    static Condition parse(String text) throws InvalidConditionException {
        return new ConditionParser(text).parse();
    }

    /** Returns whether the condition holds for these values. */
    boolean holds(Row row) throws InvalidRowException;

    /** Returns the names of its placeholders, in order. */
    default Set<String> names() {
        Set<String> names = new LinkedHashSet<>();
        addNames(names);
        return names;
    }

    /** Adds the names of its placeholders. */
    void addNames(Set<String> names);

    /** The ways to compare two texts. */
    enum Comparison {
        EQUAL("=="),
        UNEQUAL("!="),
        CONTAINS("contains");

        private final String word;

        Comparison(String word) {
            this.word = word;
        }

        String word() {
            return word;
        }

        private boolean holds(String left, String right) {
            return switch (this) {
                case EQUAL -> left.equals(right);
                case UNEQUAL -> !left.equals(right);
                case CONTAINS -> left.contains(right);
            };
        }
    }

    /** A comparison of two texts. */
    record Compare(Template left, Comparison comparison, Template right) implements Condition {
        @Override
        public boolean holds(Row row) throws InvalidRowException {
            return comparison.holds(left.fill(row), right.fill(row));
        }

        @Override
        public void addNames(Set<String> names) {
            names.addAll(left.names());
            names.addAll(right.names());
        }
    }

    /** All conditions, or one. They are listed instead of nested, so that their number is not limited. */
    record Several(List<Condition> parts, boolean all) implements Condition {
        public Several {
            parts = List.copyOf(parts);
        }

        @Override
        public boolean holds(Row row) throws InvalidRowException {
            for (Condition part : parts) {
                if (part.holds(row) != all) {
                    return !all;
                }
            }
            return all;
        }

        @Override
        public void addNames(Set<String> names) {
            parts.forEach(part -> part.addNames(names));
        }
    }

    /** The negation. */
    record Not(Condition condition) implements Condition {
        @Override
        public boolean holds(Row row) throws InvalidRowException {
            return !condition.holds(row);
        }

        @Override
        public void addNames(Set<String> names) {
            condition.addNames(names);
        }
    }

    /** Thrown for a text that is not a condition. */
    final class InvalidConditionException extends Exception {
        private static final long serialVersionUID = 1L;

        private final int index;

        InvalidConditionException(int index, String message) {
            super(message);
            this.index = index;
        }

        /** Returns the index of the error in the text, counted from 0. */
        public int index() {
            return index;
        }
    }
}
