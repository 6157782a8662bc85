package dev.raddle.flow;

import static dev.raddle.flow.Dependency.after;
import static dev.raddle.flow.Dependency.allOf;
import static dev.raddle.flow.Dependency.anyOf;
import static dev.raddle.flow.Dependency.atLeast;
import static dev.raddle.flow.Dependency.must;
import static dev.raddle.flow.Dependency.optional;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.RetryPolicy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** All problems of a flow definition, in one report, by name. */
@Timeout(60)
class FlowBuildErrorsTest {

    private final FlowBuilder<Void> f = FlowPlan.define("wrong");
    private final Node<Integer> a = f.node("a", () -> 1);

    private List<String> problems() {
        try {
            f.build();
            return List.of();
        } catch (InvalidFlowException invalid) {
            assertThat(invalid).hasMessage("flow \"wrong\" is not valid: " + String.join("; ", invalid.problems()));
            assertThat(f.compiler().problems()).isEqualTo(invalid.problems());
            return invalid.problems();
        }
    }

    @Test
    void a_flow_without_problems_has_none() {
        assertThat(problems()).isEmpty();
        assertThat(FlowPlan.define("empty").compiler().problems()).isEmpty();
    }

    @Test
    void a_cycle_is_named_with_its_path() {
        f.node("x", must("z"), v -> v);
        f.node("y", a, must("x"), (u, v) -> v);
        f.node("z", must("y"), v -> v);
        f.node("behind", must("z"), v -> v);
        assertThat(problems()).containsExactly("cycle: x --> y --> z --> x");
    }

    @Test
    void a_self_loop_is_a_cycle() {
        f.node("x", optional("x"), v -> v);
        assertThat(problems()).containsExactly("cycle: x --> x (self loop)");
    }

    @Test
    void a_cycle_through_any_kind_of_dependency_is_one() {
        f.node("x", anyOf("y", "a"), v -> v);
        f.node("y", after("z"), v -> v);
        f.node("z", atLeast(1, "w", "a"), v -> v);
        f.node("w", Dependency.order("x"), v -> v);
        assertThat(problems()).containsExactly("cycle: x --> w --> z --> y --> x");
    }

    @Test
    void every_separate_cycle_is_named() {
        f.node("p", must("q"), v -> v);
        f.node("q", must("p"), v -> v);
        f.node("r", must("s"), v -> v);
        f.node("s", must("r"), v -> v);
        assertThat(problems()).containsExactly("cycle: p --> q --> p", "cycle: r --> s --> r");
    }

    @Test
    void a_cycle_downstream_of_a_cycle_is_named_too() {
        f.node("p", must("q"), v -> v);
        f.node("q", must("p"), v -> v);
        f.node("r", must("p"), must("s"), (u, v) -> v);
        f.node("s", must("r"), v -> v);
        assertThat(problems()).containsExactly("cycle: p --> q --> p", "cycle: r --> s --> r");
    }

    @Test
    void a_duplicate_id_is_named() {
        f.node("a", () -> 2);
        f.node("a", () -> 3);
        assertThat(problems()).hasSize(2).allMatch(each -> each.startsWith("duplicate id: there are two nodes \"a\""));
    }

    @Test
    void an_empty_id_is_a_problem() {
        f.node("", () -> 1);
        f.node("  ", () -> 1);
        assertThat(problems()).hasSize(2).allMatch(each -> each.contains("empty id"));
    }

    @Test
    void an_unknown_id_is_named_with_the_node_that_depends_on_it() {
        f.node("x", anyOf("a", "typo"), v -> v);
        assertThat(problems())
                .containsExactly("unknown id: node \"x\" depends on \"typo\", which is not a node of this flow");
    }

