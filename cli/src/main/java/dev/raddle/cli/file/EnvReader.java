package dev.raddle.cli.file;

import dev.raddle.cli.file.value.Location;
import dev.raddle.cli.file.value.Printable;
import dev.raddle.cli.file.value.Problems;
import dev.raddle.cli.file.value.Values;
import java.util.LinkedHashMap;
import java.util.Map;
import org.snakeyaml.engine.v2.nodes.Node;

/** Reads the environment variables of a task: a map of names and texts. */
final class EnvReader {
    private static final String RESERVED = "RADDLE_";

    private final Problems problems;

    EnvReader(Problems problems) {
        this.problems = problems;
    }

    /** Returns the nodes of the values by name. */
    Map<String, Node> read(Node node) {
        Map<String, Node> variables = new LinkedHashMap<>();
        Map<String, Values.Entry> entries = new Values(problems).map(node, "env");
        if (entries != null) {
            entries.forEach((name, entry) -> {
                if (name.isEmpty() || name.indexOf('=') >= 0 || name.indexOf('\0') >= 0) {
                    problems.add(
                            Location.of(entry.key()),
                            "the name of an environment variable must not be empty and must" + " not contain =, was \""
                                    + Printable.oneLine(name) + "\"");
                } else if (name.startsWith(RESERVED)) {
                    problems.add(
                            Location.of(entry.key()),
                            "environment variables that begin with " + RESERVED + " are set by raddle itself, was \""
                                    + Printable.oneLine(name) + "\"; choose another name");
                } else {
                    variables.put(name, entry.value());
                }
            });
        }
        return variables;
    }
}
