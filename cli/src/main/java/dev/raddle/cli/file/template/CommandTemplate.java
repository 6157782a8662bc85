package dev.raddle.cli.file.template;

import dev.raddle.cli.file.data.InvalidRowException;
import dev.raddle.cli.file.data.Row;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A command that is completed with the values of a row. */
public sealed interface CommandTemplate {

    /** Returns the names of its placeholders, in order. */
    Set<String> names();

    Command fill(Row row) throws InvalidRowException;

    /** A script for {@code sh -c} without placeholders: every character belongs to the shell. */
    record Verbatim(String script) implements CommandTemplate {
        @Override
        public Set<String> names() {
            return Set.of();
        }

        @Override
        public Command fill(Row row) {
            return new Command(List.of("sh", "-c", script), Map.of(), script);
        }
    }

    /** A script for {@code sh -c} with placeholders. */
    record Script(ShellTemplate template) implements CommandTemplate {
        @Override
        public Set<String> names() {
            return template.names();
        }

        @Override
        public Command fill(Row row) throws InvalidRowException {
            return template.fill(row);
        }
    }

    /** A program and its arguments, started without a shell, so that values need no quoting. */
    record Words(List<Template> words) implements CommandTemplate {
        @Override
        public Set<String> names() {
            Set<String> names = new LinkedHashSet<>();
            words.forEach(word -> names.addAll(word.names()));
            return names;
        }

        @Override
        public Command fill(Row row) throws InvalidRowException {
            List<String> filled = new ArrayList<>(words.size());
            for (Template word : words) {
                filled.add(word.fill(row));
            }
            return new Command(filled, Map.of(), ShellQuote.words(filled));
        }
    }

    /** A program and its arguments without placeholders. */
    record Plain(List<String> words) implements CommandTemplate {
        @Override
        public Set<String> names() {
            return Set.of();
        }

        @Override
        public Command fill(Row row) {
            return new Command(words, Map.of(), ShellQuote.words(words));
        }
    }
}