    @Test
    void a_duplicate_edge_is_named_across_kinds() {
        f.node("x", a, anyOf("a"), (u, v) -> v);
        f.node("y", anyOf("a", "a"), v -> v);
        f.node("z", a, v -> v).needs(after(a));
        assertThat(problems())
                .containsExactly(
                        "duplicate edge: node \"x\" depends twice on \"a\"; name it once",
                        "duplicate edge: node \"y\" depends twice on \"a\"; name it once",
                        "duplicate edge: node \"z\" depends twice on \"a\"; name it once");
    }

    @Test
    void a_duplicate_among_many_edges_is_found() {
        List<Node<Integer>> many = new java.util.ArrayList<>();
        for (int i = 0; i < 20; i++) {
            many.add(f.node("n" + i, () -> 1));
        }
        f.node("x", allOf(many), v -> v);
        many.add(many.get(3));
        f.node("y", allOf(many), v -> v);
        assertThat(problems()).containsExactly("duplicate edge: node \"y\" depends twice on \"n3\"; name it once");
    }

    @Test
    void an_impossible_number_of_successes_is_named() {
        Node<Integer> b = f.node("b", () -> 1);
        f.node("x", atLeast(3, a, b), v -> v);
        f.node("y", atLeast(0, a, b), v -> v);
        f.node("z", anyOf(List.<Node<Integer>>of()), v -> v);
        assertThat(problems()).hasSize(3);
        assertThat(problems().get(0)).isEqualTo("impossible k: node \"x\" needs at least 3 of 2 nodes; ask for 1 to 2");
        assertThat(problems().get(1)).isEqualTo("impossible k: node \"y\" needs at least 0 of 2 nodes; ask for 1 to 2");
        assertThat(problems().get(2)).contains("\"z\"");
    }

    @Test
    void a_node_of_another_flow_is_a_problem_as_dependency_and_as_output() {
        Node<Integer> foreign = FlowPlan.define("other").node("foreign", () -> 1);
        f.node("x", foreign, v -> v);
        assertThat(problems()).containsExactly("node \"x\" depends on node \"foreign\" of another flow");
        assertThatThrownBy(() -> FlowPlan.define("none").returning(foreign))
                .isInstanceOf(InvalidFlowException.class)
                .hasMessageContaining("unreachable output: node \"foreign\" is not a node of this flow");
    }

    @Test
    void a_node_of_another_flow_is_a_problem_even_if_this_flow_has_a_node_of_that_name() {
        FlowBuilder<Void> other = FlowPlan.define("other");
        Node<String> foreign = other.node("a", () -> "not a number");
        f.node("x", optional(foreign), v -> v);
        f.node("y", anyOf(foreign), v -> v);
        f.node("z", after(foreign), v -> v);
        assertThat(problems()).hasSize(3).allMatch(each -> each.contains("another flow"));
    }

    @Test
    void all_problems_including_cycles_are_in_one_report() {
        f.node("a", () -> 2);
        f.node("", () -> 2);
        f.node("x", must("typo"), v -> v);
        f.node("y", must("z"), v -> v);
        f.node("z", must("y"), v -> v);
        Node<Integer> foreign = FlowPlan.define("other").node("foreign", () -> 1);
        assertThatThrownBy(() -> f.returning(foreign))
                .isInstanceOf(InvalidFlowException.class)
                .hasMessageContaining("duplicate id")
                .hasMessageContaining("empty id")
                .hasMessageContaining("\"typo\"")
                .hasMessageContaining("\"foreign\"")
                .hasMessageContaining("cycle: y --> z --> y");
    }

    @Test
    void a_nested_node_cannot_be_retried() {
        FlowPlan<Integer, Integer> inner = innerPlan();
        f.subflow("sub", inner, a).retry(RetryPolicy.attempts(2));
        assertThat(problems()).hasSize(1).allMatch(each -> each.contains("\"sub\"") && each.contains("retry"));
    }

    private static FlowPlan<Integer, Integer> innerPlan() {
        FlowBuilder<Integer> inner = FlowPlan.define("inner", Integer.class);
        return inner.returning(inner.node("n", NodeContext::param));
    }

