package dev.raddle.cli.file.template;

import dev.raddle.cli.file.data.InvalidRowException;
import dev.raddle.cli.file.data.Row;
import dev.raddle.cli.file.template.ShellTemplate.Quotes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * A text with placeholders: {@code ${name}} stands for a value, {@code $${name}} for these characters without the first
 * dollar. Values are inserted unchanged, so this is for ids, groups, paths and for words that no shell parses.
 */
public final class Template {
    private final Parts parts;

    private Template(Parts parts) {
        this.parts = parts;
    }

    /**
     * Parses a template.
     *
     * @throws IllegalArgumentException if a placeholder has no end or no name; the message continues a sentence that
     *     begins with the name of the value
     */
    public static Template parse(String text, Syntax syntax) {
        return new Template(Parts.parse(text, syntax, new PlainText(text, syntax)));
    }

    /** Returns a template without placeholders. */
    public static Template literal(String text) {
        return new Template(new Parts(List.of(new Parts.Literal(text))));
    }

    /** Returns the names of the placeholders, in order. */
    public Set<String> names() {
        return parts.names();
    }

    @Override
    public String toString() {
        return parts.toString();
    }

    /** Returns the text, or one for each value of the row if a placeholder stands for all of them. */
    List<String> fillEach(Row row) throws InvalidRowException {
        List<String> filled = new ArrayList<>();
        for (Row each : row.each(names())) {
            filled.add(fill(each));
        }
        return filled;
    }

    public String fill(Row row) throws InvalidRowException {
        StringBuilder filled = new StringBuilder();
        for (Parts.Part part : parts.list()) {
            switch (part) {
                case Parts.Literal literal -> filled.append(literal.text());
                case Parts.Value value -> filled.append(row.value(value.name()));
            }
        }
        return filled.toString();
    }

    private static final class PlainText implements Parts.Lexer {
        private final String text;
        private final Syntax syntax;
        private int index;

        PlainText(String text, Syntax syntax) {
            this.text = text;
            this.syntax = syntax;
        }

        @Override
        public boolean atEnd() {
            return index >= text.length();
        }

        @Override
        public int index() {
            return index;
        }

        @Override
        public String next() {
            if (syntax.isEscaped(text, index)) {
                index += Placeholder.ESCAPED.length();
                return "${";
            }
            return String.valueOf(text.charAt(index++));
        }

        @Override
        public void skipTo(int to) {
            index = to;
        }

        @Override
        public Quotes quotesFor(String name) {
            return Quotes.NONE;
        }

        @Override
        public void end() {}
    }
}
