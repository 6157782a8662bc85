package dev.raddle.flow;

import static dev.raddle.flow.Dependency.after;
import static dev.raddle.flow.Dependency.anyOf;
import static dev.raddle.flow.Dependency.optional;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Finished nodes that run again, by choice or because what they depend on was compensated. */
@Timeout(60)
class FlowRerunTest {

    private final FlowBuilder<Void> f = FlowPlan.define("again");
    private final MemoryJournal journal = FlowJournal.inMemory();
    private final RunOptions options = RunOptions.defaults().inCallersThread().withJournal(journal);
    private final List<String> ran = new CopyOnWriteArrayList<>();
    private final AtomicBoolean broken = new AtomicBoolean();

    private Node<String> step(String id, Dependency<?>... needs) {
        return f.node(id, () -> {
                    ran.add(id);
                    return id + ran.size();
                })
                .needs(needs);
    }

    @Test
    void a_chosen_node_and_all_that_depend_on_it_run_again_and_no_others() throws Exception {
        Node<String> a = step("a");
        Node<String> b = step("b", a);
        Node<String> c = step("c", a);
        Node<String> d = step("d", optional(b));
        Node<String> e = step("e", after(d)).essential();
        Node<String> other = step("other", c);
        Node<String> end = step("end", anyOf(e, other), c);
        FlowPlan<Void, String> plan = f.returning(end);
        plan.run(null, options.onFailure(OnFailure.CONTINUE));
        ran.clear();

        FlowResult<String> result = plan.run(null, options.rerun("b"));

        assertThat(result.status()).isEqualTo(FlowStatus.SUCCESS);
        assertThat(ran).containsExactlyInAnyOrder("b", "d", "e", "end");
        assertThat(result.node(a).via()).isEqualTo(ValueSource.JOURNAL);
        ran.clear();
        assertThat(plan.run(null, options).value()).isEqualTo(result.value());
        assertThat(ran).isEmpty();
    }

    @Test
    void a_chosen_node_runs_again_even_if_no_other_needs_it() throws Exception {
        Node<String> a = step("a");
        Node<String> b = step("b", a);
        Node<String> any = step("any", anyOf(a, b));
        FlowPlan<Void, String> plan = f.returning(any);
        plan.run(null, options);
        ran.clear();
        plan.run(null, options.rerun("a"));
        assertThat(ran).startsWith("a").contains("any");
        ran.clear();
        plan.run(null, options.rerun("b"));
        assertThat(ran).startsWith("b");
    }

    @Test
    void the_nodes_are_forgotten_in_one_record_before_any_of_them_runs() throws Exception {
        Node<String> a = step("a");
        Node<String> b = step("b", a);
        Node<String> c = step("c", b);
        FlowPlan<Void, String> plan = f.returning(c);
        plan.run(null, options);
        ran.clear();
        CuttingJournal cut = new CuttingJournal(journal, 0, true);

        assertThat(plan.run(null, options.withJournal(cut).rerun("b")).status()).isEqualTo(FlowStatus.LOST);

        assertThat(journal.entries().getLast()).isEqualTo(begun("b", "c"));
        assertThat(ran).isEmpty();
        assertThat(plan.run(null, options).value()).isEqualTo("c2");
        assertThat(ran).containsExactly("b", "c");
    }

    private Entry begun(String... again) {
        Instant at = ((Entry.Begun) journal.entries().stream()
                        .filter(Entry.Begun.class::isInstance)
                        .toList()
                        .getLast())
                .at();
        return new Entry.Begun(at, List.of(again));
    }

    @Test
    void nodes_can_run_again_before_the_run_has_ended() throws Exception {
        Node<String> a = step("a");
        Node<String> b = step("b", a);
        FlowPlan<Void, String> plan = f.returning(b);
        plan.run(null, options.withJournal(new CuttingJournal(journal, 2, true)));
        assertThat(ran).containsExactly("a", "b");

        assertThat(plan.run(null, options.rerun("a")).value()).isEqualTo("b4");
        assertThat(ran).containsExactly("a", "b", "a", "b");
    }

    @Test
    void a_run_that_runs_nodes_again_has_its_whole_timeout() throws Exception {
        VirtualTime time = new VirtualTime();
        RunOptions timed = options.withTimeSource(time).withTimeout(Duration.ofSeconds(1));
        FlowPlan<Void, String> plan = f.returning(step("a"));
        plan.run(null, timed.withJournal(new CuttingJournal(journal, 2, true)));
        time.advance(Duration.ofSeconds(5));
        assertThat(plan.run(null, timed.rerun("a")).status()).isEqualTo(FlowStatus.SUCCESS);
    }

    @Test
    void an_unknown_node_is_refused_and_so_is_a_run_without_a_journal_and_nothing_is_recorded() {
        FlowPlan<Void, String> plan = f.returning(step("a"));
        assertThatThrownBy(() -> plan.run(null, options.rerun("b")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("unknown id \"b\"");
        assertThatThrownBy(() -> plan.run(null, RunOptions.defaults().rerun("a")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("cannot be run again without a journal");
        assertThat(journal.entries()).isEmpty();
    }

    @Test
    void a_node_that_depends_on_a_compensated_one_runs_again_in_the_next_try() throws Exception {
        Node<String> paid = step("paid").compensate(value -> ran.add("undo paid"));
        Node<String> receipt = step("receipt", paid);
        step("stock");
        Node<String> sent = f.node("sent", receipt, value -> {
            ran.add("sent");
            if (broken.get()) {
                throw new IllegalStateException("sent is broken");
            }
            return value;
        });
        FlowPlan<Void, String> plan = f.returning(sent);
        broken.set(true);
        assertThat(plan.run(null, options).status()).isEqualTo(FlowStatus.FAILED);
        assertThat(ran).contains("undo paid");
        ran.clear();
        broken.set(false);

        assertThat(plan.run(null, options).value()).isEqualTo("receipt2");

        assertThat(ran).containsExactly("paid", "receipt", "sent");
    }
}