    @Test
    void null_and_out_of_range_arguments_are_refused_immediately() {
        assertThatNullPointerException().isThrownBy(() -> f.node(null, () -> 1));
        assertThatNullPointerException().isThrownBy(() -> f.node("x", (Callable<Integer>) null));
        assertThatNullPointerException().isThrownBy(() -> a.retry(null));
        assertThatThrownBy(() -> a.timeout(Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("timeout of node \"a\" must be positive, was PT0S");
    }

    @Test
    void a_node_with_a_group_needs_a_run_with_groups() {
        f.node("x", () -> 1).group("g");
        assertThatThrownBy(() -> f.build().start(null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("node \"x\" of flow \"wrong\" runs in a group");
    }

    @Test
    void a_large_plan_is_checked_in_linear_time() {
        FlowBuilder<Void> large = FlowPlan.define("large");
        for (int i = 0; i < 100_000; i++) {
            large.node("n" + i, must("n" + (i + 1) % 100_000), v -> v);
        }
        assertThat(large.compiler().problems()).hasSize(1);
        assertThat(large.compiler().problems().getFirst()).startsWith("cycle: n0 --> n99999 --> n99998");
    }

    @Test
    void nodes_outside_of_cycles_are_not_searched_individually() {
        FlowBuilder<Void> large = FlowPlan.define("large");
        large.node("in", must("in"), v -> v);
        for (int i = 0; i < 100_000; i++) {
            large.node("n" + i, must(i == 0 ? "in" : "n" + (i - 1)), v -> v);
        }
        large.node("out", must("n99999"), must("out"), (u, v) -> v);
        assertThat(large.compiler().problems())
                .containsExactly("cycle: in --> in (self loop)", "cycle: out --> out (self loop)");
    }

    @Test
    void the_nodes_of_a_chain_into_a_cycle_are_not_searched_individually() {
        FlowBuilder<Void> large = FlowPlan.define("large");
        large.node("n0", () -> 1);
        for (int i = 1; i < 100_000; i++) {
            large.node("n" + i, must("n" + (i - 1)), v -> v);
        }
        large.node("loop", must("n99999"), must("loop"), (u, v) -> v);
        assertThat(large.compiler().problems()).containsExactly("cycle: loop --> loop (self loop)");
    }

    @Test
    void the_cost_of_a_small_cycle_does_not_depend_on_the_size_of_the_graph() {
        FlowBuilder<Void> large = FlowPlan.define("large");
        for (int i = 0; i < 200_000; i++) {
            large.node("n" + i, must("n" + i), v -> v);
        }
        assertThat(large.compiler().problems()).hasSize(200_000).allMatch(each -> each.endsWith("(self loop)"));
    }

    @Test
    void cycles_that_share_a_node_are_named_up_to_a_limit_and_the_others_after_those_are_fixed() {
        FlowBuilder<Void> large = FlowPlan.define("large");
        String[] spokes = new String[200_000];
        for (int i = 0; i < spokes.length; i++) {
            spokes[i] = "n" + i;
            large.node(spokes[i], must("hub"), v -> v);
        }
        large.node("hub", anyOf(spokes), v -> v);
        large.node("loop", must("loop"), v -> v);
        assertThat(large.compiler().problems())
                .startsWith("cycle: n0 --> hub --> n0", "cycle: n1 --> hub --> n1", "cycle: n2 --> hub --> n2")
                .hasSizeLessThan(10_000)
                .endsWith("cycle: loop --> loop (self loop)"); // which shares no node
    }

    @Test
    void cycles_that_share_a_node_are_all_named_if_they_are_few() {
        f.node("hub", anyOf("x", "y", "z"), v -> v);
        f.node("x", must("hub"), v -> v);
        f.node("y", must("hub"), v -> v);
        f.node("z", must("hub"), must("z"), (u, v) -> v);
        assertThat(problems())
                .containsExactly("cycle: hub --> x --> hub", "cycle: y --> hub --> y", "cycle: z --> z (self loop)");
    }
}
