package dev.raddle.flow;

import static dev.raddle.flow.Dependency.after;
import static dev.raddle.flow.Dependency.anyOf;
import static dev.raddle.flow.JournalRecords.find;
import static dev.raddle.flow.JournalRecords.finish;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.flow.JournalRecords.Recorded;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.LeasedThreads;
import dev.raddle.testing.VirtualTime;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Runs that continue an earlier interrupted run. */
@Timeout(60)
class FlowJournalTest {

    private final FlowBuilder<Void> f = FlowPlan.define("durable");
    private final MemoryJournal journal = FlowJournal.inMemory();
    private final RunOptions options = RunOptions.defaults().withJournal(journal);
    private final List<String> ran = new CopyOnWriteArrayList<>();
    private final AtomicBoolean broken = new AtomicBoolean(true);

    /** A journal in memory, to be subclassed. */
    private static class Scripted implements FlowJournal {
        final MemoryJournal records = FlowJournal.inMemory();

        @Override
        public List<Entry> open(Work work) throws Exception {
            return records.open(work);
        }

        @Override
        public void record(Entry entry) throws Exception {
            records.record(entry);
        }
    }

    private Node<String> step(String id, Dependency<?>... needs) {
        return f.node(id, () -> {
                    ran.add(id);
                    return id.toUpperCase(java.util.Locale.ROOT);
                })
                .needs(needs);
    }

    private Node<String> breakable(String id, Dependency<?>... needs) {
        return f.node(id, () -> {
                    ran.add(id);
                    if (broken.get()) {
                        throw new IllegalStateException(id + " is broken");
                    }
                    return "mended";
                })
                .needs(needs);
    }

    @Test
    void finished_nodes_are_not_run_again_by_the_next_run_and_their_callbacks_are_not_called() throws Exception {
        AtomicInteger reported = new AtomicInteger();
        Node<String> a =
                step("a").onBegin(c -> reported.incrementAndGet()).onResult(report -> reported.incrementAndGet());
        Node<String> b = f.node("b", a, x -> x + "b");
        Node<String> c = breakable("c", b);
        Node<String> end = f.node("end", b, c, (x, y) -> x + y);
        FlowPlan<Void, String> plan = f.returning(end);

        assertThat(plan.run(null, options).status()).isEqualTo(FlowStatus.FAILED);
        assertThat(find(journal, "a")).isEqualTo(new Recorded("A"));
        assertThat(find(journal, "c")).isNull();
        broken.set(false);
        FlowResult<String> second = plan.run(null, options);

        assertThat(second.value()).isEqualTo("Abmended");
        assertThat(ran).containsExactly("a", "c", "c");
        assertThat(reported).hasValue(2);
        assertThat(second.node(a).via()).isEqualTo(ValueSource.JOURNAL);
        assertThat(second.node(a).state()).isEqualTo(NodeState.SUCCESS);
        assertThat(second.node(a).startNanos()).isEqualTo(-1);
        assertThat(second.explain("a")).isEqualTo("SUCCESS: an earlier run had finished it, says the journal");
        assertThat(plan.run(null, options).value()).isEqualTo("Abmended");
        assertThat(ran).hasSize(3);
    }

    @Test
    void null_and_values_of_fallbacks_are_recorded_like_other_values() throws Exception {
        Node<String> a = f.node("a", () -> {
            ran.add("a");
            return null;
        });
        Node<String> b = breakable("b", a).fallbackValue("F");
        Node<String> end = f.node("end", a, b, (x, y) -> x + y);
        f.returning(end).run(null, options);
        ran.clear();
        assertThat(find(journal, "a")).isEqualTo(new Recorded(null));
        assertThat(f.returning(end).run(null, options).value()).isEqualTo("nullF");
        assertThat(ran).isEmpty();
    }

    @Test
    void nodes_that_only_finished_nodes_needed_are_not_run() throws Exception {
        Node<String> a = step("a");
        Node<String> b = step("b", a);
        Node<String> c = step("c", b);
        step("side", a).essential();
        finish(journal, "c", "recorded");
        FlowResult<String> result = f.returning(c).run(null, options);
        assertThat(result.value()).isEqualTo("recorded");
        assertThat(ran).containsExactly("a", "side"); // side needs a, and no node needs b
        assertThat(result.node(b).state()).isEqualTo(NodeState.SKIPPED);
    }

