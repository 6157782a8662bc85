package dev.raddle.flow;

import static dev.raddle.flow.Dependency.after;
import static dev.raddle.flow.Dependency.anyOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Runs that take up where an earlier one was cut off. */
@Timeout(60)
class FlowJournalTest {

    private final FlowBuilder<Void> f = FlowPlan.define("durable");
    private final FlowJournal journal = FlowJournal.inMemory();
    private final RunOptions options = RunOptions.defaults().withJournal(journal);
    private final List<String> ran = new CopyOnWriteArrayList<>();
    private final AtomicBoolean broken = new AtomicBoolean(true);

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
    void what_a_run_has_finished_the_next_does_not_run_again_and_no_callback_tells_of_it() throws Exception {
        AtomicInteger told = new AtomicInteger();
        Node<String> a = step("a").onBegin(c -> told.incrementAndGet()).onResult(report -> told.incrementAndGet());
        Node<String> b = f.node("b", a, x -> x + "b");
        Node<String> c = breakable("c", b);
        Node<String> end = f.node("end", b, c, (x, y) -> x + y);
        FlowPlan<Void, String> plan = f.returning(end);

        assertThat(plan.run(null, options).status()).isEqualTo(FlowStatus.FAILED);
        assertThat(journal.find("a")).isEqualTo(new FlowJournal.Recorded("A"));
        assertThat(journal.find("c")).isNull();
        broken.set(false);
        FlowResult<String> second = plan.run(null, options);

        assertThat(second.value()).isEqualTo("Abmended");
        assertThat(ran).containsExactly("a", "c", "c");
        assertThat(told).hasValue(2);
        assertThat(second.node(a).via()).isEqualTo(Via.JOURNAL);
        assertThat(second.node(a).state()).isEqualTo(NodeState.SUCCESS);
        assertThat(second.node(a).startNanos()).isEqualTo(-1);
        assertThat(second.explain("a")).isEqualTo("SUCCESS: an earlier run had finished it, says the journal");
        assertThat(plan.run(null, options).value()).isEqualTo("Abmended");
        assertThat(ran).hasSize(3);
    }

    @Test
    void null_and_what_a_fallback_gave_are_recorded_like_other_values() throws Exception {
        Node<String> a = f.node("a", () -> {
            ran.add("a");
            return null;
        });
        Node<String> b = breakable("b", a).fallbackValue("F");
        Node<String> end = f.node("end", a, b, (x, y) -> x + y);
        f.returning(end).run(null, options);
        ran.clear();
        assertThat(journal.find("a")).isEqualTo(new FlowJournal.Recorded(null));
        assertThat(f.returning(end).run(null, options).value()).isEqualTo("nullF");
        assertThat(ran).isEmpty();
    }

    @Test
    void what_only_finished_nodes_needed_is_not_run() throws Exception {
        Node<String> a = step("a");
        Node<String> b = step("b", a);
        Node<String> c = step("c", b);
        step("side", a).essential();
        journal.finished("c", "recorded");
        FlowResult<String> result = f.returning(c).run(null, options);
        assertThat(result.value()).isEqualTo("recorded");
        assertThat(ran).containsExactly("a", "side"); // side needs a, and nobody needs b
        assertThat(result.node(b).state()).isEqualTo(NodeState.SKIPPED);
    }

    @Test
    void choices_are_made_among_finished_nodes_as_among_others() throws Exception {
        Node<String> slow = step("slow");
        Node<String> fast = step("fast");
        Node<String> any = f.node("any", anyOf(slow, fast), x -> x);
        Node<String> end = f.node("end", any, after(fast), (x, o) -> x + o.status());
        journal.finished("fast", "recorded");
        FlowResult<String> result = f.returning(end).run(null, options);
        assertThat(result.value()).isEqualTo("recordedSUCCESS");
        assertThat(result.node(slow).state()).isEqualTo(NodeState.SKIPPED);
    }

    @Test
    void a_value_that_cannot_be_recorded_fails_the_node() throws Exception {
        FlowJournal full = new FlowJournal() {
            @Override
            public Recorded find(String id) {
                return null;
            }

            @Override
            public void finished(String id, Object value) throws IOException {
                throw new IOException("disk is full");
            }

            @Override
            public void undone(String id) {}
        };
        Node<String> a = step("a").fallbackValue("F");
        FlowResult<String> result =
                f.returning(a).run(null, RunOptions.defaults().withJournal(full));
        assertThat(result.node(a).state()).isEqualTo(NodeState.FAILED);
        assertThat(result.node(a).cause()).hasMessage("disk is full");
    }

    @Test
    void a_journal_that_cannot_be_read_is_told_to_who_starts_the_run() {
        FlowJournal unreadable = new FlowJournal() {
            @Override
            public Recorded find(String id) {
                throw new IllegalStateException("journal is torn at \"" + id + "\"");
            }

            @Override
            public void finished(String id, Object value) {}

            @Override
            public void undone(String id) {}
        };
        step("a");
        assertThatThrownBy(() -> f.build().run(null, RunOptions.defaults().withJournal(unreadable)))
                .hasMessage("journal is torn at \"a\"");
        assertThat(ran).isEmpty();
    }

    @Test
    void a_node_is_recorded_before_what_depends_on_it_begins() throws Exception {
        Node<String> a = step("a");
        Node<Boolean> b = f.node("b", a, x -> journal.find("a") != null);
        assertThat(f.returning(b).run(null, options).value()).isTrue();
    }

    @Test
    void what_was_undone_is_not_finished_any_more() throws Exception {
        Node<String> a = step("a").compensate(value -> ran.add("undo a"));
        Node<String> b = step("b", a).compensate(value -> {
            throw new IllegalStateException("b cannot be undone");
        });
        breakable("c", b);
        f.build().run(null, options);
        assertThat(ran).containsExactly("a", "b", "c", "undo a");
        assertThat(journal.find("a")).isNull();
        assertThat(journal.find("b")).isNotNull();
    }

    @Test
    void what_an_earlier_run_has_finished_is_undone_if_this_one_fails() throws Exception {
        Node<String> a = step("a").compensate(value -> ran.add("undo " + value));
        breakable("b", a);
        journal.finished("a", "recorded");
        f.build().run(null, options);
        assertThat(ran).containsExactly("b", "undo recorded");
        assertThat(journal.find("a")).isNull();
    }

    @Test
    void a_deadline_that_has_passed_records_nothing_and_loses_nothing() throws Exception {
        Node<String> a = step("a");
        journal.finished("a", "recorded");
        FlowResult<String> result = f.returning(a).run(null, options.withTimeout(Duration.ZERO));
        assertThat(result.status()).isEqualTo(FlowStatus.TIMED_OUT);
        assertThat(journal.find("a")).isNotNull();
    }

    @Test
    void a_journal_and_some_targets_go_together() throws Exception {
        Node<String> a = step("a");
        Node<String> b = step("b", a);
        step("c", b);
        journal.finished("a", "recorded");
        FlowResult<Void> result = f.build().run(null, options.only("b"));
        assertThat(ran).containsExactly("b");
        assertThat(result.node("c").state()).isEqualTo(NodeState.SKIPPED);
        assertThat(journal).hasToString("journal in memory of 2 nodes");
    }
}
