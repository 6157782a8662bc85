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
import org.junit.jupiter.api.Test;

class FlowsPageTest {
    private static final Instant NOON = Instant.parse("2026-01-31T12:00:00.123Z");
    private static final RecordedFailure FAILURE = new RecordedFailure("Late", "no\nvan", "at a\nat b\n");
    private static final StoredRun RUN = new StoredRun(
            "o-\u001b17", "shop", "1", RunState.FAILED, 2, "w", NOON, NOON, NOON.plusSeconds(9), FAILURE, null, null);

    private static StoredEntry begun(String... again) {
        return new StoredEntry(1, 0, "BEGUN", null, null, null, null, NOON, null, List.of(again));
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
                        "attempt 1 has failed\nLate: no van\n    at a\n    at b\n"
                                + "SUCCESS, attempt 2, by the fallback\n"));
        assertThat(page.journal())
                .isEqualTo(FlowsTable.run(
                        RUN,
                        List.of(
                                begun(),
                                new StoredEntry(1, 1, "ATTEMPT", "a", null, null, 1, null, FAILURE, List.of()),
                                new StoredEntry(1, 2, "NODE", "a", "SUCCESS", "FALLBACK", 2, null, null, List.of()))));
    }
}
