package dev.raddle.cli.file;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.nodes.Node;

/** A map of a run file of which only some keys are allowed. What is absent or wrong reads as null. For one thread. */
final class Section {
    private final Node node;
    private final String what;
    private final Map<String, Values.Entry> entries;
    private final Values values;
    private final Problems problems;

    /** A view of {@code node}; its unknown keys are problems at once. */
    Section(Node node, String what, List<String> allowed, Problems problems) {
        this.node = node;
        this.what = what;
        this.problems = problems;
        this.values = new Values(problems);
        Map<String, Values.Entry> found = values.map(node, what);
        this.entries = found == null ? Map.of() : found;
        entries.forEach((key, entry) -> {
            if (!allowed.contains(key)) {
                problems.add(Location.of(entry.key()), unknown(key, allowed));
            }
        });
    }

    private String unknown(String key, List<String> allowed) {
        return "unknown key \"" + Printable.oneLine(key) + "\" in " + what + Spelling.hint(key, allowed) + " (allowed: "
                + String.join(", ", allowed) + ")";
    }

    Location at() {
        return Location.of(node);
    }

    @Nullable
    Node get(String key) {
        Values.Entry entry = entries.get(key);
        return entry == null ? null : entry.value();
    }

    /** The value of a key that must be there. */
    @Nullable
    Node required(String key) {
        Node value = get(key);
        if (value == null) {
            problems.add(at(), what + " needs the key \"" + key + "\"");
        }
        return value;
    }

    @Nullable
    Integer wholeNumber(String key, int least) {
        return wholeNumber(key, least, Integer.MAX_VALUE);
    }

    @Nullable
    Integer wholeNumber(String key, int least, int most) {
        Node value = get(key);
        return value == null ? null : values.wholeNumber(value, key, least, most);
    }

    @Nullable
    Duration duration(String key) {
        Node value = get(key);
        return value == null ? null : values.duration(value, key);
    }

    /** Whether a key says so; false if it is absent. */
    boolean truth(String key) {
        Node value = get(key);
        return value != null && values.truth(value, key);
    }

    @Nullable
    String word(String key, List<String> allowed) {
        Node value = get(key);
        return value == null ? null : values.word(value, key, allowed);
    }

    @Nullable
    String text(String key) {
        Node value = get(key);
        return value == null ? null : values.nonEmptyText(value, key);
    }
}
