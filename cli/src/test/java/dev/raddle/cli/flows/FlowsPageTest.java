package dev.raddle.cli.flows;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.cli.page.RecordedRun;
import dev.raddle.cli.page.RecordedRun.State;
import dev.raddle.flow.RecordedFailure;
import dev.raddle.jdbc.RunState;
import dev.raddle.jdbc.StoredEntry;
import dev.raddle.jdbc.StoredRun;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class FlowsPageTest {
    private static final Instant NOON = Instant.parse("2026-01-31T12:00:00.123Z");
    private static final RecordedFailure FAILURE = new RecordedFailure("Late", "no\nvan", "at a\nat b\n");
    private static final StoredRun RUN = new StoredRun(
            "o-\u001b17", "shop", "1", RunState.FAILED, 2, "w", NOON, NOON, NOON.plusSeconds(9), FAILURE, null, null);

    private static StoredEntry entry(String kind, @Nullable String node, @Nullable String state) {
        return new StoredEntry(1, 0, kind, node, state, null, null, null, null, List.of());
    }

    private static StoredEntry begun(String... again) {
        return new StoredEntry(1, 0, "BEGUN", null, null, null, null, NOON, null, List.of(again));
    }

    private static List<String> states(StoredEntry... entries) {
        return FlowsPage.of(RUN, List.of(entries)).nodes().stream()
                .map(node -> node.id() + " " + node.state())
                .toList();
    }

    @Test
    void a_node_has_its_state_attempts_failure_and_entries() {
        RecordedRun page = FlowsPage.of(
                RUN,
                List.of(
                        begun(),
                        new StoredEntry(1, 1, "ATTEMPT", "a", null, null, 1, null, FAILURE, List.of()),
                        new StoredEntry(1, 2, "NODE", "a", "SUCCESS", "FALLBACK", 2, null, null, List.of())));

        assertThat(page.name()).isEqualTo("o-\\u001b17");
        assertThat(page.about())
                .isEqualTo("FAILED · flow shop, version 1 · 2026-01-31T12:00:00Z to 2026-01-31T12:00:09Z");
        assertThat(page.nodes())
                .containsExactly(new RecordedRun.Node(
                        "a",
                        State.SUCCEEDED,
                        2,
                        null,
                        "fallback",
                        "attempt 1 has failed\nLate: no\\nvan\n    at a\n    at b\n"
                                + "SUCCESS, attempt 2, by the fallback\n"));
        assertThat(page.journal())
                .isEqualTo(FlowsTable.run(
                        RUN,
                        List.of(
                                begun(),
                                new StoredEntry(1, 1, "ATTEMPT", "a", null, null, 1, null, FAILURE, List.of()),
                                new StoredEntry(1, 2, "NODE", "a", "SUCCESS", "FALLBACK", 2, null, null, List.of()))));
    }

    @Test
    void a_node_without_an_end_is_shown_and_one_of_a_subflow_is_only_in_the_journal() {
        assertThat(states(
                        begun(),
                        entry("SLEEP", "until", null),
                        entry("SIGNAL", "ship/confirmed", null),
                        entry("ELEMENT", "map", null),
                        entry("NODE", "b", "NEWER")))
                .containsExactly("until NO_END", "map NO_END", "b NO_END");
    }

    @Test
    void a_new_try_keeps_only_nodes_that_have_succeeded_and_are_not_run_again() {
        StoredEntry[] first = {
            begun(),
            entry("NODE", "kept", "SUCCESS"),
            entry("NODE", "again", "SUCCESS"),
            entry("MAP", "map", null),
            entry("NODE", "undone", "SUCCESS"),
            entry("NODE", "failed", "FAILED"),
            entry("NODE", "late", "TIMED_OUT"),
            entry("NODE", "skipped", "SKIPPED"),
            entry("COMPENSATED", "undone", null),
            entry("ENDED", null, "FAILED")
        };
        assertThat(states(first))
                .containsExactly(
                        "kept SUCCEEDED",
                        "again SUCCEEDED",
                        "map SUCCEEDED",
                        "undone COMPENSATED",
                        "failed FAILED",
                        "late TIMED_OUT",
                        "skipped SKIPPED");

        StoredEntry[] second = java.util.Arrays.copyOf(first, first.length + 1);
        second[first.length] = begun("again");
        assertThat(states(second))
                .containsExactly(
                        "kept SUCCEEDED",
                        "again NO_END",
                        "map SUCCEEDED",
                        "undone NO_END",
                        "failed NO_END",
                        "late NO_END",
                        "skipped NO_END");
    }
}
