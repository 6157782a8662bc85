package dev.raddle.flow;

import static dev.raddle.flow.Dependency.after;
import static dev.raddle.flow.Dependency.anyOf;
import static dev.raddle.flow.Dependency.optional;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.Wait;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Unneeded nodes are not run. */
@Timeout(60)
class FlowSkipsTest {

    private final FlowBuilder<Void> f = FlowPlan.define("skips");
    private final StepScheduler steps = new StepScheduler();
    private final List<String> events = new ArrayList<>();
    private final AtomicReference<FlowRun<?>> current = new AtomicReference<>();

    private final RunOptions stepped = RunOptions.defaults().withScheduler(steps);

    /** Runs a plan whose roots are run by the test, in the order of declaration. */
    private <R> FlowResult<R> run(FlowPlan<Void, R> plan, RunOptions options) throws InterruptedException {
        FlowRun<R> run = plan.start(null, options);
        current.set(run);
        steps.runAll();
        return run.join();
    }

    private Node<String> root(String id) {
        return f.node(id, () -> {
            events.add(id);
            return id;
        });
    }

    private Node<String> next(String id, Dependency<?> upstream) {
        return f.node(id, upstream, x -> {
            events.add(id);
            return id;
        });
    }

    private static void assertStates(FlowResult<?> result, NodeState state, String... ids) {
        for (String id : ids) {
            assertThat(result.node(id).state()).as(id).isEqualTo(state);
        }
    }

    @Test
    void skips_are_transitive_and_complete_before_the_begin_callback_of_the_deciding_node() throws Exception {
        Node<String> fast = root("fast");
        Node<String> r = root("r");
        Node<String> p = next("p", r);
        Node<String> q = next("q", r);
        Node<String> m = f.node("m", p, q, (x, y) -> x + y);
        Node<String> n = next("n", m);
        Node<String> end = f.node("end", anyOf(n, fast), x -> x).onBegin(c -> {
            for (String id : List.of("n", "m", "p", "q", "r")) {
                events.add(id + " " + c.state(id));
            }
        });
        n.onResult(report -> events.add("told of n"));

        FlowResult<String> result = run(f.returning(end), stepped);

        assertThat(result.value()).isEqualTo("fast");
        assertStates(result, NodeState.SKIPPED, "p", "q", "m", "n");
        assertStates(result, NodeState.SUCCESS, "r"); // it was triggered, which counts as begun
        assertThat(events)
                .containsExactly(
                        "fast", "told of n", "n SKIPPED", "m SKIPPED", "p SKIPPED", "q SKIPPED", "r PENDING", "r");
        assertThat(result.status()).isEqualTo(FlowStatus.SUCCESS);
    }

    @Test
    void nodes_that_only_a_failed_node_needs_run_under_keep_going_and_are_skipped_otherwise() throws Exception {
        FlowPlan<Void, Void> plan = planOfAFailureBesideWork();

        FlowResult<Void> kept = run(plan, stepped.onFailure(OnFailure.KEEP_GOING));
        assertStates(kept, NodeState.FAILED, "bad", "all", "end");
        assertStates(kept, NodeState.SUCCESS, "r", "b", "far", "c");

        FlowResult<Void> pruned = run(plan, stepped);
        assertStates(pruned, NodeState.SKIPPED, "b", "far", "c");
        assertThat(kept.status()).isEqualTo(FlowStatus.FAILED).isEqualTo(pruned.status());
    }

    private FlowPlan<Void, Void> planOfAFailureBesideWork() {
        Node<String> bad = f.node("bad", () -> {
            throw new IllegalStateException("bad is broken");
        });
        Node<String> r = root("r");
        Node<String> b = next("b", r);
        Node<String> far = next("far", b);
        Node<String> c = next("c", r);
        Node<String> all = f.node("all", bad, far, (x, y) -> x + y);
        f.node("end", all, c, (x, y) -> x + y);
        return f.build();
    }

    @Test
    void the_losers_of_a_clause_are_skipped_under_keep_going_too() throws Exception {
        Node<String> fast = root("fast");
        Node<String> slow = next("slow", root("r"));
        Node<String> first = f.node("first", anyOf(fast, slow), x -> x);

        FlowResult<String> result = run(f.returning(first), stepped.onFailure(OnFailure.KEEP_GOING));

        assertThat(result.value()).isEqualTo("fast");
        assertStates(result, NodeState.SKIPPED, "slow");
    }

    @Test
    void skips_caused_by_a_node_that_does_not_run_are_complete_before_its_result_callback() throws Exception {
        Node<String> bad = f.node("bad", () -> {
            throw new IllegalStateException("bad is broken");
        });
        Node<String> y = root("y");
        Node<String> z = next("z", y);
        f.node("v", bad, z, (a, b) -> a).onResult(report -> {
            events.add("v " + report.state());
            events.add("y " + current.get().state("y") + ", z " + current.get().state("z"));
        });

        FlowResult<Void> result = run(f.build(), stepped);

        assertThat(events).containsExactly("v FAILED", "y PENDING, z SKIPPED", "y");
        assertStates(result, NodeState.SKIPPED, "z");
    }

