package dev.raddle.flow;

import static dev.raddle.flow.Dependency.anyOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import dev.raddle.testing.StepScheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a journal says about a run is what the run has reported, and what the next process decides. */
class RecordedRunTest {

    private static final int PLANS = Integer.getInteger("raddle.flow.recorded", 300);
    private static final Instant NOON = Instant.parse("2026-01-31T12:00:00Z");
    private static final RecordedFailure FAILURE = new RecordedFailure("Late", "no van", "");

    // Random plans.

    @Test
    void a_finished_run_is_recorded_as_it_was_reported() throws Exception {
        for (long seed = 0; seed < PLANS; seed++) {
            ContinuedRun whole = ContinuedRun.whole(seed);
            RecordedRun recorded = RecordedRun.of(whole.entries(), whole.plan, whole.options);

            assertThat(recorded.status()).as("%s", whole).isEqualTo(whole.last.status());
            assertThat(reportsOf(recorded)).as("%s", whole).isEqualTo(reportsOf(whole.last, recorded));
            assertThat(recorded.compensated()).as("%s", whole).isEqualTo(Set.copyOf(whole.undone()));
        }
    }

    private static Map<String, String> reportsOf(RecordedRun run) {
        Map<String, String> reports = new TreeMap<>();
        for (RecordedNode node : run.nodes()) {
            String failure = node.state() == NodeState.SUCCESS || !hasOwnCause(node) ? "" : " " + node.failure();
            reports.put(node.id(), node.state() + " " + node.via() + " " + node.value() + failure);
        }
        return reports;
    }

    /** Returns whether the cause of an end is recorded. That of the end of the run may not be. */
    private static boolean hasOwnCause(RecordedNode node) {
        return node.isRecorded() || !node.dueTo().isEmpty();
    }

    /** Returns the reports of nodes, with the exceptions that the journal has. */
    private static Map<String, String> reportsOf(FlowResult<?> result, RecordedRun recorded) {
        Map<String, String> reports = new TreeMap<>();
        for (NodeReport<?> node : result.nodes()) {
            boolean isKnown = node.state() != NodeState.SUCCESS && hasOwnCause(recorded.node(node.id()));
            String failure = isKnown ? " " + node.cause() : "";
            reports.put(node.id(), node.state() + " " + node.via() + " " + node.value() + failure);
        }
        return reports;
    }

    /** A journal that has entries and keeps no others. */
    private record Fixed(List<Entry> entries) implements FlowJournal {
        @Override
        public List<Entry> open(Work work) {
            return entries;
        }

        @Override
        public void record(Entry entry) {}
    }

    @Test
    void an_interrupted_run_is_recorded_as_the_next_process_begins_it_and_the_run_ends() throws Exception {
        for (long seed = 0; seed < PLANS; seed++) {
            ContinuedRun whole = ContinuedRun.whole(seed);
            for (int count = 1; count < whole.records(); count++) {
                List<Entry> entries = whole.entries().subList(0, count);
                RecordedRun recorded = RecordedRun.of(entries, whole.plan, whole.options);

                assertThat(List.of(endsOf(recorded), triggeredOf(recorded)))
                        .as("after record %s of %s", count, whole)
                        .isEqualTo(continued(new ContinuedRun(seed), entries));
                assertThat(reportsOf(whole.last, recorded))
                        .as("after record %s of %s", count, whole)
                        .containsAllEntriesOf(endedOf(recorded));
                assertThat(recorded.nodes())
                        .allMatch(node -> node.state() != NodeState.PENDING
                                || !node.dueTo().isEmpty());
            }
        }
    }

    private static Map<String, NodeState> endsOf(RecordedRun run) {
        return run.nodes().stream()
                .filter(node -> node.state().isTerminal())
                .collect(Collectors.toMap(RecordedNode::id, RecordedNode::state));
    }

    private static Set<String> triggeredOf(RecordedRun run) {
        return run.nodes().stream()
                .filter(node -> node.state() == NodeState.WAITING || node.state() == NodeState.RUNNING)
                .map(RecordedNode::id)
                .collect(Collectors.toSet());
    }

    private static Map<String, String> endedOf(RecordedRun run) {
        Map<String, String> ended = reportsOf(run);
        ended.keySet().retainAll(endsOf(run).keySet());
        return ended;
    }

