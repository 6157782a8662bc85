package dev.raddle.cli.file.template;

import dev.raddle.cli.file.data.InvalidRowException;
import dev.raddle.cli.file.data.Row;
import dev.raddle.cli.file.value.Secrets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * A command that is completed only during the run, with values of upstream tasks.
 *
 * @param row the values that are known before the run
 * @param secrets the values that must not be shown
 */
public record DeferredCommand(CommandTemplate template, Map<String, Template> env, Row row, Secrets secrets) {

    /** A complete command with its environment. */
    public record Filled(Command command, Map<String, String> env) {}

    /** Returns the values of other tasks that it needs. */
    public Set<Reference> references() {
        Set<String> names = new LinkedHashSet<>(template.names());
        env.values().forEach(text -> names.addAll(text.names()));
        return Reference.among(names, row);
    }

    /**
     * Inserts values.
     *
     * @param values the values by the names of the references
     * @throws InvalidRowException if a value cannot be passed to a command
     */
    public Filled fill(Map<String, String> values) throws InvalidRowException {
        Row full = row.with(values);
        Map<String, String> variables = new LinkedHashMap<>();
        for (Map.Entry<String, Template> variable : env.entrySet()) {
            variables.put(variable.getKey(), variable.getValue().fill(full));
        }
        Command command = template.fill(full);
        String shown = secrets.isEmpty()
                ? command.shown()
                : template.fill(full.masked(secrets)).shown();
        return new Filled(new Command(command.words(), command.values(), shown), variables);
    }

    /** Returns the command with its references in their textual form. */
    public Filled shown() throws InvalidRowException {
        Map<String, String> themselves = new HashMap<>();
        references().forEach(reference -> themselves.put(reference.name(), "${" + reference.name() + "}"));
        return fill(themselves);
    }
}
