package dev.raddle.cli.page;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A run that is known from its journal only, as a page: its nodes and what is recorded of them. Neither the
 * dependencies nor the times of nodes are known, so the page has no graph and no timeline.
 *
 * @param name the title
 * @param about the line below it
 * @param journal the run and all entries of its journal as text
 */
public record RecordedRun(String name, String about, String journal, List<Node> nodes) {

    /**
     * A node.
     *
     * @param error the failure of the node or of its latest attempt, or null
     * @param via the source of its value if that is not its action, or null
     * @param journal the entries of the node as text
     */
    public record Node(
            String id,
            State state,
            int attempts,
            @Nullable String error,
            @Nullable String via,
            String journal) {}

    /** The recorded state of a node. */
    public enum State {
        SUCCEEDED,
        FAILED,
        TIMED_OUT,
        SKIPPED,
        /** It had succeeded, and was compensated. */
        COMPENSATED,
        /** No end is recorded. */
        NO_END;

        private String text() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /** Copies the nodes. */
    public RecordedRun {
        nodes = List.copyOf(nodes);
    }

    /**
     * Writes or replaces the page.
     *
     * @throws IOException if it cannot be written; an existing file is then unchanged
     */
    public void writePage(Path file) throws IOException {
        Map<String, @Nullable Object> data = new LinkedHashMap<>();
        data.put("name", name);
        data.put("about", about);
        data.put("journal", journal);
        data.put("wall", 0);
        List<String> states = Arrays.stream(State.values()).map(State::text).toList();
        data.put("states", states);
        data.put("groups", List.of(Map.of("name", "", "limit", 0)));
        List<List<@Nullable Object>> tasks = new ArrayList<>(nodes.size());
        List<List<Object>> outputs = new ArrayList<>(nodes.size());
        for (Node node : nodes) {
            tasks.add(Arrays.asList(
                    node.id,
                    0,
                    states.indexOf(node.state.text()),
                    null,
                    node.attempts,
                    -1,
                    -1,
                    -1,
                    null,
                    node.error,
                    outputs.size(),
                    node.via));
            outputs.add(List.of(node.journal, 0));
        }
        data.put("tasks", tasks);
        data.put("outputs", outputs);
        for (String none : List.of("edges", "kinds", "critical", "slowest")) {
            data.put(none, List.of());
        }
        PageFile.write(file, data);
    }
}
