package dev.raddle.cli.file.data;

import dev.raddle.cli.file.value.Location;
import dev.raddle.cli.file.value.Printable;
import dev.raddle.cli.file.value.Problems;
import dev.raddle.cli.file.value.Values;
import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/** Reads the value of {@code forEach}: a data file or an inline list. For one thread. */
public final class DataReader {
    private final String file;
    private final InputFiles inputs;
    private final Problems problems;
    private final Values values;
    private final Map<String, byte[]> read = new LinkedHashMap<>();

    public DataReader(String file, InputFiles inputs, Problems problems) {
        this.file = file;
        this.inputs = inputs;
        this.problems = problems;
        this.values = new Values(problems);
    }

    /** Returns the content of every file that was read, by its name in the run file. */
    public Map<String, byte[]> filesRead() {
        return read;
    }

    public Rows rows(Node node) {
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
                    "forEach must name a file that exists, relative to the directory of " + file + ", was " + quoted);
        } catch (IOException | InvalidPathException e) {
            problems.add(
                    Location.of(node),
                    "forEach must name a file that can be read, was " + quoted + ": " + e.getMessage());
        }
        return Rows.NONE;
    }
}
