package dev.raddle.cli.file.value;

import dev.raddle.task.Rate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.common.FlowStyle;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;

/** Reads typed values from nodes. A value of the wrong type adds a problem and is null. For one thread. */
public final class Values {
    private static final int MAX_MERGED = 1000;

    private final Problems problems;
    private final Set<Node> merging = new HashSet<>(); // the maps that are being read, each merged into another

    public Values(Problems problems) {
        this.problems = problems;
    }

    public void wrong(Node node, String rule) {
        problems.add(Location.of(node), rule + ", was " + found(node) + hint(node));
    }

    /** Returns advice for braces that were meant as text, such as those of another tool's templates. */
    private static String hint(Node node) {
        boolean isText = node instanceof MappingNode map
                && map.getFlowStyle() == FlowStyle.FLOW
                && map.getValue().stream()
                        .anyMatch(entry -> !(entry.getKeyNode() instanceof ScalarNode)
                                || entry.getValueNode().getTag().equals(Tag.NULL));
        return isText ? "; put a text that begins with { between quotes" : "";
    }

    /** Returns any scalar except null in its textual form: the number 1.10 stays the text "1.10". */
    @Nullable
    public String text(Node node, String what) {
        if (node instanceof ScalarNode scalar && !scalar.getTag().equals(Tag.NULL)) {
            if (scalar.getValue().indexOf('\0') < 0) {
                return scalar.getValue();
            }
            problems.add(Location.of(node), what + " must not contain the character NUL");
            return null;
        }
        wrong(node, what + " must be a text");
        return null;
    }

    @Nullable
    public String nonEmptyText(Node node, String what) {
        String text = text(node, what);
        if (text != null && text.isBlank()) {
            problems.add(Location.of(node), what + " must not be empty");
            return null;
        }
        return text;
    }

    /** Returns a boolean; any other value is false and adds a problem. */
    public boolean bool(Node node, String what) {
        if (node instanceof ScalarNode scalar && scalar.getTag().equals(Tag.BOOL)) {
            return Boolean.parseBoolean(scalar.getValue());
        }
        wrong(node, what + " must be true or false");
        return false;
    }

    @Nullable
    public Integer wholeNumber(Node node, String what, int min, int max) {
        if (node instanceof ScalarNode scalar && scalar.getTag().equals(Tag.INT)) {
            try {
                int number = Integer.parseInt(scalar.getValue());
                if (number >= min && number <= max) {
                    return number;
                }
            } catch (NumberFormatException e) {
                // too large, or written in another base: the message below states the allowed values
            }
        }
        String range = max == Integer.MAX_VALUE ? "of at least " + min : "from " + min + " to " + max;
        wrong(node, what + " must be a whole number " + range);
        return null;
    }

    @Nullable
    public Duration duration(Node node, String what) {
        return parsed(node, what, text -> {
            Duration duration = Durations.parse(text);
            if (!duration.isPositive()) {
                throw new IllegalArgumentException("must be longer than 0, was \"" + text + "\"");
            }
            return duration;
        });
    }

    @Nullable
    public Rate rate(Node node, String what) {
        return parsed(node, what, Rates::parse);
    }

    @Nullable
    public Backoff backoff(Node node, String what) {
        return parsed(node, what, Backoff::parse);
    }

    private <T> @Nullable T parsed(Node node, String what, Function<String, T> parser) {
        String text = text(node, what);
        try {
            return text == null ? null : parser.apply(text);
        } catch (IllegalArgumentException e) {
            problems.add(Location.of(node), what + " " + e.getMessage());
            return null;
        }
    }

    /** Returns the items of a list, or null if the node is not one. */
    @Nullable
    public List<Node> list(Node node, String what) {
        if (node instanceof SequenceNode sequence) {
            List<Node> items = new ArrayList<>();
            sequence.getValue().forEach(item -> items.add(Documents.plain(item)));
            return items;
        }
        wrong(node, what + " must be a list");
        return null;
    }

    /**
     * Returns the entries of a map, including the maps that it merges by {@code <<}, or null if the node is not a map.
     * A duplicate key is a problem.
     */
    @Nullable
    public Map<String, Entry> map(Node node, String what) {
        if (node instanceof MappingNode mapping) {
            return entries(mapping, what);
        }
        wrong(node, what + " must be a map");
        return null;
    }

    /** Returns the entries of a map, and replaces its merges by them: so each is made once, whatever uses it. */
    private Map<String, Entry> entries(MappingNode mapping, String what) {
        Map<String, Entry> entries = new LinkedHashMap<>();
        List<Node> merged = new ArrayList<>();
        for (NodeTuple tuple : mapping.getValue()) {
            Node key = Documents.plain(tuple.getKeyNode());
            Node value = Documents.plain(tuple.getValueNode());
            if (!(key instanceof ScalarNode scalar)) {
                wrong(key, "a key of " + what + " must be a text");
            } else if (isMerge(key)) {
                List<Node> sources = value instanceof SequenceNode sequence ? sequence.getValue() : List.of(value);
                sources.forEach(source -> merged.add(Documents.plain(source)));
            } else if (entries.putIfAbsent(scalar.getValue(), new Entry(key, value)) != null) {
                problems.add(Location.of(key), "key \"" + scalar.getValue() + "\" occurs twice in " + what);
            }
        }
        if (!merged.isEmpty()) {
            merging.add(mapping);
            merged.forEach(source -> merge(source, what, entries));
            merging.remove(mapping);
            List<NodeTuple> all = new ArrayList<>(entries.size());
            if (entries.size() > MAX_MERGED) {
                problems.add(
                        Location.of(mapping),
                        what + " must have at most " + MAX_MERGED + " entries with those that it merges, had "
                                + entries.size() + "; merge maps with fewer");
            } else {
                entries.values().forEach(entry -> all.add(new NodeTuple(entry.key, entry.value)));
            }
            mapping.setValue(all);
        }
        return entries;
    }

    private void merge(Node source, String what, Map<String, Entry> into) {
        if (!(source instanceof MappingNode mapping)) {
            wrong(source, "what is merged into " + what + " must be a map");
        } else if (merging.contains(mapping)) {
            problems.add(Location.of(source), what + " must not merge itself");
        } else if (merging.size() == DepthLimit.MAX_DEPTH) {
            problems.add(
                    Location.of(source),
                    "a chain of maps that merge each other must have at most " + DepthLimit.MAX_DEPTH
                            + "; merge one map that has the keys of all");
        } else {
            entries(mapping, what).forEach(into::putIfAbsent);
        }
    }

    private static boolean isMerge(Node key) {
        return key instanceof ScalarNode scalar
                && scalar.isPlain()
                && scalar.getValue().equals("<<");
    }

    /** Returns a description of the node's value for a message. */
    public static String found(Node node) {
        return switch (node) {
            case ScalarNode scalar when scalar.getTag().equals(Tag.NULL) -> "nothing";
            case ScalarNode scalar when scalar.getTag().equals(Tag.STR) -> "\"" + shortened(scalar.getValue()) + "\"";
            case ScalarNode scalar -> shortened(scalar.getValue());
            case SequenceNode sequence -> "a list of " + sequence.getValue().size();
            default -> "a map";
        };
    }

    /** Returns a text on one line, cut where it is too long for a message. */
    public static String shortened(String text) {
        String line = Printable.oneLine(text.length() <= 80 ? text : text.substring(0, 80) + Printable.CUT);
        return line.length() <= 80 ? line : line.substring(0, 77) + Printable.CUT;
    }

    /** A key and its value. */
    public record Entry(Node key, Node value) {}
}
