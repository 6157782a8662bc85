package dev.raddle.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Entries: as lines of a file, and what follows from them. */
class RecoveredTest {

    private static final Instant NOON = Instant.parse("2026-11-23T12:00:00.123456789Z");
    private static final RecordedFailure FAILURE = new RecordedFailure("java.lang.Error", "a b%\n-", "at x\nat y\n");
    private static final RecordedFailure SILENT = new RecordedFailure("java.lang.Error", null, "");

    private static final List<Entry> ALL = List.of(
            new Entry.Begun(NOON, List.of()),
            new Entry.Begun(NOON, List.of("a b", "", "%", "-")),
            Entry.NodeEnded.succeeded("a", "A"),
            Entry.NodeEnded.succeeded("a", null),
            Entry.NodeEnded.succeeded("a", ""),
            new Entry.NodeEnded("a", NodeState.SUCCESS, ValueSource.FALLBACK, "F", 3, FAILURE, 1, NOON),
            new Entry.NodeEnded("a", NodeState.FAILED, ValueSource.NONE, null, 1, SILENT, 2, NOON),
            new Entry.NodeEnded("a", NodeState.SKIPPED, ValueSource.NONE, null, 0, null, 3, NOON),
            new Entry.CompensationAttemptFailed("a", 2, FAILURE, true),
            new Entry.AttemptBegan("a b", 2),
            new Entry.AttemptFailed("a", 2, FAILURE, true),
            new Entry.AttemptFailed("a", 2, SILENT, false),
            new Entry.DeadlineSet("a", NOON),
            new Entry.SleepUntil("a", NOON),
            new Entry.SignalReceived("a", "yes"),
            new Entry.SignalReceived("a", null),
            new Entry.ElementEnded("a", 7, "x"),
            new Entry.ElementEnded("a", 7, null),
            new Entry.MapEnded("a", 3, 4, NOON),
            new Entry.Compensating(FlowStatus.CANCELLED, FAILURE, NOON),
            new Entry.Compensating(FlowStatus.FAILED, null, NOON),
            new Entry.Compensated("\u00fc "),
            new Entry.RunEnded(FlowStatus.DEGRADED));

    @Test
    void each_entry_is_one_line_that_becomes_the_same_entry() throws IOException {
        EntryLines lines = new EntryLines(FlowCodec.text());
        for (Entry entry : ALL) {
            String line = lines.encode(entry);
            assertThat(line).doesNotContain("\n");
            assertThat(lines.decode(EntryLines.fields(line))).as(line).isEqualTo(entry);
        }
        assertThat(ALL.stream().map(Entry::getClass).distinct())
                .as("kinds of entries")
                .hasSize(Entry.class.getPermittedSubclasses().length);
    }

    @Test
    void each_kind_of_entry_has_a_meaning() {
        Recovered known = new Recovered(List.of());
        for (int index = 0; index < 3; index++) {
            known.apply(new Entry.ElementEnded("a", index, "x"));
        }
        ALL.stream().filter(entry -> entry instanceof Entry.MapEnded).forEach(known::apply);
        ALL.stream().filter(entry -> !(entry instanceof Entry.MapEnded)).forEach(known::apply); // refuses unknown ones
        assertThat(known.ended).isEqualTo(FlowStatus.DEGRADED);
    }

    @Test
    void nodes_are_in_the_order_of_their_latest_ends() {
        Recovered known = new Recovered(List.of(
                Entry.NodeEnded.succeeded("b", 1),
                Entry.NodeEnded.succeeded("a", 2),
                new Entry.Begun(NOON, List.of("b")),
                Entry.NodeEnded.succeeded("c", 3),
                Entry.NodeEnded.succeeded("b", 4)));
        assertThat(known.nodes.keySet()).containsExactly("a", "c", "b");
        assertThat(known.nodes.get("b").value()).isEqualTo(4);
    }

    @Test
    void ends_take_effect_in_the_order_of_their_numbers_and_those_of_earlier_tries_come_first() {
        Recovered known = new Recovered(List.of(
                new Entry.Begun(NOON, List.of()),
                ended("late", 2),
                ended("early", 1),
                new Entry.Begun(NOON, List.of()),
                ended("third", 3),
                new Entry.ElementEnded("second", 0, "x"),
                new Entry.MapEnded("second", 1, 2, NOON),
                ended("first", 1)));
        assertThat(known.nodes.keySet()).containsExactly("early", "late", "first", "second", "third");
        assertThat(known.nodes.values().stream().map(Entry.NodeEnded::number)).containsExactly(0L, 0L, 1L, 2L, 3L);
    }

    private static Entry.NodeEnded ended(String id, long number) {
        return new Entry.NodeEnded(id, NodeState.SUCCESS, ValueSource.ACTION, "x", 1, null, number, NOON);
    }