    @Test
    void an_essential_node_and_its_upstreams_are_not_skipped() throws Exception {
        Node<String> fast = root("fast");
        Node<String> a = root("a");
        Node<String> b = next("b", a);
        Node<String> c = next("c", b).essential();
        Node<String> d = next("d", c);
        Node<String> end = f.node("end", anyOf(fast, d), x -> x);

        FlowResult<String> result = run(f.returning(end), stepped);

        assertStates(result, NodeState.SUCCESS, "fast", "a", "b", "c", "end");
        assertStates(result, NodeState.SKIPPED, "d");
        assertThat(events).containsExactly("fast", "a", "b", "c");
    }

    @Test
    void a_second_sink_keeps_its_branch_needed() throws Exception {
        Node<String> fast = root("fast");
        Node<String> a = root("a");
        Node<String> b = next("b", a);
        Node<String> c = next("c", b);
        next("sink", b);
        Node<String> end = f.node("end", anyOf(fast, c), x -> x);

        FlowResult<String> result = run(f.returning(end), stepped);

        assertStates(result, NodeState.SUCCESS, "a", "b", "sink", "end");
        assertStates(result, NodeState.SKIPPED, "c");
    }

    @Test
    void a_requested_output_is_not_skipped() throws Exception {
        Node<String> fast = root("fast");
        Node<String> a = root("a");
        Node<String> b = next("b", a);
        Node<String> c = next("c", b);
        Node<String> end = f.node("end", anyOf(fast, c), x -> x);

        FlowResult<?> result = run(f.returning(List.of(end, b)), stepped);

        assertStates(result, NodeState.SUCCESS, "a", "b", "end");
        assertStates(result, NodeState.SKIPPED, "c");
    }

    @Test
    void a_node_with_an_undecided_consumer_is_not_skipped() throws Exception {
        Node<String> fast = root("fast");
        Node<String> a = root("a");
        Node<String> end = f.node("end", anyOf(fast, a), x -> x);
        f.node("audit", after(a), x -> x.status().toString());

        FlowResult<String> result = run(f.returning(end), stepped);

        assertStates(result, NodeState.SUCCESS, "a", "audit", "end");
    }

    @Test
    void an_optional_that_has_not_begun_when_its_only_consumer_begins_is_skipped() throws Exception {
        Node<String> a = root("a");
        Node<String> b = next("b", root("r"));
        Node<String> end = f.node("end", a, optional(b), (x, y) -> x + y);

        FlowResult<String> result = run(f.returning(end), stepped);

        assertThat(result.value()).isEqualTo("aOptional.empty");
        assertStates(result, NodeState.SKIPPED, "b");
    }

    // two joins decided one after the other release their shared upstream
    @Test
    void a_node_shared_by_two_joins_is_skipped_when_the_second_is_decided() throws Exception {
        Node<String> one = root("one");
        Node<String> two = root("two");
        Node<String> shared = next("shared", root("r"));
        f.node("left", anyOf(one, shared), x -> x).onBegin(c -> events.add("shared " + c.state("shared")));
        f.node("right", anyOf(two, shared), x -> x).onBegin(c -> events.add("shared " + c.state("shared")));

        FlowResult<Void> result = run(f.build(), stepped);

        assertStates(result, NodeState.SKIPPED, "shared");
        assertThat(events).containsExactly("one", "shared PENDING", "two", "shared SKIPPED", "r");
    }

    // the outcome does not depend on whether a thread has taken the node
    @Test
    void a_triggered_node_is_not_skipped() throws Exception {
        Node<String> fast = root("fast");
        Node<String> a = root("a");
        Node<String> b = next("b", a);
        Node<String> end = f.node("end", anyOf(fast, b), x -> x);

        FlowResult<String> result = run(f.returning(end), stepped);

        assertThat(result.value()).isEqualTo("fast");
        assertThat(events).containsExactly("fast", "a");
        assertStates(result, NodeState.SUCCESS, "a");
        assertStates(result, NodeState.SKIPPED, "b");
    }

    @Test
    void a_running_loser_finishes_and_keeps_its_result() throws Exception {
        BlockingTask slow = new BlockingTask();
        Node<String> loser = f.node("loser", slow::call);
        Node<String> fast = f.node("fast", () -> {
            slow.awaitBegun();
            return "fast";
        });
        Node<String> end = f.node("end", anyOf(loser, fast), x -> x);
        try (FlowRun<String> run = f.returning(end).start(null)) {
            Wait.until(() -> run.state("end").isTerminal());
            assertThat(run.state("loser")).isEqualTo(NodeState.RUNNING);
            slow.release();
            FlowResult<String> result = run.join();
            assertThat(result.value()).isEqualTo("fast");
            assertThat(result.node(loser).value()).isEqualTo("value");
            assertThat(slow.interrupts()).isZero();
        }
    }

