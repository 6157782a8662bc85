package dev.raddle.cli.file.template;

import dev.raddle.cli.file.template.ShellTemplate.Quotes;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** The literal texts of a template and the placeholders between them, in order. */
record Parts(List<Part> list) {

    sealed interface Part {}

    record Literal(String text) implements Part {}

    /** A placeholder. In a template that is not a script there are no quotes around it. */
    record Value(String name, Quotes quotes) implements Part {}

    /** Reads the text between the placeholders. */
    interface Lexer {
        boolean atEnd();

        int index();

        /** Skips the next character, or several that belong together, and returns the text that they stand for. */
        String next();

        /** Skips a placeholder. */
        void skipTo(int index);

        /**
         * Returns the quotes at the index, where a placeholder begins.
         *
         * @throws IllegalArgumentException if no value can be inserted there
         */
        Quotes quotesFor(String name);

        /**
         * Called at the end of a text with placeholders.
         *
         * @throws IllegalArgumentException if no value can be inserted into this text
         */
        void end();
    }

    static Parts parse(String text, Syntax syntax, Lexer lexer) {
        List<Part> parts = new ArrayList<>();
        StringBuilder literal = new StringBuilder();
        while (!lexer.atEnd()) {
            Placeholder found = syntax.at(text, lexer.index());
            if (found != null) {
                parts.add(new Literal(literal.toString()));
                parts.add(new Value(found.name(), lexer.quotesFor(found.name())));
                literal.setLength(0);
                lexer.skipTo(found.end());
            } else {
                literal.append(lexer.next());
            }
        }
        parts.add(new Literal(literal.toString()));
        if (parts.size() > 1) {
            lexer.end();
        }
        return new Parts(parts);
    }

    /** Returns the names of the placeholders, in order. */
    Set<String> names() {
        Set<String> names = new LinkedHashSet<>();
        for (Part part : list) {
            if (part instanceof Value value) {
                names.add(value.name);
            }
        }
        return names;
    }
}
