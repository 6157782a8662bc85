package dev.raddle.cli.flows;

import dev.raddle.cli.file.value.Printable;
import dev.raddle.cli.page.RecordedRun;
import dev.raddle.cli.page.RecordedRun.State;
import dev.raddle.flow.RecordedFailure;
import dev.raddle.jdbc.StoredEntry;
import dev.raddle.jdbc.StoredRun;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Makes a page of a run. The states of nodes follow from the entries of the journal as in a run that continues.
 */
final class FlowsPage {
    private static final Set<String> OF_SUBFLOWS = Set.of("SLEEP", "SIGNAL"); // their ends are not recorded

    private final Map<String, Row> rows = new LinkedHashMap<>(); // by the ids of nodes

    /** What is known of a node after some entries. */
    private static final class Row {
        private State state = State.NO_END;
        private int attempts;
        private @Nullable RecordedFailure failure;
        private @Nullable String via;
        private final StringBuilder journal = new StringBuilder();

        void forget() {
            state = State.NO_END;
            attempts = 0;
            failure = null;
            via = null;
        }
    }

    private FlowsPage() {}

    static RecordedRun of(StoredRun run, List<StoredEntry> entries) {
        FlowsPage page = new FlowsPage();
        entries.forEach(page::add);
        List<RecordedRun.Node> nodes = new ArrayList<>();
        page.rows.forEach((id, row) -> nodes.add(new RecordedRun.Node(
                Printable.oneLine(id),
                row.state,
                row.attempts,
                row.failure == null ? null : FlowsTable.text(row.failure),
                row.via,
                row.journal.toString())));
        return new RecordedRun(Printable.oneLine(run.id()), about(run), FlowsTable.run(run, entries), nodes);
    }

    private static String about(StoredRun run) {
        String ended = run.endedAt() == null ? "" : " to " + FlowsTable.time(run.endedAt());
        return run.state() + " · flow " + Printable.oneLine(run.flow() + ", version " + run.version()) + " · "
                + FlowsTable.time(run.createdAt()) + ended;
    }

    private void add(StoredEntry entry) {
        String node = entry.node();
        if (entry.kind().equals("BEGUN")) {
            begin(entry);
        } else if (node != null && !(node.indexOf('/') >= 0 && OF_SUBFLOWS.contains(entry.kind()))) {
            Row row = rows.computeIfAbsent(node, unknown -> new Row());
            apply(entry, row);
            row.journal.append(Printable.oneLine(FlowsTable.words(entry))).append('\n');
            if (entry.failure() != null) {
                row.journal.append(FlowsTable.lines(entry.failure()));
            }
        }
    }

    /** Begins a try, which keeps only the nodes that have succeeded. */
    private void begin(StoredEntry entry) {
        rows.forEach((id, row) -> {
            if (row.state != State.SUCCEEDED || entry.nodes().contains(id)) {
                row.forget();
            }
        });
    }

    private static void apply(StoredEntry entry, Row row) {
        switch (entry.kind()) {
            case "NODE" -> {
                row.state = stateOf(entry.state());
                row.attempts = entry.count() == null ? row.attempts : entry.count();
                row.failure = entry.failure();
                row.via = "FALLBACK".equals(entry.via()) ? "fallback" : null;
            }
            case "ATTEMPT" -> {
                row.attempts = entry.count() == null ? row.attempts : entry.count();
                row.failure = entry.failure();
            }
            case "MAP" -> row.state = State.SUCCEEDED;
            case "COMPENSATED" -> row.state = State.COMPENSATED;
            default -> {} // decides nothing
        }
    }

    private static State stateOf(@Nullable String state) {
        return switch (state) {
            case "SUCCESS" -> State.SUCCEEDED;
            case "FAILED" -> State.FAILED;
            case "TIMED_OUT" -> State.TIMED_OUT;
            case "SKIPPED" -> State.SKIPPED;
            case null, default -> State.NO_END; // of a later version
        };
    }
}
