package dev.raddle.cli.file.template;

import dev.raddle.cli.file.data.InvalidRowException;
import dev.raddle.cli.file.data.Row;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A command that is completed with the values of a row. */
public sealed interface CommandTemplate permits ShellTemplate, CommandTemplate.Words {

    /** Returns the names of its placeholders, in order. */
    Set<String> names();

    Command fill(Row row) throws InvalidRowException;

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
                filled.addAll(word.fillEach(row));
            }
            return new Command(filled, Map.of(), ShellQuote.words(filled));
        }
    }
}
