package dev.raddle.cli.file.template;

import dev.raddle.cli.file.data.InvalidRowException;
import dev.raddle.cli.file.data.Row;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * A text with placeholders: {@code ${name}} stands for a value, {@code $${name}} for these characters without the first
 * dollar. Values are inserted unchanged, so this is for ids, groups, paths and for words that no shell parses.
 */
public final class Template {
    private final List<Part> parts;

    private Template(List<Part> parts) {
        this.parts = parts;
    }

    /**
     * Parses a template.
     *
     * @param braces whether <code>{}</code> stands for the line, as in GNU parallel
     * @throws IllegalArgumentException if a placeholder has no end or no name; the message continues a sentence that
     *     begins with the name of the value
     */
    public static Template parse(String text, boolean braces) {
        return parse(text, Syntax.braces(braces));
    }

    public static Template parse(String text, Syntax syntax) {
        List<Part> parts = new ArrayList<>();
        StringBuilder literal = new StringBuilder();
        int i = 0;
        while (i < text.length()) {
            Placeholder found = syntax.at(text, i);
            if (found != null) {
                parts.add(new Literal(literal.toString()));
                parts.add(new Value(found.name()));
                literal.setLength(0);
                i = found.end();
            } else if (syntax.isEscaped(text, i)) {
                literal.append("${");
                i += Placeholder.ESCAPED.length();
            } else {
                literal.append(text.charAt(i++));
            }
        }
        parts.add(new Literal(literal.toString()));
        return new Template(parts);
    }

    /** Returns a template without placeholders. */
    public static Template literal(String text) {
        return new Template(List.of(new Literal(text)));
    }

    /** Returns the names of the placeholders, in order. */
    public Set<String> names() {
        Set<String> names = new LinkedHashSet<>();
        for (Part part : parts) {
            if (part instanceof Value value) {
                names.add(value.name);
            }
        }
        return names;
    }

    public String fill(Row row) throws InvalidRowException {
        StringBuilder filled = new StringBuilder();
        for (Part part : parts) {
            switch (part) {
                case Literal literal -> filled.append(literal.text);
                case Value value -> filled.append(row.value(value.name));
            }
        }
        return filled.toString();
    }

    private sealed interface Part {}

    private record Literal(String text) implements Part {}

    private record Value(String name) implements Part {}
}
