package dev.raddle.cli.file;

import dev.raddle.cli.file.data.InvalidRowException;
import dev.raddle.cli.file.data.Row;
import dev.raddle.cli.file.template.Template;
import dev.raddle.cli.file.value.Documents;
import dev.raddle.cli.file.value.Location;
import dev.raddle.cli.file.value.Printable;
import dev.raddle.cli.file.value.Problems;
import dev.raddle.cli.file.value.Spelling;
import dev.raddle.cli.file.value.Values;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/** Reads {@code needs}. For one thread. */
final class NeedReader {
    private static final String RULE =
            "needs must be ids of tasks or maps: a, { any: [b, c] }, { atLeast: 2, of: [d, e, f]"
                    + " }, { optional: g } or { after: h }";

    private final Problems problems;
    private final Values values;
    private final TemplateReader templates;

    /** A clause whose ids may contain placeholders. */
    record Clause(Need.Kind kind, int min, List<Located<Template>> ids) {
        Need fill(Row row) throws InvalidRowException {
            List<String> filled = new ArrayList<>();
            List<Location> places = new ArrayList<>();
            for (Located<Template> id : ids) {
                filled.add(id.value().fill(row));
                places.add(id.at());
            }
            return new Need(kind, min, filled, places);
        }
    }

    NeedReader(Problems problems, TemplateReader templates) {
        this.problems = problems;
        this.values = new Values(problems);
        this.templates = templates;
    }

    /** Returns the clauses that could be read. */
    List<Clause> read(@Nullable Node node) {
        List<Clause> clauses = new ArrayList<>();
        if (node instanceof ScalarNode) {
            add(clauses, Need.Kind.MUST, 1, List.of(node));
        } else if (node instanceof SequenceNode sequence) {
            sequence.getValue().forEach(item -> item(Documents.plain(item), clauses));
        } else if (node != null) {
            item(node, clauses);
        }
        return clauses;
    }

    private void item(Node item, List<Clause> clauses) {
        if (item instanceof ScalarNode) {
            add(clauses, Need.Kind.MUST, 1, List.of(item));
        } else if (item instanceof MappingNode) {
            clause(item, clauses);
        } else {
            values.wrong(item, RULE);
        }
    }

    private void clause(Node item, List<Clause> clauses) {
        int before = problems.count();
        Map<String, Values.Entry> entries = values.map(item, "a need");
        Section section = new Section(item, "a need", Keys.NEED, new Problems());
        if (entries == null || problems.count() > before) {
            return;
        }
        Node min = section.get("atLeast");
        Node of = section.get("of");
        if (entries.size() == 2 && min != null && of != null) {
            Integer number = values.wholeNumber(min, "atLeast", 1, Integer.MAX_VALUE);
            List<Node> ids = ids(of, "of");
            if (number != null && ids != null) {
                if (number > ids.size()) {
                    problems.add(
                            Location.of(min),
                            "atLeast must be at most the number of tasks in of, " + ids.size() + ", was " + number
                                    + "; lower it, or name more tasks in of");
                }
                add(clauses, Need.Kind.AT_LEAST, number, ids);
            }
            return;
        }
        for (Need.Kind kind : List.of(Need.Kind.ANY, Need.Kind.OPTIONAL, Need.Kind.AFTER)) {
            Node named = section.get(kind.key());
            if (named != null && entries.size() == 1) {
                List<Node> ids = ids(named, kind.key());
                add(clauses, kind, 1, ids == null ? List.of() : ids);
                return;
            }
        }
        String found = entries.isEmpty() ? "an empty map" : "a map of " + String.join(", ", entries.keySet());
        String hint = entries.keySet().stream()
                .filter(key -> !Keys.NEED.contains(key))
                .findFirst()
                .map(key -> Spelling.hint(key, Keys.NEED))
                .orElse("");
        problems.add(Location.of(item), RULE + ", was " + Printable.oneLine(found) + hint);
    }

    private @Nullable List<Node> ids(Node node, String what) {
        List<Node> ids = node instanceof ScalarNode ? List.of(node) : values.list(node, what);
        if (ids != null && ids.isEmpty()) {
            problems.add(Location.of(node), what + " must name at least one task, was an empty list");
            return null;
        }
        return ids;
    }

    private void add(List<Clause> clauses, Need.Kind kind, int min, List<Node> nodes) {
        List<Located<Template>> ids = new ArrayList<>();
        for (Node node : nodes) {
            Located<Template> id = templates.nonEmpty(node, "a need");
            if (id != null) {
                ids.add(id);
            }
        }
        if (!ids.isEmpty()) {
            clauses.add(new Clause(kind, min, ids));
        }
    }
}
