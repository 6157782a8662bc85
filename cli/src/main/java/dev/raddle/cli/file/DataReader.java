package dev.raddle.cli.file;

import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/** Reads what {@code forEach} names: a data file, or a list that stands there itself. For one thread. */
final class DataReader {
    private final String file;
    private final InputFiles inputs;
    private final Problems problems;
    private final Values values;
    private final Map<String, byte[]> read = new LinkedHashMap<>();

    DataReader(String file, InputFiles inputs, Problems problems) {
        this.file = file;
        this.inputs = inputs;
        this.problems = problems;
        this.values = new Values(problems);
    }

    /** The content of every file that was read, by the name that the run file gives it. */
    Map<String, byte[]> filesRead() {
        return read;
    }

    Rows rows(Node node) {
        if (node instanceof SequenceNode sequence) {
            return new JsonRows(file, problems).items(sequence);
        }
        if (!(node instanceof ScalarNode)) {
            values.wrong(node, "forEach must be the name of a file or a list");
            return Rows.NONE;
        }
        String name = values.nonEmptyText(node, "forEach");
        return name == null ? Rows.NONE : file(node, name);
    }

    private Rows file(Node node, String name) {
        String quoted = "\"" + Printable.oneLine(name) + "\"";
        try {
            String shown = Path.of(file).resolveSibling(name).normalize().toString();
            byte[] bytes = inputs.read(name);
            read.put(name, bytes);
            return new RowReader(shown, problems).read(bytes);
        } catch (NoSuchFileException e) {
            problems.add(
                    Location.of(node),
                    "forEach must name a file that exists, seen from where " + file + " stands, was " + quoted);
        } catch (IOException | InvalidPathException e) {
            problems.add(
                    Location.of(node),
                    "forEach must name a file that can be read, was " + quoted + ": " + e.getMessage());
        }
        return Rows.NONE;
    }
}
