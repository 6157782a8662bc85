package dev.raddle.cli.file;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * A command that becomes complete only while it runs, with what upstream tasks left.
 *
 * @param row every value that is known before
 */
public record Late(CommandTemplate template, Map<String, Template> env, Row row) {

    /** A complete command with its environment. */
    public record Filled(Command command, Map<String, String> env) {}

    /** What it needs of other tasks. */
    public Set<Reference> references() {
        Set<Reference> references = new LinkedHashSet<>();
        add(template.names(), references);
        env.values().forEach(text -> add(text.names(), references));
        return references;
    }

    private void add(Set<String> names, Set<Reference> into) {
        names.stream()
                .filter(name -> !row.cells().containsKey(name))
                .forEach(name ->
                        Reference.of(name).filter(found -> !found.isParam()).ifPresent(into::add));
    }

    /**
     * Puts values in.
     *
     * @param values by the names of the references
     * @throws UnfitRowException if a value cannot be handed to a command
     */
    public Filled fill(Map<String, String> values) throws UnfitRowException {
        Row full = row.with(values);
        Map<String, String> variables = new LinkedHashMap<>();
        for (Map.Entry<String, Template> variable : env.entrySet()) {
            variables.put(variable.getKey(), variable.getValue().fill(full));
        }
        return new Filled(template.fill(full), variables);
    }

    /** The command with its references as they are written. */
    Filled shown() throws UnfitRowException {
        Map<String, String> themselves = new HashMap<>();
        references().forEach(reference -> themselves.put(reference.name(), "${" + reference.name() + "}"));
        return fill(themselves);
    }
}