    @Test
    void a_running_loser_is_interrupted_if_the_options_require_it() throws Exception {
        BlockingTask slow = BlockingTask.uninterruptible();
        AtomicInteger later = new AtomicInteger();
        Node<String> loser = f.node("loser", slow::call).defaultValue("D");
        Node<String> fast = f.node("fast", () -> {
            slow.awaitBegun();
            return "fast";
        });
        Node<String> end = f.node("end", anyOf(loser, fast), (c, x) -> x + c.state("loser"));
        loser.onResult(report -> later.incrementAndGet());
        try (FlowRun<String> run =
                f.returning(end).start(null, RunOptions.defaults().obsolete(UnneededPolicy.INTERRUPT))) {
            assertThat(run.get()).isEqualTo("fastCANCELLED");
            slow.awaitInterrupt();
            slow.release();
            FlowResult<String> result = run.join();
            assertThat(result.node(loser).state()).isEqualTo(NodeState.CANCELLED);
            assertThat(result.node(loser).value()).isEqualTo("D");
            assertThat(result.status()).isEqualTo(FlowStatus.SUCCESS);
            assertThat(result.explain("loser"))
                    .startsWith("CANCELLED: \"end\" was decided by \"fast\" at +")
                    .endsWith("has no other undecided consumer, and it was interrupted");
        }
        assertThat(later).hasValue(1);
    }

    @Test
    void a_running_loser_that_must_not_be_interrupted_is_cancelled_without_an_interrupt() throws Exception {
        BlockingTask slow = new BlockingTask();
        Node<String> loser = f.node("loser", slow::call).noInterrupt();
        Node<String> fast = f.node("fast", () -> {
            slow.awaitBegun();
            return "fast";
        });
        Node<String> end = f.node("end", anyOf(loser, fast), x -> x);
        try (FlowRun<String> run =
                f.returning(end).start(null, RunOptions.defaults().obsolete(UnneededPolicy.INTERRUPT))) {
            FlowResult<String> result = run.join();
            assertThat(result.node(loser).state()).isEqualTo(NodeState.CANCELLED);
            slow.release();
        }
        assertThat(slow.interrupts()).isZero();
    }

    // only(targets)
    @Test
    void only_the_targets_and_their_upstreams_run_essential_or_not() throws Exception {
        Node<String> a = root("a");
        Node<String> b = next("b", a);
        next("c", b).essential();
        root("d").essential();
        FlowPlan<Void, Void> plan = f.build();

        FlowResult<Void> result = run(plan, stepped.only("b"));

        assertThat(events).containsExactly("a", "b");
        assertStates(result, NodeState.SKIPPED, "c", "d");
        assertThat(result.status()).isEqualTo(FlowStatus.SUCCESS);
        assertThat(result.explain("d")).contains("the run was for other nodes only");
        assertThatThrownBy(() -> plan.start(null, stepped.only("x"))).hasMessageContaining("\"x\"");
    }

    // only(targets)
    @Test
    void a_failed_target_fails_the_run_although_it_is_not_a_sink() throws Exception {
        Node<String> a = f.node("a", () -> {
            throw new IllegalStateException("a is broken");
        });
        f.node("b", after(a), x -> "B");

        assertThat(run(f.build(), stepped.only("a")).status()).isEqualTo(FlowStatus.FAILED);
        assertThat(run(f.build(), stepped).status()).isEqualTo(FlowStatus.DEGRADED);
    }

    // only(targets)
    @Test
    void each_of_several_targets_counts_as_a_sink_and_their_upstreams_do_not() throws Exception {
        Node<String> up = f.node("up", () -> {
            throw new IllegalStateException("up is broken");
        });
        Node<String> x = f.node("x", after(up), o -> "X");
        Node<String> bad = f.node("bad", () -> {
            throw new IllegalStateException("bad is broken");
        });
        f.node("y", after(bad), o -> "Y");
        f.node("end", x, v -> v);
        FlowPlan<Void, Void> plan = f.build();
        assertThat(run(plan, stepped.only("x", "y")).status())
                .as("only what they need failed")
                .isEqualTo(FlowStatus.DEGRADED);
        assertThat(run(plan, stepped.only("x", "bad")).status())
                .as("one of them failed")
                .isEqualTo(FlowStatus.FAILED);
        assertThat(run(plan, stepped.only("y", "bad")).status())
                .as("one of them failed, which the other waits for, however it ends")
                .isEqualTo(FlowStatus.FAILED);
        assertThat(run(plan, stepped.only("x", "y").onFailure(OnFailure.FAIL_FAST))
                        .status())
                .as("any failure")
                .isEqualTo(FlowStatus.FAILED);
    }

    // only(targets)
    @Test
    void a_target_is_not_skipped_although_its_only_consumer_is() throws Exception {
        Node<String> a = root("a");
        Node<String> b = next("b", a);
        next("c", b);
        next("other", a);

        FlowResult<Void> result = run(f.build(), stepped.only("b", "other"));

        assertStates(result, NodeState.SUCCESS, "a", "b", "other");
        assertStates(result, NodeState.SKIPPED, "c");
    }
}
