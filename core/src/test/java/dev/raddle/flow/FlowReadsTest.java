package dev.raddle.flow;

import static dev.raddle.flow.Dependency.after;
import static dev.raddle.flow.Dependency.anyOf;
import static dev.raddle.flow.Dependency.must;
import static dev.raddle.flow.Dependency.optional;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.Outcome;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.Wait;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The nodes that a node can read, and the exceptions for all others. */
@Timeout(60)
class FlowReadsTest {

    private final FlowBuilder<Void> f = FlowPlan.define("reads");
    private final Node<String> root = f.node("root", () -> "R");
    private final Node<String> bad = f.node("bad", root, x -> {
        throw new IllegalStateException("bad is broken");
    });
    private final Node<String> other = f.node("other", () -> "O");

    @Test
    void any_ancestor_can_be_read_by_its_node_or_its_id() throws Exception {
        Node<String> middle = f.node("middle", root, x -> x + "M");
        Node<String> end = f.node(
                "end",
                middle,
                (c, x) -> x
                        + c.read(root)
                        + c.read("root")
                        + c.read(middle)
                        + c.peek(root)
                        + c.peek("middle")
                        + c.state("root")
                        + c.outcome("root").status());
        assertThat(f.returning(end).run(null).value()).isEqualTo("RMRRRMOptional[R]Optional[RM]SUCCESSSUCCESS");
    }

    @Test
    void reading_a_node_that_is_not_upstream_fails_with_its_id() throws Exception {
        List<Throwable> thrown = new ArrayList<>();
        List<CheckedFunction.V1<NodeContext<Void>>> reads = List.of(
                c -> c.read("other"),
                c -> c.read(other),
                c -> c.peek("other"),
                c -> c.peek(other),
                c -> c.state("other"),
                c -> c.outcome("other"),
                c -> c.read("end"));
        Node<String> end = f.node("end", root, (c, x) -> {
            for (CheckedFunction.V1<NodeContext<Void>> read : reads) {
                try {
                    read.accept(c);
                } catch (IllegalArgumentException expected) {
                    thrown.add(expected);
                }
            }
            return x;
        });
        f.returning(end).run(null);
        assertThat(thrown).hasSize(reads.size());
        assertThat(thrown.subList(0, 6))
                .extracting(Throwable::getMessage)
                .containsOnly("node \"end\" may not read \"other\", which is not upstream of it; make it a dependency");
    }

