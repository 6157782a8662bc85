package dev.raddle.console;

import static dev.raddle.flow.Dependency.anyOf;
import static dev.raddle.flow.Dependency.order;
import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.flow.Entry;
import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import dev.raddle.flow.RecordedFailure;
import dev.raddle.flow.RecordedRun;
import dev.raddle.flow.RunOptions;
import dev.raddle.jdbc.RunState;
import dev.raddle.jdbc.StoredEntry;
import dev.raddle.jdbc.StoredRun;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** From the entries of a journal follow the states of nodes. */
class StoredRunViewTest {

    private static final Instant NOON = Instant.parse("2026-01-31T12:00:00.123Z");
    private static final RecordedFailure FAILURE = new RecordedFailure("Late", "no\nvan", "at a\nat b\n");

    private static StoredRun run(RunState state, @Nullable Instant waitsUntil) {
        Instant ended = state.isEnd() ? NOON.plusSeconds(9) : null;
        return new StoredRun("o-17", "shop", "1", state, 2, "w", NOON, NOON, ended, null, null, waitsUntil);
    }

    private static StoredEntry entry(String kind, @Nullable String node, @Nullable String state) {
        Instant at = kind.equals("NODE") || kind.equals("SLEEP") ? NOON.plusSeconds(5) : null;
        String via = !kind.equals("NODE") ? null : "SUCCESS".equals(state) ? "ACTION" : "NONE";
        return new StoredEntry(1, 0, kind, node, state, via, 0, at, null, List.of(), null);
    }

    private static StoredEntry begun(String... again) {
        return new StoredEntry(1, 0, "BEGUN", null, null, null, null, NOON, null, List.of(again), null);
    }

    private static List<String> states(RunView view) {
        List<String> states = new ArrayList<>();
        view.nodes().forEach((id, node) -> states.add(id + " " + node.state()));
        return states;
    }

    private static List<String> statesAtEnd(StoredEntry... entries) {
        return states(DurableConsole.view(run(RunState.FAILED, null), List.of(entries)));
    }

    private static RunView live(RunState state, StoredEntry... entries) {
        FlowBuilder<Void> f = FlowPlan.define("shop");
        Node<String> pay = f.node("pay", _ -> "paid");
        Node<Void> pause = f.sleep("pause", Duration.ofDays(1)).needs(order(pay));
        Node<String> approved = f.signal("approved", String.class).needs(order(pay));
        FlowPlan<Void, String> plan =
                f.returning(f.node("ship", approved, ok -> ok).needs(order(pause)));
        return view(state, plan, entries);
    }

    private static RunView view(RunState state, FlowPlan<?, ?> plan, StoredEntry... entries) {
        List<Entry> known =
                Arrays.stream(entries).flatMap(each -> each.entry().stream()).toList();
        return new StoredRunView(
                run(state, null), List.of(entries), plan, () -> RecordedRun.of(known, plan, RunOptions.defaults()));
    }

    @Test
    void a_node_without_a_recorded_end_has_none_and_one_of_a_subflow_is_only_in_the_journal() {
        assertThat(statesAtEnd(
                        begun(),
                        entry("SLEEP", "until", null),
                        entry("SIGNAL", "ship/confirmed", null),
                        entry("ELEMENT", "map", null),
                        entry("NODE", "b", "NEWER")))
                .containsExactly("until no-end", "map no-end", "b no-end");
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
        assertThat(statesAtEnd(first))
                .containsExactly(
                        "kept succeeded",
                        "again succeeded",
                        "map succeeded",
                        "undone compensated",
                        "failed failed",
                        "late timed-out",
                        "skipped skipped");

        StoredEntry[] second = Arrays.copyOf(first, first.length + 1);
        second[first.length] = begun("again");
        assertThat(statesAtEnd(second))
                .containsExactly(
                        "kept succeeded",
                        "again no-end",
                        "map succeeded",
                        "undone no-end",
                        "failed no-end",
                        "late no-end",
                        "skipped no-end");
    }

    @Test
    void a_node_has_its_attempts_its_failure_in_one_line_and_its_entries() {
        RunView view = DurableConsole.view(
                run(RunState.FAILED, null),
                List.of(
                        begun(),
                        new StoredEntry(1, 1, "ATTEMPT", "a", null, null, 1, null, FAILURE, List.of(), null),
                        new StoredEntry(1, 2, "NODE", "a", "FAILED", "NONE", 2, NOON, FAILURE, List.of(), null)));

        RunView.Node node = view.nodes().get("a");
        assertThat(node.error()).isEqualTo("Late: no van");
        assertThat(node.facts()).isEqualTo(Map.of("attempts", "2"));
        assertThat(node.endedAt()).isEqualTo(NOON);
        assertThat(node.text())
                .isEqualTo("attempt 1 has failed\nLate: no van\n    at a\n    at b\n"
                        + "FAILED, attempt 2\nLate: no van\n    at a\n    at b\n");
        assertThat(view.text())
                .isEqualTo("1  begins at 2026-01-31T12:00:00Z\n1  a: attempt 1 has failed: Late: no van\n"
                        + "1  a: FAILED, attempt 2: Late: no van\n");
    }

