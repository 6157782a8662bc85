package dev.raddle.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.flow.Entry;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowStatus;
import dev.raddle.flow.NodeState;
import dev.raddle.flow.RecordedFailure;
import dev.raddle.flow.ValueSource;
import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A stored entry of each kind has a description, and converts to the entry of the core without its value. */
class StoredEntryTest {

    private static final Instant NOON = Instant.parse("2026-01-31T12:00:00Z");
    private static final RecordedFailure FAILURE = new RecordedFailure("Late", null, "");

    /** Returns an entry of a kind, without a value, which a stored entry does not have. */
    private static Entry sampleOf(Class<?> kind) throws ReflectiveOperationException {
        Class<?>[] types = Arrays.stream(kind.getRecordComponents())
                .map(RecordComponent::getType)
                .toArray(Class<?>[]::new);
        Object[] samples = Arrays.stream(types).map(StoredEntryTest::sampleFor).toArray();
        return (Entry) kind.getDeclaredConstructor(types).newInstance(samples);
    }

    private static Object sampleFor(Class<?> type) {
        Map<Class<?>, Object> samples = Map.of(
                String.class,
                "a",
                List.class,
                List.of("a", "b"),
                Instant.class,
                NOON,
                int.class,
                2,
                long.class,
                7L,
                boolean.class,
                true,
                NodeState.class,
                NodeState.SUCCESS,
                ValueSource.class,
                ValueSource.FALLBACK,
                FlowStatus.class,
                FlowStatus.FAILED,
                RecordedFailure.class,
                FAILURE);
        assertThat(samples.keySet().contains(type) || type == Object.class)
                .as("a sample of %s", type)
                .isTrue();
        return samples.get(type);
    }

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
    void each_kind_is_the_entry_that_was_recorded_and_has_words() throws Exception {
        for (Class<?> kind : Entry.class.getPermittedSubclasses()) {
            Entry entry = sampleOf(kind);
            StoredEntry stored = stored(entry);
            assertThat(stored.entry()).contains(entry);
            assertThat(stored.words()).isNotBlank().isNotEqualTo(stored.kind());
        }
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
