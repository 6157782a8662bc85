package dev.raddle.flow;

import static dev.raddle.flow.Dependency.after;
import static dev.raddle.flow.Dependency.anyOf;
import static dev.raddle.flow.Dependency.atLeast;
import static dev.raddle.flow.Dependency.optional;
import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One sentence that explains the state of a node, and the path that determined the duration of a run. */
@Timeout(60)
class FlowExplainTest {

    private final FlowBuilder<Void> f = FlowPlan.define("why");
    private final VirtualTime time = new VirtualTime();
    private final StepScheduler steps = new StepScheduler();
    private final RunOptions options =
            RunOptions.defaults().withTimeSource(time).withScheduler(steps);

    private Node<String> taking(String id, int millis, Dependency<?>... needs) {
        return f.node(id, () -> {
                    time.advance(Duration.ofMillis(millis));
                    return id;
                })
                .needs(needs);
    }

    private FlowResult<Void> run(RunOptions how) throws InterruptedException {
        FlowRun<Void> run = f.build().start(null, how);
        steps.runAll();
        return run.join();
    }

    @Test
    void a_success_has_its_time() throws Exception {
        taking("a", 12);
        assertThat(run(options).explain("a")).isEqualTo("SUCCESS: its action returned at +12 ms");
    }

    @Test
    void a_skip_names_the_decided_node_its_upstream_and_the_time() throws Exception {
        Node<String> a = taking("a", 12);
        Node<String> c = taking("c", 1);
        Node<String> d = f.node("d", c, x -> x);
        Node<String> e = f.node("e", d, x -> x);
        f.node("g", anyOf(a, e), x -> x);
        FlowResult<Void> result = run(options);
        assertThat(result.explain("e"))
                .isEqualTo("SKIPPED: \"g\" was decided by \"a\" at +12 ms and \"e\" has no other undecided consumer");
        assertThat(result.explain("d"))
                .startsWith("SKIPPED: \"e\" was decided ")
                .contains(" at +12 ms ");
    }

    @Test
    void failures_name_the_exception_or_the_upstream() throws Exception {
        f.node("bad", () -> {
            time.advance(Duration.ofMillis(3));
            throw new IllegalStateException("broken");
        });
        f.node("must", Dependency.must("bad"), x -> x);
        f.node("choice", Dependency.anyOf("bad", "must"), x -> x);
        f.node(
                "saved",
                after(f.node("other", () -> {
                            throw new IllegalStateException("broken, too");
                        })
                        .fallbackValue("F")),
                x -> x);
        FlowResult<Void> result = run(options);
        assertThat(result.explain("bad"))
                .isEqualTo("FAILED: its action threw java.lang.IllegalStateException: broken at +3 ms");
        assertThat(result.explain("must"))
                .isEqualTo("FAILED: it must have \"bad\", which is FAILED:"
                        + " its action threw java.lang.IllegalStateException: broken at +3 ms");
        assertThat(result.explain("choice"))
                .isEqualTo("FAILED: too few of its alternatives can succeed; \"bad\" is FAILED:"
                        + " its action threw java.lang.IllegalStateException: broken at +3 ms");
        assertThat(result.explain("other"))
                .isEqualTo("SUCCESS: its fallback recovered from java.lang.IllegalStateException: broken, too");
    }

    /** An exception whose text cannot be computed. */
    private static final class Unspeakable extends RuntimeException {
        @Override
        public String getMessage() {
            throw new IllegalStateException("no words");
        }
    }

    @Test
    void an_explanation_leads_back_to_the_first_cause() throws Exception {
        Node<String> card = f.<String>node("card", () -> {
            throw new ExecutionException("call failed", new IllegalStateException("card declined"));
        });
        Node<String> pay = f.node("pay", card, x -> x);
        Node<String> any = f.node("any", anyOf(pay, f.node("off", () -> "x").when(c -> false)), x -> x);
        f.node("receipt", any, x -> x);
        FlowResult<Void> result = run(options);
        assertThat(result.explain("receipt"))
                .isEqualTo("FAILED: it must have \"any\", which is FAILED:"
                        + " too few of its alternatives can succeed; \"pay\" is FAILED:"
                        + " it must have \"card\", which is FAILED:"
                        + " its action threw java.util.concurrent.ExecutionException: call failed, caused by"
                        + " java.lang.IllegalStateException: card declined at +0 ms");
        assertThat(run(options.onFailure(OnFailure.FAIL_FAST)).explain("receipt"))
                .contains("card declined");
    }

    @Test
    void the_middle_of_a_long_explanation_is_omitted() throws Exception {
        Node<String> last = f.<String>node("n0", () -> {
            throw new Unspeakable();
        });
        for (int i = 1; i < 5_000; i++) {
            last = f.node("n" + i, last, x -> x);
        }
        assertThat(run(options).explain("n4999"))
                .startsWith("FAILED: it must have \"n4998\", which is FAILED: it must have \"n4997\"")
                .contains("which is FAILED: and so on through 4990 nodes: it must have \"n3\"")
                .endsWith("it must have \"n0\", which is FAILED: its action threw " + Unspeakable.class.getName()
                        + " at +0 ms");
    }

    @Test
    void each_node_that_the_run_is_not_for_has_that_reason() throws Exception {
        taking("b", 1, Dependency.must("a"));
        taking("a", 1);
        taking("target", 1);
        FlowResult<Void> result = run(options.only("target"));
        for (String other : List.of("a", "b")) {
            assertThat(result.explain(other))
                    .isEqualTo("SKIPPED: the run was for other nodes only, and none of them needs it");
        }
    }

