package dev.raddle.cli.file;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A command that becomes complete with the values of a row. */
public sealed interface CommandTemplate {

    /** The names of its placeholders, in order. */
    Set<String> names();

    Command fill(Row row) throws UnfitRowException;

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
        public Command fill(Row row) throws UnfitRowException {
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
        public Command fill(Row row) throws UnfitRowException {
            List<String> filled = new ArrayList<>(words.size());
            for (Template word : words) {
                filled.add(word.fill(row));
            }
            return new Command(filled, Map.of(), ShellQuote.words(filled));
        }
    }

    /** A program and its arguments that contain no placeholders at all. */
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