    @Test
    void reading_an_unknown_id_fails_the_reading_node_and_names_the_id() throws Exception {
        Node<Object> end = f.node("end", root, (c, x) -> c.read("typo"));
        FlowResult<Object> result = f.returning(end).run(null);
        assertThat(result.node(end).cause())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "unknown id \"typo\": there is no such node in flow \"reads\"; its nodes are root, bad, other,"
                                + " end");
        assertThatThrownBy(() -> result.node("typo")).hasMessageContaining("\"typo\"");
        assertThatThrownBy(() -> result.explain("typo")).hasMessageContaining("\"typo\"");
        assertThatThrownBy(() -> result.outcome("typo")).hasMessageContaining("\"typo\"");
    }

    @Test
    void a_node_without_a_value_can_be_peeked_but_not_read() throws Exception {
        Node<String> end = f.node("end", after(bad), (c, o) -> {
            assertThat(c.peek(bad)).isEmpty();
            assertThat(c.state("bad")).isEqualTo(NodeState.FAILED);
            assertThat(c.outcome("bad")).isInstanceOf(Outcome.Failure.class);
            assertThatThrownBy(() -> c.read(bad))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("node \"bad\" has no value, it is FAILED; use peek, or give it a default");
            return "fine";
        });
        assertThat(f.returning(end).run(null).value()).isEqualTo("fine");
    }

    @Test
    void a_default_is_read_like_a_value() throws Exception {
        bad.defaultValue("D");
        Node<String> end = f.node("end", after(bad), (c, o) -> c.read(bad) + c.peek(bad) + o.status());
        assertThat(f.returning(end).run(null).value()).isEqualTo("DOptional[D]FAILED");
    }

    @Test
    void a_node_that_has_not_ended_is_pending_and_has_no_value_or_outcome() throws Exception {
        BlockingTask slow = new BlockingTask();
        Node<String> loser = f.node("loser", slow::call);
        Node<String> fast = f.node("fast", () -> {
            slow.awaitBegun();
            return "F";
        });
        Node<String> end = f.node("end", anyOf(loser, fast), (c, x) -> {
            assertThat(c.state("loser")).isEqualTo(NodeState.PENDING);
            assertThat(c.peek(loser)).isEmpty();
            assertThatThrownBy(() -> c.read(loser)).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> c.outcome("loser")).isInstanceOf(IllegalStateException.class);
            return x;
        });
        try (FlowRun<String> run = f.returning(end).start(null)) {
            Wait.until(() -> run.state("end").isTerminal());
            slow.release();
            assertThat(run.get()).isEqualTo("F");
        }
    }

    @Test
    void the_winner_is_available_for_the_clauses_of_the_node_itself_only() throws Exception {
        Dependency<String> mine = anyOf(bad, other);
        Dependency<String> same = anyOf(bad, other);
        Dependency<String> foreign = anyOf(root, other);
        Node<String> end = f.node("end", mine, (c, x) -> {
            assertThatThrownBy(() -> c.winnerOf(foreign)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> c.winnerOf(other)).isInstanceOf(IllegalArgumentException.class);
            return c.winnerOf(mine) + c.winnerOf(same);
        });
        assertThat(f.returning(end).run(null).value()).isEqualTo("otherother");
    }

    @Test
    void a_context_can_be_used_after_the_end() throws Exception {
        List<NodeContext<Void>> kept = new ArrayList<>();
        Node<String> end = f.node("end", root, (c, x) -> {
            kept.add(c);
            return x;
        });
        f.returning(end).run(null);
        assertThat(kept.getFirst().read(root)).isEqualTo("R");
        assertThat(kept.getFirst().isCancelled()).isFalse();
        assertThat(kept.getFirst()).hasToString("context of node \"end\"");
    }

    @Test
    void dependencies_by_id_may_name_nodes_that_are_declared_later() throws Exception {
        FlowBuilder<Void> g = FlowPlan.define("late");
        Node<String> end = g.node(
                "end",
                must("a"),
                optional("b"),
                anyOf("c", "d"),
                Dependency.atLeast(1, "e"),
                (a, b, c, e) -> a + " " + b + " " + c + " " + e);
        end.needs(Dependency.order("g"), after("h"));
        for (String id : List.of("a", "b", "c", "e", "g", "h")) {
            g.node(id, () -> id);
        }
        g.node("d", must("a"), x -> "d");
        FlowResult<String> result =
                g.returning(end).run(null, RunOptions.defaults().inCallersThread());
        assertThat(result.value()).startsWith("a Optional[b] ").endsWith(" [e]");
    }

    @Test
    void the_value_of_a_plan_is_null_without_outputs_and_an_ordered_map_with_several() throws Exception {
        assertThat(f.build().run(null).value()).isNull();
        Node<String> nothing = f.node("nothing", () -> null);
        FlowPlan<Void, Map<String, Object>> plan = f.returning(List.of(nothing, other, root));
        Map<String, Object> values = plan.run(null).value();
        assertThat(values.keySet()).containsExactly("root", "other", "nothing");
        assertThat(values).containsEntry("root", "R").containsEntry("nothing", null);
    }

    @Test
    void every_node_receives_the_parameter_which_may_be_null() throws Exception {
        FlowBuilder<Integer> g = FlowPlan.define("param", Integer.class);
        Node<Optional<Integer>> a = g.node("a", c -> Optional.ofNullable(c.param()));
        FlowPlan<Integer, Optional<Integer>> plan = g.returning(a);
        assertThat(plan.run(7).value()).contains(7);
        assertThat(plan.run(null).value()).isEmpty();
    }

    @Test
    void a_run_without_a_value_explains_why() throws Exception {
        FlowResult<String> result = f.returning(bad).run(null);
        assertThatThrownBy(result::value)
                .isInstanceOfSatisfying(
                        FlowFailedException.class,
                        failure -> assertThat(failure.status()).isEqualTo(FlowStatus.FAILED))
                .hasRootCauseMessage("bad is broken")
                .hasMessageStartingWith(
                        "flow \"reads\" has no value, it is FAILED: output \"bad\" is FAILED: its action threw ");
    }

    // the value would be of another type
    @Test
    void a_node_of_another_flow_cannot_be_read_even_if_this_flow_has_a_node_of_that_name() throws Exception {
        FlowBuilder<Void> another = FlowPlan.define("another");
        Node<Integer> foreign = another.node("root", () -> 1);
        Node<Integer> unknown = another.node("unknown", () -> 1);
        List<Throwable> thrown = new ArrayList<>();
        List<CheckedFunction.V1<NodeContext<Void>>> reads =
                List.of(c -> c.read(foreign), c -> c.peek(foreign), c -> c.read(unknown), c -> c.peek(unknown));
        Node<String> end = f.node("end", root, (c, x) -> {
            for (CheckedFunction.V1<NodeContext<Void>> read : reads) {
                try {
                    read.accept(c);
                } catch (IllegalArgumentException refused) {
                    thrown.add(refused);
                }
            }
            return x;
        });
        FlowResult<String> result = f.returning(end).run(null);
        String message = "node \"root\" belongs to another flow, and flow \"reads\" has a node of that name;"
                + " pass that node instead";
        assertThat(thrown.subList(0, 2)).extracting(Throwable::getMessage).containsOnly(message);
        assertThat(thrown.subList(2, 4))
                .extracting(Throwable::getMessage)
                .allMatch(each -> each.startsWith("unknown id \"unknown\""));
        assertThatThrownBy(() -> result.node(foreign)).hasMessage(message);
        assertThatThrownBy(() -> result.outcome(foreign)).hasMessage(message);
        assertThatThrownBy(() -> result.node(unknown)).hasMessageStartingWith("unknown id \"unknown\"");
    }

    @Test
    void every_plan_of_one_definition_accepts_its_nodes() throws Exception {
        Node<String> end = f.node("end", root, (c, x) -> x + c.read(root));
        FlowResult<String> first = f.returning(end).run(null);
        Node<String> more = f.node("more", end, (c, x) -> x + c.read(end));
        FlowResult<String> second = f.returning(more).run(null);
        assertThat(first.node(end).value()).isEqualTo("RR");
        assertThat(second.outcome(end)).isEqualTo(first.outcome(end));
        assertThat(second.value()).isEqualTo("RRRR");
        assertThatThrownBy(() -> first.node(more)).hasMessageStartingWith("unknown id \"more\"");
    }
}