    @Test
    void a_new_try_keeps_values_and_signals_and_forgets_all_else() {
        Recovered known = new Recovered(List.of(
                new Entry.Begun(Instant.EPOCH, List.of()),
                Entry.NodeEnded.succeeded("kept", 1),
                Entry.NodeEnded.succeeded("undone", 1),
                new Entry.NodeEnded("failed", NodeState.FAILED, ValueSource.NONE, null, 1, SILENT, 1, NOON),
                new Entry.AttemptFailed("attempted", 2, SILENT, false),
                new Entry.AttemptBegan("attempted", 3),
                new Entry.DeadlineSet("attempted", NOON),
                new Entry.SleepUntil("sleeping", NOON),
                new Entry.SignalReceived("signalled", "first"),
                new Entry.SignalReceived("signalled", "second"),
                new Entry.ElementEnded("mapped", 0, "x"),
                new Entry.Compensating(FlowStatus.FAILED, null, NOON),
                new Entry.Compensated("undone"),
                new Entry.RunEnded(FlowStatus.FAILED),
                new Entry.Begun(NOON, List.of())));
        assertThat(known)
                .usingRecursiveComparison()
                .isEqualTo(new Recovered(List.of(
                        new Entry.Begun(NOON, List.of()),
                        Entry.NodeEnded.succeeded("kept", 1),
                        new Entry.SignalReceived("signalled", "first"),
                        new Entry.ElementEnded("mapped", 0, "x"))));
        assertThat(known.nodes).containsOnlyKeys("kept");
    }

    @Test
    void a_subflow_that_runs_again_waits_for_its_signals_again() {
        Recovered known = new Recovered(List.of(
                new Entry.SignalReceived("sub/approved", "yes"),
                new Entry.SignalReceived("subway", "yes"),
                new Entry.Begun(NOON, List.of("sub"))));
        assertThat(known.signals).containsOnlyKeys("subway");
    }

    @Test
    void an_ended_node_has_no_attempts_and_moments() {
        Recovered known = new Recovered(List.of(
                new Entry.AttemptFailed("a", 2, SILENT, false),
                new Entry.DeadlineSet("a", NOON),
                new Entry.SleepUntil("a", NOON),
                Entry.NodeEnded.succeeded("a", 1)));
        assertThat(known.attempts).isEmpty();
        assertThat(known.deadlines).isEmpty();
        assertThat(known.sleeps).isEmpty();
    }

    @Test
    void a_map_without_one_of_its_elements_is_refused() {
        assertThatThrownBy(() -> new Recovered(List.of(
                        new Entry.ElementEnded("mapped", 0, "x"),
                        new Entry.ElementEnded("mapped", 2, "z"),
                        new Entry.MapEnded("mapped", 3, 1, NOON))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("node \"mapped\" is recorded as ended, and element 1 of 3 is not; the journal has lost"
                        + " entries");
    }

    @Test
    void a_node_that_was_ended_by_others_cannot_be_recorded() {
        for (NodeState state : List.of(NodeState.PENDING, NodeState.RUNNING, NodeState.CANCELLED)) {
            assertThatThrownBy(() -> new Entry.NodeEnded("a", state, ValueSource.NONE, null, 0, null, 1, NOON))
                    .hasMessage("node \"a\" cannot be recorded as " + state);
        }
    }

    @Test
    void a_failure_is_recorded_with_bounded_texts_even_if_its_methods_throw() {
        RecordedFailure long1 = RecordedFailure.of(new IllegalStateException("x".repeat(5_000), new Error("root")));
        assertThat(long1.message()).hasSize(2_003).endsWith("...");
        assertThat(long1.trace()).contains("caused by java.lang.Error: root").hasSizeLessThan(10_000);
        RecordedFailure broken = RecordedFailure.of(new IllegalStateException("x") {
            @Override
            public String getMessage() {
                throw new IllegalStateException("no message");
            }

            @Override
            public synchronized Throwable getCause() {
                throw new IllegalStateException("no cause");
            }
        });
        assertThat(broken.message()).isEqualTo("its message could not be read: java.lang.IllegalStateException");
        assertThat(RecordedFailure.of(FAILURE.toException())).isSameAs(FAILURE);
        assertThat(FAILURE.toException())
                .hasToString("java.lang.Error: a b%\n-")
                .hasMessage("a b%\n-");
        assertThat(SILENT.toException()).hasToString("java.lang.Error").hasMessage(null);
    }

    @Test
    void codecs_refuse_values_of_other_types_and_restore_their_own() throws IOException {
        FlowCodec numbers = FlowCodec.of(
                number -> Integer.toString(number).getBytes(StandardCharsets.UTF_8),
                bytes -> Integer.parseInt(new String(bytes, StandardCharsets.UTF_8)),
                Integer.class);
        assertThat(numbers.decode(numbers.encode(17))).isEqualTo(17);
        assertThatThrownBy(() -> numbers.encode("17"))
                .isInstanceOf(IOException.class)
                .hasMessage("this codec stores values of java.lang.Integer, and the value was a java.lang.String; open"
                        + " the journal with another codec");
        byte[] bytes = {1, 2, 3};
        assertThat((byte[]) FlowCodec.bytes().decode(FlowCodec.bytes().encode(bytes)))
                .isEqualTo(bytes)
                .isNotSameAs(bytes);
        assertThatThrownBy(() -> FlowCodec.bytes().encode("text")).isInstanceOf(IOException.class);
        assertThat(FlowCodec.text().decode(FlowCodec.text().encode("\u00fc"))).isEqualTo("\u00fc");
    }
}
