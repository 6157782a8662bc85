package dev.raddle.flow;

import static dev.raddle.flow.Dependency.after;
import static dev.raddle.flow.Dependency.allOf;
import static dev.raddle.flow.Dependency.anyOf;
import static dev.raddle.flow.Dependency.atLeast;
import static dev.raddle.flow.Dependency.must;
import static dev.raddle.flow.Dependency.optional;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.Outcome;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.VirtualTime;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
class FlowRunTest {

    private static RunOptions options(boolean here) {
        return here ? RunOptions.defaults().inCallersThread() : RunOptions.defaults();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void values_flow_along_typed_edges(boolean here) throws InterruptedException {
        FlowBuilder<Integer> f = FlowPlan.define("sum", Integer.class);
        Node<Integer> a = f.node("a", c -> c.param() + 1);
        Node<Integer> b = f.node("b", a, x -> x * 2);
        Node<String> s = f.node("s", a, b, (x, y) -> x + "," + y);
        FlowPlan<Integer, String> plan = f.returning(s);

        FlowResult<String> result = plan.run(1, options(here));

        assertThat(result.status()).isEqualTo(FlowStatus.SUCCESS);
        assertThat(result.value()).isEqualTo("2,4");
        assertThat(result.criticalPath()).containsExactly("a", "b", "s");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_chain_of_100_000_nodes_does_not_grow_the_stack(boolean here) throws InterruptedException {
        FlowBuilder<Void> f = FlowPlan.define("chain");
        Node<Integer> last = f.node("0", () -> 0);
        for (int i = 1; i < 100_000; i++) {
            last = f.node("" + i, last, x -> x + 1);
        }
        assertThat(f.returning(last).run(null, options(here)).value()).isEqualTo(99_999);
    }

    @Test
    void options_may_be_passed_to_another_thread_without_synchronization() {
        assertThat(RunOptions.class.getDeclaredFields())
                .filteredOn(field -> !field.isSynthetic())
                .allMatch(field -> Modifier.isFinal(field.getModifiers()));
    }

    @Test
    void all_kinds_of_dependencies_have_their_values() throws InterruptedException {
        FlowBuilder<Void> f = FlowPlan.define("kinds");
        Node<Integer> one = f.node("one", () -> 1);
        Node<Integer> bad = f.node("bad", () -> {
            throw new IllegalStateException("boom");
        });
        Node<String> end = f.node(
                "end",
                anyOf(bad, one),
                after(bad),
                optional(bad),
                (x, o, p) -> x + " " + o.status() + " " + p.isPresent());
        assertThat(f.compiler().problems()).hasSize(2); // bad is named three times
        FlowBuilder<Void> g = FlowPlan.define("kinds");
        Node<Integer> two = g.node("two", () -> 2);
        Node<Integer> three = g.node("three", () -> 3);
        Node<Integer> worse = g.node("worse", () -> {
            throw new IllegalStateException("boom");
        });
        Node<List<Integer>> all = g.node("all", allOf(List.of(two, three)), xs -> xs);
        Node<String> last = g.node("last", all, atLeast(2, "two", "three", "worse"), after(worse), (xs, ys, o) -> {
            assertThat(o).isInstanceOf(Outcome.Failure.class);
            return xs + " " + ys;
        });
        assertThat(g.compiler().problems()).hasSize(1);
        assertThat(end.id() + last.id()).isEqualTo("endlast");
    }

    @Test
    void the_losers_of_a_clause_are_skipped_before_its_node_begins() throws InterruptedException {
        FlowBuilder<Void> f = FlowPlan.define("choice");
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(1);
        Node<String> slow = f.node("slow", () -> {
            begun.countDown();
            held.await();
            return "slow";
        });
        Node<String> late = f.node("late", slow, x -> x + "!").defaultValue("none");
        Node<String> fast = f.node("fast", () -> {
            begun.await();
            return "fast";
        });
        List<NodeState> seen = new ArrayList<>();
        Node<String> end = f.node("end", anyOf(fast, late), (c, x) -> {
                    held.countDown();
                    return x + c.peek("late").orElseThrow();
                })
                .onBegin(c -> seen.add(c.state("late")));
        FlowResult<String> result = f.returning(end).run(null);

        assertThat(seen).containsExactly(NodeState.SKIPPED);
        assertThat(result.value()).isEqualTo("fastnone");
        assertThat(result.node("slow").state()).isEqualTo(NodeState.SUCCESS);
        assertThat(result.explain("late"))
                .startsWith("SKIPPED: \"end\" was decided by \"fast\" at +")
                .endsWith("and \"late\" has no other undecided consumer");
    }

    @Test
    void a_deadline_ends_all_nodes_and_interrupts_running_actions() throws InterruptedException {
        FlowBuilder<Void> f = FlowPlan.define("late");
        BlockingTask a = new BlockingTask();
        CountDownLatch ended = new CountDownLatch(1);
        f.node("a", a::call).defaultValue("DA");
        f.node("b", must("a"), x -> "B").defaultValue("DB");
        f.node("c", () -> "C").onResult(report -> ended.countDown());
        VirtualTime time = new VirtualTime();
        FlowRun<Void> run =
                f.build().start(null, RunOptions.timeout(Duration.ofMillis(50)).withTimeSource(time));
        a.awaitBegun();
        ended.await();
        time.advance(Duration.ofMillis(50));
        FlowResult<Void> result = run.join();
        a.awaitInterrupt();

        assertThat(result.status()).isEqualTo(FlowStatus.TIMED_OUT);
        assertThat(result.node("a").state()).isEqualTo(NodeState.TIMED_OUT);
        assertThat(result.node("a").value()).isEqualTo("DA");
        assertThat(result.node("b").value()).isEqualTo("DB");
        assertThat(result.node("b").startNanos()).isEqualTo(-1);
        assertThat(result.node("c").state()).isEqualTo(NodeState.SUCCESS);
        assertThat(a.interrupts()).isEqualTo(1);
    }

    @Test
    void a_node_with_a_failed_must_fails() throws InterruptedException {
        FlowBuilder<Void> f = FlowPlan.define("failing");
        Node<String> a = f.node("a", () -> {
            throw new AssertionError("boom");
        });
        Node<String> b = f.node("b", a, x -> x);
        FlowPlan<Void, String> plan = f.returning(b);

        FlowResult<String> result = plan.run(null);

        assertThat(result.status()).isEqualTo(FlowStatus.FAILED);
        assertThat(result.node("b").cause()).hasMessage("boom").isInstanceOf(AssertionError.class);
        assertThatThrownBy(result::value)
                .isInstanceOf(FlowFailedException.class)
                .hasMessage("flow \"failing\" has no value, it is FAILED: output \"b\" is FAILED: it must"
                        + " have \"a\", which is FAILED: its action threw java.lang.AssertionError: boom at +"
                        + result.node("a").endNanos() / 1_000_000
                        + " ms");
    }

    @Test
    void cycles_are_named() {
        FlowBuilder<Void> f = FlowPlan.define("round");
        f.node("a", must("c"), x -> x);
        f.node("b", must("a"), x -> x);
        f.node("c", must("b"), x -> x);
        f.node("d", must("d"), x -> x);

        assertThatThrownBy(f::build)
                .isInstanceOf(InvalidFlowException.class)
                .hasMessageContaining("cycle: a --> b --> c --> a")
                .hasMessageContaining("cycle: d --> d");
    }

    @Test
    void a_map_fans_out_at_run_time_and_a_subflow_is_a_node() throws InterruptedException {
        FlowBuilder<Integer> inner = FlowPlan.define("inner", Integer.class);
        FlowPlan<Integer, Integer> square = inner.returning(inner.node("square", c -> c.param() * c.param()));
        FlowBuilder<Void> f = FlowPlan.define("outer");
        Node<List<Integer>> list = f.node("list", () -> List.of(1, 2, 3));
        Node<List<Integer>> doubled = f.map("doubled", list, x -> x * 2);
        Node<Integer> sum =
                f.node("sum", doubled, xs -> xs.stream().mapToInt(x -> x).sum());
        Node<Integer> end = f.subflow("end", square, sum);

        assertThat(f.returning(end).run(null).value()).isEqualTo(144);
        assertThat(f.returning(end).run(null, options(true)).value()).isEqualTo(144);
    }
}