    @Test
    void conditions_targets_and_ends_of_runs_are_named() throws Exception {
        f.node("off", () -> 1).when(c -> false);
        taking("a", 5);
        Node<String> b = taking("b", 1, Dependency.must("a"));
        FlowResult<Void> result = run(options);
        assertThat(result.explain("off")).startsWith("SKIPPED: its condition was false at +");
        assertThat(run(options.only("a")).explain("b"))
                .isEqualTo("SKIPPED: the run was for other nodes only, and none of them needs it");
        FlowRun<Void> cancelled = f.build().start(null, options);
        time.advance(Duration.ofMillis(7));
        cancelled.cancel("enough");
        assertThat(cancelled.join().explain(b.id()))
                .startsWith("CANCELLED: it had not ended at +7 ms when ")
                .endsWith("flow \"why\" was cancelled: enough");
        FlowRun<Void> late = f.build().start(null, options.withTimeout(Duration.ofMillis(4)));
        time.advance(Duration.ofMillis(4));
        assertThat(late.join().explain("a"))
                .startsWith("TIMED_OUT: it had not ended at +4 ms when ")
                .endsWith("flow \"why\" ran out of time after 4 ms");
    }

    @Test
    void a_failure_of_a_condition_is_not_attributed_to_the_action() throws Exception {
        f.node("a", () -> 1).when(c -> {
            throw new IllegalStateException("condition is broken");
        });
        assertThat(run(options).explain("a")).contains("condition is broken").doesNotContain("its action threw");
    }

    @Test
    void the_critical_path_consists_of_the_nodes_that_the_last_node_waited_for() throws Exception {
        Node<String> a = taking("a", 10);
        Node<String> b = taking("b", 30);
        Node<String> c = taking("c", 5, a);
        Node<String> d = taking("d", 1, b, c);
        FlowRun<Void> run = f.build().start(null, options);
        steps.runAll();
        FlowResult<Void> result = run.join();
        assertThat(result.criticalPath()).containsExactly("b", "d");
        assertThat(result.elapsed()).isEqualTo(Duration.ofMillis(46));
        assertThat(result.node(d).endNanos() - result.node(d).startNanos())
                .isEqualTo(Duration.ofMillis(1).toNanos());
        assertThat(result.nodes()).extracting(NodeReport::id).containsExactly("a", "b", "c", "d");
    }

    @Test
    void the_critical_path_of_a_run_in_which_no_node_ran_is_empty() throws Exception {
        taking("a", 1);
        assertThat(run(options.withTimeout(Duration.ZERO)).criticalPath()).isEmpty();
    }

    @Test
    void a_run_has_a_descriptive_text() throws Exception {
        taking("a", 12);
        FlowPlan<Void, Void> plan = f.build();
        assertThat(plan).hasToString("flow \"why\" of 1 nodes");
        FlowRun<Void> run = plan.start(null, options);
        assertThat(run).hasToString("run of flow \"why\"");
        steps.runAll();
        assertThat(run.join()).hasToString("flow \"why\", SUCCESS after 12 ms");
        assertThat(run).hasToString("run of flow \"why\", ended");
        assertThat(f).hasToString("definition of flow \"why\" with 1 nodes");
    }

    @Test
    void a_clause_is_decided_by_the_success_that_met_it() throws Exception {
        StepScheduler later = new StepScheduler();
        Node<String> a = taking("a", 10);
        Node<String> b = taking("b", 20);
        Node<String> c = taking("c", 30);
        Node<String> d = taking("d", 1).compute();
        Node<String> x = f.node("x", d, v -> v);
        f.node("g", atLeast(2, a, b, c, x), v -> v).compute();
        FlowRun<Void> run = f.build().start(null, options.withComputeScheduler(later));
        steps.runAll(); // c has ended before g begins, but g did not wait for it
        later.runAll();
        steps.runAll();
        FlowResult<Void> result = run.join();
        assertThat(result.explain("x"))
                .isEqualTo("SKIPPED: \"g\" was decided by \"b\" at +30 ms and \"x\" has no other undecided consumer");
    }

    @Test
    void the_critical_path_contains_the_node_that_met_a_clause() throws Exception {
        Node<String> a = taking("a", 10);
        Node<String> b = taking("b", 20);
        taking("g", 1, anyOf(a, b)).compute();
        StepScheduler later = new StepScheduler();
        FlowRun<Void> run = f.build().start(null, options.withComputeScheduler(later));
        steps.runAll(); // b has ended before g begins, but g did not wait for it
        later.runAll();
        assertThat(run.join().criticalPath()).containsExactly("a", "g");
    }

    @Test
    void a_node_with_several_clauses_is_decided_by_the_node_that_met_the_last_clause() throws Exception {
        Node<String> a = taking("a", 10);
        Node<String> b = taking("b", 20);
        Node<String> c = taking("c", 30);
        Node<String> x = f.node("x", taking("d", 1).compute(), v -> v);
        Node<String> y = f.node("y", taking("e", 1).compute(), v -> v);
        f.node("g", anyOf(a, x), atLeast(1, b, y), optional(c), (one, two, three) -> one)
                .compute();
        StepScheduler later = new StepScheduler();
        FlowRun<Void> run = f.build().start(null, options.withComputeScheduler(later));
        steps.runAll();
        later.runAll();
        steps.runAll();
        FlowResult<Void> result = run.join();
        assertThat(result.explain("x")).startsWith("SKIPPED: \"g\" was decided by \"b\" at +30 ms");
        assertThat(result.explain("y")).startsWith("SKIPPED: \"g\" was decided by \"b\" at +30 ms");
    }
}