    @Test
    void a_line_break_in_a_name_does_not_look_like_another_entry() {
        RunView view =
                DurableConsole.view(run(RunState.FAILED, null), List.of(entry("NODE", "a\n1  b: SUCCESS", "FAILED")));

        assertThat(view.text()).isEqualTo("1  a 1  b: SUCCESS: FAILED\n");
    }

    @Test
    void with_a_plan_nodes_wait_for_their_upstreams_their_signal_and_the_end_of_their_sleep() {
        RunView begun = live(RunState.RUNNING, begun());
        assertThat(states(begun)).containsExactly("pay running", "pause pending", "approved pending", "ship pending");
        assertThat(begun.nodes().get("approved").why()).isEqualTo("waits for pay");
        assertThat(begun.edges()).hasSize(4);

        RunView paid = live(RunState.WAITING, begun(), entry("NODE", "pay", "SUCCESS"), entry("SLEEP", "pause", null));
        assertThat(states(paid)).containsExactly("pay succeeded", "pause waiting", "approved waiting", "ship pending");
        assertThat(paid.nodes().get("pause").why()).isEqualTo("sleeps until 2026-01-31T12:00:05Z");
        assertThat(paid.nodes().get("pause").takesSignal()).isFalse();
        assertThat(paid.nodes().get("approved").takesSignal()).isTrue();
        assertThat(paid.nodes().get("approved").readyAt()).isEqualTo(NOON.plusSeconds(5));
        assertThat(paid.nodes().get("ship").readyAt()).isNull();

        RunView signalled =
                live(RunState.WAITING, begun(), entry("NODE", "pay", "SUCCESS"), entry("SIGNAL", "approved", null));
        assertThat(signalled.nodes().get("approved").takesSignal()).isFalse();
    }

    @Test
    void no_node_waits_in_a_run_that_compensates_or_has_ended() {
        StoredEntry compensating = entry("COMPENSATING", null, "FAILED");
        assertThat(states(live(RunState.RUNNING, begun(), compensating)))
                .containsExactly("pay no-end", "pause no-end", "approved no-end", "ship no-end");
        assertThat(states(live(RunState.STUCK, begun())))
                .containsExactly("pay no-end", "pause no-end", "approved no-end", "ship no-end");
        assertThat(states(live(RunState.RUNNING, begun(), compensating, begun("pay"))))
                .contains("pay running");
    }

    @Test
    void the_end_of_a_node_after_a_failed_one_follows_from_that() {
        FlowBuilder<Void> f = FlowPlan.define("shop");
        Node<String> pay = f.node("pay", _ -> "paid");
        FlowPlan<Void, String> plan = f.returning(f.node("ship", pay, paid -> paid));
        RunView view = view(RunState.RUNNING, plan, begun(), entry("NODE", "pay", "FAILED"));

        assertThat(view.nodes().get("ship").state()).isEqualTo("failed");
        assertThat(view.nodes().get("ship").why()).isEqualTo("its end follows from that of pay");
    }

    @Test
    void an_end_that_follows_from_one_that_follows_is_not_waited_for() {
        FlowBuilder<Void> f = FlowPlan.define("shop");
        Node<String> pay = f.node("pay", _ -> "paid");
        Node<String> ship = f.node("ship", pay, paid -> paid);
        FlowPlan<Void, String> plan = f.returning(f.node("mail", ship, shipped -> shipped));
        RunView view = view(RunState.RUNNING, plan, begun(), entry("NODE", "pay", "FAILED"));

        assertThat(view.nodes().get("mail").state()).isEqualTo("failed");
        assertThat(view.nodes().get("mail").why()).isEqualTo("its end follows from that of ship");
        assertThat(view.nodes().get("mail").error()).isNull();
    }

    @Test
    void a_journal_that_has_lost_entries_is_shown_with_those_that_are_left() {
        StoredEntry map = new StoredEntry(1, 1, "MAP", "mails", null, null, 2, NOON, null, List.of(), 1L);
        RunView view = DurableConsole.view(run(RunState.STUCK, null), List.of(begun(), map));

        assertThat(states(view)).containsExactly("mails no-end");
        assertThat(view.text()).contains("mails: all 2 elements done");
    }

    @Test
    void one_upstream_is_enough_for_a_node_that_needs_any() {
        FlowBuilder<Void> f = FlowPlan.define("shop");
        Node<String> one = f.node("one", _ -> "1");
        Node<String> two = f.node("two", _ -> "2");
        FlowPlan<Void, String> plan = f.returning(f.node("first", anyOf(one, two), any -> any));
        RunView view = view(RunState.RUNNING, plan, begun(), entry("NODE", "one", "SUCCESS"));

        assertThat(states(view)).containsExactly("one succeeded", "two running", "first running");
    }

    @ParameterizedTest
    @EnumSource
    void each_state_says_what_comes_next(RunState state) {
        RunView view = DurableConsole.view(run(state, null), List.of());

        assertThat(view.facts().get("next")).isNotBlank();
        assertThat(view.state()).matches("[a-z-]+");
    }

    @Test
    void a_run_that_waits_says_for_what() {
        assertThat(DurableConsole.view(run(RunState.WAITING, Instant.MAX), List.of())
                        .facts())
                .containsEntry("waits", "for a signal")
                .containsEntry("next", "a signal continues it; it can be cancelled");
        assertThat(DurableConsole.view(run(RunState.WAITING, NOON), List.of()).facts())
                .containsEntry("waits", "until 2026-01-31T12:00:00Z");
    }
}
