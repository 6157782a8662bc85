package dev.raddle.cli.file;

import dev.raddle.cli.file.template.Reference;
import dev.raddle.cli.file.value.Location;
import dev.raddle.cli.file.value.Printable;
import dev.raddle.cli.file.value.Problems;
import dev.raddle.cli.file.value.Secrets;
import dev.raddle.cli.file.value.Spelling;
import dev.raddle.cli.file.value.Values;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.Tag;

/** The params of a file: their names, their values, and which of them are used. For one thread. */
final class Params {
    private record Param(Location at, @Nullable String value) {}

    private final Map<String, Param> params = new LinkedHashMap<>();
    private final Set<String> used = new HashSet<>();
    private final Problems problems;
    private boolean incomplete;
    private Secrets secrets = Secrets.NONE;

    Params(Problems problems) {
        this.problems = problems;
    }

    /**
     * Reads the section.
     *
     * @param given values from outside the file, which override the file's own
     * @param requireValues whether a param without a value is a problem
     */
    void read(@Nullable Node node, Map<String, String> given, Location file, boolean requireValues) {
        Values values = new Values(problems);
        Map<String, Values.Entry> entries = node == null ? null : values.map(node, "params");
        if (entries != null) {
            entries.forEach((name, entry) -> declare(name, entry, given.get(name), requireValues, values));
        }
        Location at = node == null ? file : Location.of(node);
        given.keySet().stream()
                .filter(name -> !params.containsKey(name))
                .forEach(name -> problems.add(at, "--param " + Printable.oneLine(name) + " " + unknown(name)));
    }

    private void declare(
            String name, Values.Entry entry, @Nullable String given, boolean requireValues, Values values) {
        Location at = Location.of(entry.key());
        boolean noDefault =
                entry.value() instanceof ScalarNode scalar && scalar.getTag().equals(Tag.NULL);
        String defaultValue =
                noDefault ? null : values.text(entry.value(), "param \"" + Printable.oneLine(name) + "\"");
        if (name.isBlank() || name.indexOf('}') >= 0) {
            problems.add(at, "the name of a param must not be empty and must not contain }, was \"" + name + "\"");
        }
        if (noDefault && given == null && requireValues) {
            problems.add(
                    at,
                    "param \"" + Printable.oneLine(name) + "\" has no default and needs a value; give it with --param "
                            + Printable.oneLine(name) + "=VALUE");
        }
        params.put(name, new Param(at, given == null ? defaultValue : given));
    }

    /** Records that a param is used. */
    void use(Reference param, String what, Location at) {
        used.add(param.subject());
        if (!params.containsKey(param.subject())) {
            problems.add(at, "${" + Printable.oneLine(param.name()) + "} in " + what + " " + unknown(param.subject()));
        }
    }

    private String unknown(String name) {
        return "is not among the params of the file" + Spelling.hint(name, params.keySet()) + " (params: "
                + (params.isEmpty() ? "none" : Printable.oneLine(String.join(", ", params.keySet()))) + ")";
    }

    /** Records that a part of the file that may use params could not be read. */
    void markIncomplete() {
        incomplete = true;
    }

    void checkUse() {
        params.forEach((name, param) -> {
            if (!used.contains(name) && !incomplete) {
                String printable = Printable.oneLine(name);
                problems.add(
                        param.at,
                        "param \"" + printable + "\" is never used; write ${param." + printable
                                + "} where its value belongs, or remove it");
            }
        });
    }

    /** Returns the values by the names of their placeholders; a param without a value stands for itself. */
    Map<String, String> values() {
        Map<String, String> values = new LinkedHashMap<>();
        params.forEach((name, param) -> {
            String placeholder = new Reference(name, Reference.Kind.PARAM).name();
            values.put(placeholder, param.value == null ? "${" + placeholder + "}" : param.value);
        });
        return values;
    }

    boolean isDeclared(String name) {
        return params.containsKey(name);
    }

    /** Returns the value of a param; null if it has none, or if there is no such param. */
    @Nullable
    String value(String name) {
        Param param = params.get(name);
        return param == null ? null : param.value;
    }

    /** Sets what the values of params and of other placeholders may contain. */
    void hide(Secrets values) {
        secrets = values;
    }

    Secrets secrets() {
        return secrets;
    }
}