    /** Continues a run, and returns which nodes have ended before any begins, and which ones are about to begin. */
    private static List<Object> continued(ContinuedRun next, List<Entry> entries) throws Exception {
        Set<String> submitted = new TreeSet<>();
        TaskListener listener = new TaskListener() {
            @Override
            public void onSubmitted(TaskIdentity task) {
                submitted.add(task.name());
            }
        };
        RunOptions options = next.options
                .withScheduler(new StepScheduler())
                .withTimeout(Duration.ofDays(1))
                .addListener(listener)
                .withJournal(new Fixed(entries));
        Map<String, NodeState> ended = new TreeMap<>();
        try (FlowRun<?> run = next.plan.start(null, options)) {
            for (PlanNode node : next.plan.nodes()) {
                NodeState state = run.state(node.id());
                if (state.isTerminal()) {
                    ended.put(node.id(), state);
                }
            }
            submitted.removeAll(ended.keySet());
            Set<String> begin = Set.copyOf(submitted);
            run.abandon("it is only looked at");
            return List.of(ended, begin);
        }
    }

    // Cases.

    private static FlowPlan<Void, String> order() {
        FlowBuilder<Void> f = FlowPlan.define("order");
        Node<String> pay = f.node("pay", _ -> "paid").compensate(paid -> {});
        Node<String> approved = f.signal("approved", String.class).needs(Dependency.order(pay));
        Node<Void> pause = f.sleep("pause", Duration.ofDays(1)).needs(Dependency.order(pay));
        Node<String> stock = f.node("stock", _ -> "here");
        Node<String> ship = f.node("ship", anyOf(approved, stock), by -> by).needs(Dependency.order(pause));
        return f.returning(ship);
    }

    private static RecordedRun run(Entry... later) {
        List<Entry> entries = new ArrayList<>(List.of(new Entry.Begun(NOON, List.of())));
        entries.addAll(List.of(later));
        return RecordedRun.of(entries, order(), RunOptions.defaults());
    }

    private static Entry.NodeEnded ended(String id, long number, @Nullable String value) {
        return value == null
                ? new Entry.NodeEnded(id, NodeState.FAILED, ValueSource.NONE, null, 2, FAILURE, number, NOON)
                : new Entry.NodeEnded(id, NodeState.SUCCESS, ValueSource.ACTION, value, 1, null, number, NOON);
    }

    @Test
    void a_node_waits_for_upstreams_that_can_still_decide_it() {
        RecordedRun begun = run();
        assertThat(begun.node("pay").state()).isEqualTo(NodeState.RUNNING);
        assertThat(begun.node("approved").dueTo()).containsExactly("pay");
        assertThat(begun.node("ship").dueTo()).containsExactly("approved", "stock", "pause");

        RecordedRun stocked = run(ended("stock", 1, "here"));
        assertThat(stocked.node("ship").state()).isEqualTo(NodeState.PENDING);
        assertThat(stocked.node("ship").dueTo())
                .as("one of the alternatives is enough")
                .containsExactly("pause");
        assertThat(stocked.begunAt()).isEqualTo(NOON);
        assertThat(stocked.status()).isNull();
    }

    @Test
    void a_node_waits_for_its_signal_and_the_end_of_its_sleep() {
        RecordedRun paid = run(ended("pay", 1, "paid"), new Entry.SleepUntil("pause", NOON.plusSeconds(9)));
        assertThat(paid.node("approved").state()).isEqualTo(NodeState.WAITING);
        assertThat(paid.node("approved").sleepsUntil()).isNull();
        assertThat(paid.node("pause").state()).isEqualTo(NodeState.WAITING);
        assertThat(paid.node("pause").sleepsUntil()).isEqualTo(NOON.plusSeconds(9));

        RecordedRun signalled = run(ended("pay", 1, "paid"), new Entry.SignalReceived("approved", "yes"));
        assertThat(signalled.node("approved").state()).isEqualTo(NodeState.RUNNING);
    }

    @Test
    void an_end_that_follows_names_the_node_from_whose_end_it_follows() {
        RecordedRun failed = run(ended("pay", 1, null));

        assertThat(failed.node("pay"))
                .isEqualTo(new RecordedNode(
                        "pay",
                        NodeState.FAILED,
                        true,
                        null,
                        ValueSource.NONE,
                        2,
                        FAILURE,
                        NOON,
                        null,
                        List.of(),
                        false));
        assertThat(failed.node("ship"))
                .isEqualTo(new RecordedNode(
                        "ship",
                        NodeState.FAILED,
                        false,
                        null,
                        ValueSource.NONE,
                        0,
                        FAILURE,
                        null,
                        null,
                        List.of("pause"),
                        false));
    }