    @Test
    void finished_nodes_meet_clauses_like_other_nodes() throws Exception {
        Node<String> slow = step("slow");
        Node<String> fast = step("fast");
        Node<String> any = f.node("any", anyOf(slow, fast), x -> x);
        Node<String> end = f.node("end", any, after(fast), (x, o) -> x + o.status());
        finish(journal, "fast", "recorded");
        FlowResult<String> result = f.returning(end).run(null, options);
        assertThat(result.value()).isEqualTo("recordedSUCCESS");
        assertThat(result.node(slow).state()).isEqualTo(NodeState.SKIPPED);
    }

    @Test
    void a_value_that_cannot_be_recorded_fails_the_node() throws Exception {
        FlowJournal full = new Scripted() {
            @Override
            public void record(Entry entry) throws Exception {
                if (entry instanceof Entry.NodeEnded) {
                    throw new IOException("disk is full");
                }
                super.record(entry);
            }
        };
        Node<String> a = step("a").fallbackValue("F");
        FlowResult<String> result =
                f.returning(a).run(null, RunOptions.defaults().withJournal(full));
        assertThat(result.node(a).state()).isEqualTo(NodeState.FAILED);
        assertThat(result.node(a).cause()).hasMessage("disk is full");
    }

    // two runs, one journal
    @Test
    void an_action_whose_end_cannot_be_recorded_is_undone_unless_the_journal_has_rolled_it_back() throws Exception {
        for (boolean rollsBack : new boolean[] {false, true}) {
            ran.clear();
            FlowBuilder<Void> plan = FlowPlan.define("durable");
            plan.node("pay", () -> "paid").compensate(value -> ran.add("refund " + value));
            Scripted refusing = new Scripted() {
                @Override
                public void record(Entry entry) throws Exception {
                    if (entry instanceof Entry.NodeEnded end && end.isSuccess()) {
                        throw new IOException("no codec");
                    }
                    super.record(entry);
                }

                @Override
                public boolean hasRolledBack(String id) {
                    return rollsBack;
                }
            };
            FlowResult<Void> result =
                    plan.build().run(null, RunOptions.defaults().withJournal(refusing));
            assertThat(result.status()).isEqualTo(FlowStatus.FAILED);
            assertThat(result.node("pay").cause()).hasMessage("no codec");
            assertThat(ran).isEqualTo(rollsBack ? List.of() : List.of("refund paid"));
            assertThat(new Recovered(refusing.records.entries())
                            .nodes
                            .get("pay")
                            .state())
                    .isEqualTo(NodeState.FAILED);
        }
    }

