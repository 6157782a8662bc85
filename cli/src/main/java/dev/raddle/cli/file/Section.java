package dev.raddle.cli.file;

import dev.raddle.cli.file.value.Location;
import dev.raddle.cli.file.value.Printable;
import dev.raddle.cli.file.value.Problems;
import dev.raddle.cli.file.value.Spelling;
import dev.raddle.cli.file.value.Values;
import dev.raddle.task.Rate;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.nodes.Node;

/**
 * A map of a run file in which only some keys are allowed. A value that is absent or invalid is null. For one thread.
 */
final class Section {
    private final Node node;
    private final String what;
    private final Map<String, Values.Entry> entries;
    private final Values values;
    private final Problems problems;

    /** Creates a view of {@code node}, and adds a problem for each unknown key. */
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
        String hint = Keys.here(key, allowed)
                .map(name -> "; here it is \"" + name + "\"")
                .orElseGet(() -> Spelling.hint(key, allowed));
        return "unknown key \"" + Printable.oneLine(key) + "\" in " + what + hint + " (allowed: "
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

    /** Returns the value of a required key. */
    @Nullable
    Node required(String key) {
        Node value = get(key);
        if (value == null) {
            problems.add(at(), what + " needs the key \"" + key + "\"");
        }
        return value;
    }

    @Nullable
    Integer wholeNumber(String key, int min) {
        return wholeNumber(key, min, Integer.MAX_VALUE);
    }

    @Nullable
    Integer wholeNumber(String key, int min, int max) {
        Node value = get(key);
        return value == null ? null : values.wholeNumber(value, key, min, max);
    }

    @Nullable
    Duration duration(String key) {
        Node value = get(key);
        return value == null ? null : values.duration(value, key);
    }

    /** Returns the rate of one key, with the burst of another one, which is allowed only beside it. */
    @Nullable
    Rate rate(String key, String burstKey) {
        Node value = get(key);
        Node burst = get(burstKey);
        Rate rate = value == null ? null : values.rate(value, key);
        if (burst == null) {
            return rate;
        }
        if (value == null) {
            problems.add(Location.of(burst), burstKey + " needs the key \"" + key + "\" beside it");
        }
        Integer tasks = values.wholeNumber(burst, burstKey, 1, Integer.MAX_VALUE);
        return rate == null || tasks == null ? null : rate.burst(tasks);
    }

    /** Returns the boolean value of a key; false if it is absent. */
    boolean bool(String key) {
        Node value = get(key);
        return value != null && values.bool(value, key);
    }

    @Nullable
    String text(String key) {
        Node value = get(key);
        return value == null ? null : values.nonEmptyText(value, key);
    }
}
