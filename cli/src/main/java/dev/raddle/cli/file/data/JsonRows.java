package dev.raddle.cli.file.data;

import dev.raddle.cli.file.value.Documents;
import dev.raddle.cli.file.value.Location;
import dev.raddle.cli.file.value.Problem;
import dev.raddle.cli.file.value.Problems;
import dev.raddle.cli.file.value.Values;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;

/**
 * Creates rows from JSON, or from a list in a run file: an object yields its fields, any other value is a row with the
 * single value {@code line}. For one thread.
 */
final class JsonRows {
    private final String file;
    private final Problems problems;
    private final Set<String> names = new LinkedHashSet<>();
    private final List<Row> rows = new ArrayList<>();

    JsonRows(String file, Problems problems) {
        this.file = file;
        this.problems = problems;
    }

    Rows array(String text) {
        Node root = Documents.parse(text, file, problems);
        if (root instanceof SequenceNode sequence) {
            return items(sequence);
        }
        if (root != null) {
            new Values(problems).wrong(root, "a .json data file must be an array (one object a line: .jsonl)");
        }
        return Rows.NONE;
    }

    Rows items(SequenceNode sequence) {
        for (Node item : sequence.getValue()) {
            add(Documents.plain(item), Location.of(item), problems);
        }
        return new Rows(names, rows);
    }

    Rows lines(String text) {
        RowReader.Lines lines = new RowReader.Lines(text);
        while (lines.next()) {
            if (lines.line().isBlank()) {
                continue;
            }
            Location at = new Location(file, lines.number(), 1);
            Problems ofLine = new Problems();
            Node node = Documents.parse(lines.line(), file, ofLine);
            if (node != null) {
                add(node, at, ofLine);
            }
            for (Problem problem : ofLine.list()) {
                problems.add(new Location(file, lines.number(), problem.at().column()), problem.text());
            }
        }
        return new Rows(names, rows);
    }

    private void add(Node item, Location at, Problems found) {
        Map<String, Row.Cell> cells = new LinkedHashMap<>();
        if (item instanceof MappingNode) {
            Map<String, Values.Entry> fields = new Values(found).map(item, "this object");
            if (fields != null) {
                fields.forEach((name, entry) -> cells.put(name, cell(entry.value())));
            }
        } else {
            cells.put(Row.LINE, cell(item));
        }
        names.addAll(cells.keySet());
        rows.add(new Row(at, rows.size() + 1L, cells));
    }

    private static Row.Cell cell(Node node) {
        return node instanceof ScalarNode scalar && !scalar.getTag().equals(Tag.NULL)
                ? Row.Cell.of(scalar.getValue())
                : new Row.Cell(null, Values.found(node));
    }
}
