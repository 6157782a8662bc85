package dev.raddle.cli.file;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * What {@code when} says: comparisons of texts, joined by {@code and}, {@code or} and {@code not}.
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
     * Reads a condition.
     *
     * @throws InvalidConditionException if it is none
     */
    static Condition parse(String text) throws InvalidConditionException {
        return new ConditionParser(text).parse();
    }

    /** Whether it holds for these values. */
    boolean holds(Row row) throws UnfitRowException;

    /** The names of its placeholders, in order. */
    default Set<String> names() {
        Set<String> names = new LinkedHashSet<>();
        addNames(names);
        return names;
    }

    /** Adds the names of its placeholders. */
    void addNames(Set<String> names);

    /** How two texts are compared. */
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
        public boolean holds(Row row) throws UnfitRowException {
            return comparison.holds(left.fill(row), right.fill(row));
        }

        @Override
        public void addNames(Set<String> names) {
            names.addAll(left.names());
            names.addAll(right.names());
        }
    }

    /** All of them. They are listed and not nested, so that their number has no limit. */
    record And(List<Condition> parts) implements Condition {
        public And {
            parts = List.copyOf(parts);
        }

        @Override
        public boolean holds(Row row) throws UnfitRowException {
            for (Condition part : parts) {
                if (!part.holds(row)) {
                    return false;
                }
            }
            return true;
        }

        @Override
        public void addNames(Set<String> names) {
            parts.forEach(part -> part.addNames(names));
        }
    }

    /** At least one of them. */
    record Or(List<Condition> parts) implements Condition {
        public Or {
            parts = List.copyOf(parts);
        }

        @Override
        public boolean holds(Row row) throws UnfitRowException {
            for (Condition part : parts) {
                if (part.holds(row)) {
                    return true;
                }
            }
            return false;
        }

        @Override
        public void addNames(Set<String> names) {
            parts.forEach(part -> part.addNames(names));
        }
    }

    /** The opposite. */
    record Not(Condition condition) implements Condition {
        @Override
        public boolean holds(Row row) throws UnfitRowException {
            return !condition.holds(row);
        }

        @Override
        public void addNames(Set<String> names) {
            condition.addNames(names);
        }
    }

    /** A text that is no condition. */
    final class InvalidConditionException extends Exception {
        private static final long serialVersionUID = 1L;

        private final int index;

        InvalidConditionException(int index, String message) {
            super(message);
            this.index = index;
        }

        /** Where in the text it goes wrong, counted from 0. */
        int index() {
            return index;
        }
    }
}
