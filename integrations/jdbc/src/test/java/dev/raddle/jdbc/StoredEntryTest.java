package dev.raddle.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.flow.Entry;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowStatus;
import dev.raddle.flow.NodeState;
import dev.raddle.flow.RecordedFailure;
import dev.raddle.flow.ValueSource;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A stored entry of each kind has a description, and converts to the entry of the core without its value. */
class StoredEntryTest {

    private static final Instant NOON = Instant.parse("2026-01-31T12:00:00Z");
    private static final RecordedFailure FAILURE = new RecordedFailure("Late", null, "");

    private static final List<Entry> ALL = List.of(
            new Entry.Begun(NOON, List.of("a")),
            new Entry.NodeEnded("a", NodeState.SUCCESS, ValueSource.FALLBACK, null, 2, FAILURE, 7, NOON),
            new Entry.AttemptBegan("a", 1),
            new Entry.AttemptFailed("a", 1, FAILURE, true),
            new Entry.DeadlineSet("a", NOON),
            new Entry.SleepUntil("a", NOON),
            new Entry.SignalReceived("a", null),
            new Entry.ElementEnded("a", 0, null),
            new Entry.MapEnded("a", 1, 8, NOON),
            new Entry.Compensating(FlowStatus.FAILED, FAILURE, NOON),
            new Entry.CompensationAttemptFailed("a", 1, FAILURE, false),
            new Entry.Compensated("a"),
            new Entry.RunEnded(FlowStatus.FAILED));

    private static StoredEntry stored(Entry entry) throws IOException {
        EntryRow row = new EntryRow.Maker("run-1", 3, new Values(FlowCodec.text())).row(4, entry);
        return new StoredEntry(
                row.epoch(),
                row.number(),
                row.kind().name(),
                row.node(),
                row.state(),
                row.via(),
                row.count(),
                row.at(),
                row.failure(),
                row.nodes(),
                row.place());
    }

    @Test
    void each_kind_is_the_entry_that_was_recorded_and_has_words() throws IOException {
        for (Entry entry : ALL) {
            StoredEntry stored = stored(entry);
            assertThat(stored.entry()).contains(entry);
            assertThat(stored.words()).isNotBlank().isNotEqualTo(stored.kind());
        }
        assertThat(ALL.stream().map(Entry::getClass).distinct())
                .as("kinds of entries")
                .hasSize(Entry.class.getPermittedSubclasses().length);
    }

    @Test
    void a_moment_that_was_recorded_is_not_always_that_of_the_record() throws IOException {
        assertThat(stored(new Entry.Begun(NOON, List.of())).recordedAt()).isEqualTo(NOON);
        assertThat(stored(new Entry.SleepUntil("a", NOON)).recordedAt()).isNull();
    }

    @Test
    void an_entry_of_a_later_version_is_only_its_kind() {
        StoredEntry newer = new StoredEntry(1, 1, "NEWER", "a", null, null, null, NOON, null, List.of(), null);
        StoredEntry otherState = new StoredEntry(1, 1, "NODE", "a", "NEW", "NONE", 1, NOON, null, List.of(), null);

        assertThat(newer.entry()).isEmpty();
        assertThat(newer.words()).isEqualTo("NEWER");
        assertThat(newer.recordedAt()).isNull();
        assertThat(otherState.entry()).isEmpty();
    }
}