    @Test
    void a_journal_is_for_one_plan_and_one_parameter() throws Exception {
        FlowBuilder<String> g = FlowPlan.define("greeting", String.class);
        FlowPlan<String, String> greeting = g.returning(g.node("hello", c -> "hello " + c.param()));
        FlowBuilder<String> h = FlowPlan.define("greeting", String.class);
        Node<Integer> hello = h.node("hello", () -> 1);
        FlowPlan<String, Integer> numbers = h.returning(h.node("next", hello, x -> x + 1));
        assertThat(greeting.run("alice", options).value()).isEqualTo("hello alice");
        assertThatThrownBy(() -> greeting.run("bob", options))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "journal in memory was begun by a run of flow \"greeting\" with another parameter; give each"
                                + " run a journal of its own");
        assertThatThrownBy(() -> numbers.run("alice", options))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("with other nodes or dependencies");
        assertThatThrownBy(() -> FlowPlan.define("other").build().run(null, options))
                .hasMessageContaining("flow \"greeting\", and this is flow \"other\"");
        assertThat(greeting.run("alice", options).node("hello").via()).isEqualTo(ValueSource.JOURNAL);
    }

    @Test
    void a_key_replaces_a_parameter_that_is_never_equal() throws Exception {
        FlowBuilder<Object> g = FlowPlan.define("greeting", Object.class);
        FlowPlan<Object, String> plan = g.returning(g.node("hello", () -> "hello"));
        plan.run(new Object(), options.withJournal(journal, "order-17"));
        assertThat(plan.run(new Object(), options.withJournal(journal, "order-17"))
                        .node("hello")
                        .via())
                .isEqualTo(ValueSource.JOURNAL);
        assertThatThrownBy(() -> plan.run(new Object(), options.withJournal(journal, "order-18")))
                .hasMessageContaining("with the id \"order-17\", and this run has the id \"order-18\"");
        assertThatThrownBy(() -> plan.run(new Object(), options)).hasMessageContaining("and this run has no id");
    }

    @Test
    void plans_differ_by_their_nodes_dependencies_and_outputs_only() {
        List<Graph> graphs = List.of(
                graph("a; b; c: a, b", null),
                graph("a; b; c: a, b", "c"),
                graph("a; b; c: b, a", null),
                graph("a; b; c: a", null),
                graph("a; b; c: after a, b", null),
                graph("a; b; c: 1 a b", null),
                graph("a; b; c: 2 a b", null),
                graph("a; b; ab:", null),
                graph("a; ba; b:", null));
        assertThat(graphs).extracting(Graph::digest).doesNotHaveDuplicates();
        assertThat(graph("a; b; c: a, b", null).digest())
                .as("in every JVM")
                .isEqualTo("90fd44096c8d87a5e8e5f99b42da260d1d66ad2e14f7bc3a580710922759fe98");
    }

    /** Returns the graph of a text that lists nodes with their dependencies. */
    private static Graph graph(String text, @Nullable String output) {
        FlowBuilder<Void> g = FlowPlan.define("graph");
        List<Node<?>> outputs = new ArrayList<>();
        for (String each : text.split("; ")) {
            String[] parts = each.split(": ?", 2);
            Node<String> node = g.node(parts[0], () -> "x");
            for (String need : parts.length == 1 || parts[1].isEmpty() ? new String[0] : parts[1].split(", ")) {
                String[] words = need.split(" ");
                node.needs(
                        words.length == 1
                                ? Dependency.must(need)
                                : words.length == 2
                                        ? Dependency.after(words[1])
                                        : Dependency.atLeast(Integer.parseInt(words[0]), words[1], words[2]));
            }
            if (parts[0].equals(output)) {
                outputs.add(node);
            }
        }
        return g.returning(outputs).graph;
    }

    @Test
    void a_journal_that_cannot_be_read_fails_the_start() {
        FlowJournal unreadable = new Scripted() {
            @Override
            public List<Entry> open(Work work) {
                throw new IllegalStateException("journal of \"" + work.flow() + "\" is torn");
            }
        };
        step("a");
        assertThatThrownBy(() -> f.build().run(null, RunOptions.defaults().withJournal(unreadable)))
                .hasMessage("journal of \"durable\" is torn");
        assertThat(ran).isEmpty();
    }

    // the lease of a scheduler that closes when it has no more users
    @Test
    void a_journal_that_cannot_be_read_leaves_no_lease_of_the_scheduler_open() {
        LeasedThreads scheduler = new LeasedThreads();
        FlowJournal unreadable = new Scripted() {
            @Override
            public List<Entry> open(Work work) {
                throw new AssertionError("journal is torn");
            }
        };
        step("a");
        assertThatThrownBy(() -> f.build()
                        .start(
                                null,
                                RunOptions.timeout(Duration.ZERO)
                                        .withScheduler(scheduler)
                                        .withJournal(unreadable)))
                .isInstanceOf(AssertionError.class)
                .hasMessage("journal is torn");
        assertThat(scheduler.open()).isZero();
    }

    // a late result is dropped
    @Test
    void a_result_after_the_end_of_its_node_is_not_recorded() throws Exception {
        VirtualTime time = new VirtualTime();
        BlockingTask late = BlockingTask.uninterruptible();
        Node<String> a = f.node("a", late::call).timeout(Duration.ofSeconds(1));
        f.node("b", after(a), o -> "b");
        try (FlowRun<Void> run = f.build().start(null, options.withTimeSource(time))) {
            late.awaitBegun();
            time.advance(Duration.ofSeconds(1));
            assertThat(run.join().node("a").state()).isEqualTo(NodeState.TIMED_OUT);
            late.release();
        }
        assertThat(find(journal, "a")).isNull();
        assertThat(find(journal, "b")).isEqualTo(new Recorded("b"));
    }

    @Test
    void a_node_is_recorded_before_downstream_nodes_begin() throws Exception {
        Node<String> a = step("a");
        Node<Boolean> b = f.node("b", a, x -> find(journal, "a") != null);
        assertThat(f.returning(b).run(null, options).value()).isTrue();
    }

    @Test
    void a_node_that_was_undone_is_no_longer_finished() throws Exception {
        Node<String> a = step("a").compensate(value -> ran.add("undo a"));
        Node<String> b = step("b", a).compensate(value -> {
            throw new IllegalStateException("b cannot be undone");
        });
        breakable("c", b);
        f.build().run(null, options);
        assertThat(ran).containsExactly("a", "b", "c", "undo a");
        assertThat(find(journal, "a")).isNull();
        assertThat(find(journal, "b")).isNotNull();
    }

    @Test
    void the_decision_to_undo_is_recorded_before_the_first_node_is_undone_and_each_node_afterwards() throws Exception {
        Node<String> a = step("a").compensate(value -> ran.add(value + ", " + last()));
        Node<String> b = step("b", a)
                .compensate(value -> ran.add(value + ", " + last().getClass().getSimpleName()));
        breakable("c", b);

        f.build().run(null, options);

        assertThat(ran).containsExactly("a", "b", "c", "B, Compensating", "A, Compensated[id=b]");
        assertThat(last()).isEqualTo(new Entry.RunEnded(FlowStatus.FAILED));
    }

    private Entry last() {
        return journal.entries().getLast();
    }

    @Test
    void a_run_whose_compensation_failed_has_not_ended_and_the_next_one_goes_on_undoing() throws Exception {
        AtomicInteger undos = new AtomicInteger();
        Node<String> a = step("a").compensate(value -> {
            ran.add("undo " + value);
            if (undos.incrementAndGet() == 1) {
                throw new IllegalStateException("a cannot be undone");
            }
        });
        FlowPlan<Void, String> plan = f.returning(breakable("b", a));

        FlowResult<String> first = plan.run(null, options);

        assertThat(first.compensationFailures())
                .extracting(String::valueOf)
                .containsExactly("the compensation of node \"a\" failed: java.lang.IllegalStateException:"
                        + " a cannot be undone");
        assertThat(find(journal, "a")).isEqualTo(new Recorded("A"));
        assertThat(plan.run(null, options).compensationFailures()).isEmpty();
        assertThat(ran).containsExactly("a", "b", "undo A", "undo A");
        assertThat(find(journal, "a")).isNull();
        broken.set(false);
        assertThat(plan.run(null, options).value()).isEqualTo("mended");
        assertThat(ran).endsWith("a", "b");
    }

    @Test
    void a_node_that_cannot_be_recorded_as_undone_is_undone_again_by_the_next_run() throws Exception {
        Scripted full = new Scripted() {
            @Override
            public void record(Entry entry) throws Exception {
                if (broken.get() && entry.equals(new Entry.Compensated("a"))) {
                    throw new IOException("disk is full");
                }
                super.record(entry);
            }
        };
        Node<String> first = step("first").compensate(value -> ran.add("undo first"));
        Node<String> a = step("a", first).compensate(value -> ran.add("undo a"));
        Node<String> last = step("last", a).compensate(value -> ran.add("undo last"));
        breakable("b", last);

        FlowResult<Void> result = f.build().run(null, options.withJournal(full));

        assertThat(result.compensationFailures())
                .extracting(String::valueOf)
                .containsExactly("the compensation of node \"a\" failed: java.io.IOException: disk is full");
        assertThat(ran).endsWith("b", "undo last", "undo a", "undo first");
        assertThat(full.records.entries()).doesNotHaveAnyElementsOfTypes(Entry.RunEnded.class);

        broken.set(false);
        FlowResult<Void> next = f.build().run(null, options.withJournal(full));

        assertThat(next.status()).isEqualTo(FlowStatus.FAILED);
        assertThat(ran).endsWith("b", "undo last", "undo a", "undo first", "undo a");
        assertThat(full.records.entries()).endsWith(new Entry.Compensated("a"), new Entry.RunEnded(FlowStatus.FAILED));
    }

    @Test
    void a_run_whose_process_ended_while_it_compensated_runs_no_node_and_compensates() throws Exception {
        Node<String> a = step("a").compensate(value -> ran.add("undo a"));
        step("b", a);
        step("beside");
        journal.record(new Entry.Begun(Instant.EPOCH, List.of()));
        JournalRecords.finish(journal, "a", "A");
        journal.record(new Entry.Compensating(FlowStatus.CANCELLED, null, Instant.EPOCH));

        FlowResult<Void> result = f.build().run(null, options.withJournal(journal));

        assertThat(result.status()).isEqualTo(FlowStatus.CANCELLED);
        assertThat(ran).containsExactly("undo a");
    }

    @Test
    void nothing_is_undone_if_the_decision_cannot_be_recorded() throws Exception {
        Scripted full = new Scripted() {
            @Override
            public void record(Entry entry) throws Exception {
                if (broken.get() && entry instanceof Entry.Compensating) {
                    throw new IOException("disk is full");
                }
                super.record(entry);
            }
        };
        Node<String> a = step("a").compensate(value -> ran.add("undo a"));
        breakable("b", a);

        FlowResult<Void> result = f.build().run(null, options.withJournal(full));

        assertThat(result.compensationFailures())
                .extracting(String::valueOf)
                .containsExactly("no node was compensated: java.io.IOException: disk is full");
        assertThat(ran).containsExactly("a", "b");
        broken.set(false);
        assertThat(f.build().run(null, options.withJournal(full)).status()).isEqualTo(FlowStatus.FAILED);
        assertThat(ran).containsExactly("a", "b", "undo a");
    }

    @Test
    void restored_nodes_are_undone_in_the_reverse_order_of_their_completion() throws Exception {
        for (String id : List.of("e", "c", "a", "d", "b")) {
            step(id).compensate(value -> ran.add("undo " + id));
        }
        for (String id : List.of("a", "b", "c", "d", "e")) {
            finish(journal, id, id);
        }
        FlowNotation.wire(f, "a-->b-->c-->d; any(a, d)-->e");
        Node<String> mine = step("mine").compensate(value -> ran.add("undo mine"));
        breakable("bad", mine);

        f.build().run(null, options);

        assertThat(ran).containsExactly("mine", "bad", "undo mine", "undo e", "undo d", "undo c", "undo b", "undo a");
    }

    @Test
    void a_long_chain_of_restored_nodes_is_undone_in_linear_time() throws Exception {
        int size = 100_000;
        int[] next = {size};
        List<String> wrong = new CopyOnWriteArrayList<>();
        for (int i = size - 1; i >= 0; i--) {
            int number = i;
            Node<String> node = f.node("" + i, () -> "new").compensate(value -> {
                if (--next[0] != number) {
                    wrong.add(value);
                }
            });
            if (i > 0) {
                node.needs(Dependency.must("" + (i - 1)));
            }
        }
        for (int i = 0; i < size; i++) {
            finish(journal, "" + i, "recorded");
        }
        breakable("bad");
        f.build().run(null, options);
        assertThat(next[0]).isZero();
        assertThat(wrong).isEmpty();
    }

    @Test
    void nodes_finished_by_an_earlier_run_are_undone_if_this_one_fails() throws Exception {
        Node<String> a = step("a").compensate(value -> ran.add("undo " + value));
        breakable("b", a);
        finish(journal, "a", "recorded");
        f.build().run(null, options);
        assertThat(ran).containsExactly("b", "undo recorded");
        assertThat(find(journal, "a")).isNull();
    }

    @Test
    void a_run_whose_deadline_has_passed_does_not_change_the_records() throws Exception {
        Node<String> a = step("a");
        finish(journal, "a", "recorded");
        FlowResult<String> result = f.returning(a).run(null, options.withTimeout(Duration.ZERO));
        assertThat(result.status()).isEqualTo(FlowStatus.TIMED_OUT);
        assertThat(find(journal, "a")).isNotNull();
    }

    @Test
    void a_journal_can_be_combined_with_targets() throws Exception {
        Node<String> a = step("a");
        Node<String> b = step("b", a);
        step("c", b);
        finish(journal, "a", "recorded");
        FlowResult<Void> result = f.build().run(null, options.only("b"));
        assertThat(ran).containsExactly("b");
        assertThat(result.node("c").state()).isEqualTo(NodeState.SKIPPED);
        assertThat(journal).hasToString("journal in memory of 4 entries"); // a, begun, b, end
    }
}