    @Test
    void what_had_not_ended_was_ended_with_the_run() {
        RecordedRun cancelled = run(
                ended("pay", 1, "paid"),
                new Entry.Compensating(FlowStatus.CANCELLED, FAILURE, NOON),
                new Entry.Compensated("pay"),
                new Entry.RunEnded(FlowStatus.CANCELLED));
        assertThat(cancelled.status()).isEqualTo(FlowStatus.CANCELLED);
        assertThat(cancelled.isCompensating()).isTrue();
        assertThat(cancelled.node("pay").isCompensated()).isTrue();
        assertThat(cancelled.node("ship").state()).isEqualTo(NodeState.CANCELLED);
        assertThat(cancelled.node("ship").isRecorded()).isFalse();

        RecordedRun late = run(ended("pay", 1, "paid"), new Entry.RunEnded(FlowStatus.TIMED_OUT));
        assertThat(late.node("ship").state()).isEqualTo(NodeState.TIMED_OUT);
        assertThat(late.node("stock").dueTo()).isEmpty();
    }

    @Test
    void a_new_try_forgets_what_runs_again_what_was_compensated_and_what_depends_on_them() {
        RecordedRun undone = run(ended("pay", 1, "paid"), ended("stock", 2, "here"), new Entry.Compensated("pay"));
        assertThat(undone.toForget(List.of())).containsExactly("pay", "approved", "pause", "ship");
        assertThat(undone.toForget(List.of("stock"))).containsExactly("pay", "approved", "pause", "stock", "ship");
        assertThat(run().toForget(List.of("stock"))).containsExactly("stock", "ship");
        assertThatThrownBy(() -> run().toForget(List.of("nothing"))).hasMessageContaining("unknown id \"nothing\"");
    }

    @Test
    void without_a_plan_only_records_are_known() {
        RecordedRun run = RecordedRun.of(List.of(
                new Entry.Begun(NOON, List.of()),
                ended("pay", 1, "paid"),
                new Entry.AttemptFailed("ship", 1, FAILURE, false),
                new Entry.SleepUntil("pause", NOON),
                new Entry.Compensated("gift/wrap")));

        assertThat(run.nodes()).extracting(RecordedNode::id).containsExactly("pay", "ship", "pause");
        assertThat(run.nodes())
                .extracting(RecordedNode::state)
                .containsExactly(NodeState.SUCCESS, NodeState.RUNNING, NodeState.WAITING);
        assertThat(run.node("ship").failure()).isEqualTo(FAILURE);
        assertThat(run.node("gift/wrap").isCompensated()).isTrue();
        assertThat(run.node("other").state()).isEqualTo(NodeState.PENDING);
        assertThat(run.toForget(List.of("pay"))).containsExactly("pay", "gift/wrap");
    }

    @Test
    void functions_of_the_plan_are_not_called() {
        List<String> called = new ArrayList<>();
        FlowBuilder<Void> f = FlowPlan.define("order");
        Node<String> pay = f.node("pay", _ -> called.add("action") ? "paid" : "")
                .when(_ -> called.add("condition"))
                .defaultFrom(() -> called.add("default") ? "free" : "")
                .onResult(_ -> called.add("callback"));
        f.node("ship", pay, paid -> paid).when(_ -> called.add("condition"));
        FlowPlan<Void, ?> plan = f.build();

        RecordedRun run = RecordedRun.of(
                List.of(new Entry.Begun(NOON, List.of()), ended("pay", 1, null)), plan, RunOptions.defaults());

        assertThat(run.node("pay").via()).isEqualTo(ValueSource.DEFAULT);
        assertThat(run.node("pay").value()).isNull();
        assertThat(called).isEmpty();
    }

    @Test
    void another_plan_is_refused_when_its_nodes_are_asked_for() {
        RecordedRun run = run(ended("elsewhere", 1, "x"));
        assertThat(run.compensated()).isEmpty();
        assertThatThrownBy(run::nodes)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("unknown id \"elsewhere\"");
    }
}
