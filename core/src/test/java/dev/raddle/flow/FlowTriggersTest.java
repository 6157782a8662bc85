package dev.raddle.flow;

import static dev.raddle.flow.Dependency.after;
import static dev.raddle.flow.Dependency.allOf;
import static dev.raddle.flow.Dependency.anyOf;
import static dev.raddle.flow.Dependency.atLeast;
import static dev.raddle.flow.Dependency.optional;
import static dev.raddle.flow.Dependency.order;
import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.Outcome;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskStatus;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The conditions under which a node begins, or is ended without running. */
@Timeout(60)
class FlowTriggersTest {

    private final FlowBuilder<Void> f = FlowPlan.define("triggers");

    private Node<String> failing(String id) {
        return f.node(id, () -> {
            throw new IllegalStateException(id + " is broken");
        });
    }

    @Test
    void a_node_begins_when_all_its_upstreams_have_ended_and_their_callbacks_have_returned() throws Exception {
        BlockingTask callback = new BlockingTask();
        AtomicInteger begun = new AtomicInteger();
        Node<String> a = f.node("a", () -> "A").onResult(report -> {
            try {
                callback.call();
            } catch (InterruptedException interrupt) {
                throw new AssertionError(interrupt);
            }
        });
        Node<String> b = failing("b");
        Node<String> c = f.node("c", a, after(b), (x, o) -> {
            begun.incrementAndGet();
            return x + o.status();
        });
        try (FlowRun<String> run = f.returning(c).start(null)) {
            callback.awaitBegun();
            assertThat(run.state("a")).isEqualTo(NodeState.SUCCESS);
            assertThat(run.state("c")).isEqualTo(NodeState.PENDING);
            assertThat(begun).hasValue(0);
            callback.release();
            assertThat(run.get()).isEqualTo("AFAILED");
        }
        assertThat(begun).hasValue(1);
    }

    @Test
    void a_callback_sees_the_state_and_the_value_together() throws Exception {
        AtomicReference<String> reported = new AtomicReference<>("nothing");
        AtomicReference<FlowRun<Void>> itself = new AtomicReference<>();
        StepScheduler steps = new StepScheduler();
        f.node("a", () -> "A")
                .onResult(report -> reported.set(report.state() + " " + report.value() + " "
                        + itself.get().state("a")));
        try (FlowRun<Void> run = f.build().start(null, RunOptions.defaults().withScheduler(steps))) {
            itself.set(run);
            steps.runAll();
            run.join();
        }
        assertThat(reported).hasValue("SUCCESS A SUCCESS");
    }

    @Test
    void independent_nodes_run_concurrently() throws Exception {
        CyclicBarrier all = new CyclicBarrier(3);
        Node<Integer> root = f.node("root", () -> 0);
        for (int i = 0; i < 3; i++) {
            f.node("n" + i, root, x -> all.await());
        }
        assertThat(f.build().run(null).status()).isEqualTo(FlowStatus.SUCCESS);
    }

    @Test
    void a_node_with_a_failed_must_has_its_state_and_cause_and_its_own_default_and_does_not_run() throws Exception {
        AtomicInteger ran = new AtomicInteger();
        Node<String> a = failing("a").defaultValue("DA");
        Node<String> b = f.node("b", a, x -> {
                    ran.incrementAndGet();
                    return x;
                })
                .defaultValue("DB");
        f.node("c", order(b), x -> ran.incrementAndGet());

        FlowResult<String> result = f.returning(b).run(null);

        assertThat(result.status()).isEqualTo(FlowStatus.FAILED);
        assertThat(result.value()).isEqualTo("DB");
        NodeReport<String> report = result.node(b);
        assertThat(report.state()).isEqualTo(NodeState.FAILED);
        assertThat(report.via()).isEqualTo(ValueSource.DEFAULT);
        assertThat(report.cause()).isNotNull().isSameAs(result.node(a).cause());
        assertThat(result.node("c").cause()).isSameAs(report.cause());
        assertThat(result.node("c").via()).isEqualTo(ValueSource.NONE);
        assertThat(report.startNanos()).isEqualTo(-1);
        assertThat(ran).hasValue(0);
    }

    @Test
    void dependents_run_after_a_fallback() throws Exception {
        AtomicReference<Throwable> asked = new AtomicReference<>();
        Node<String> a = failing("a").fallback(failure -> {
            asked.set(failure);
            return "F";
        });
        Node<String> b = f.node("b", a, x -> x + "B");

        FlowResult<String> result = f.returning(b).run(null);

        assertThat(result.status()).isEqualTo(FlowStatus.SUCCESS);
        assertThat(result.value()).isEqualTo("FB");
        assertThat(result.node(a).via()).isEqualTo(ValueSource.FALLBACK);
        assertThat(result.node(a).state()).isEqualTo(NodeState.SUCCESS);
        assertThat(asked.get()).hasMessage("a is broken");
    }

    @Test
    void a_fallback_that_fails_fails_the_node_and_keeps_the_first_failure() throws Exception {
        Node<String> a = failing("a").fallback(failure -> {
            throw new IllegalArgumentException("fallback is broken");
        });

        FlowResult<String> result = f.returning(a).run(null);

        assertThat(result.node(a).state()).isEqualTo(NodeState.FAILED);
        assertThat(result.node(a).cause()).hasMessage("fallback is broken");
        assertThat(result.node(a).cause().getSuppressed()).hasSize(1);
        assertThat(result.node(a).cause().getSuppressed()[0]).hasMessage("a is broken");
    }

    @Test
    void a_failed_must_ends_its_node_immediately_without_waiting_for_the_others() throws Exception {
        BlockingTask slow = new BlockingTask();
        CountDownLatch decided = new CountDownLatch(1);
        Node<String> a = f.node("a", slow::call);
        Node<String> b = f.node("b", () -> {
            slow.awaitBegun();
            throw new IllegalStateException("b is broken");
        });
        f.node("c", a, b, (x, y) -> x + y).onResult(report -> decided.countDown());
        try (FlowRun<Void> run = f.build().start(null)) {
            decided.await();
            assertThat(run.state("a")).isEqualTo(NodeState.RUNNING);
            assertThat(run.state("c")).isEqualTo(NodeState.FAILED);
            slow.release();
            assertThat(run.join().node("a").state()).isEqualTo(NodeState.SUCCESS);
        }
    }

    @Test
    void a_node_ends_like_the_first_declared_of_its_failed_musts() throws Exception {
        Node<String> early = failing("early");
        Node<String> a = f.node("a", early, x -> x).defaultValue("DA");
        Node<String> b = f.node("b", early, x -> x);
        Node<String> c = f.node("c", b, a, (x, y) -> x + y);

        FlowResult<String> result = f.returning(c).run(null);

        // both have failed when the edges of the first, a, are traversed; c names b first
        assertThat(result.explain("c"))
                .startsWith("FAILED: it must have \"b\", which is FAILED: it must have \"early\", ");
    }

    @Test
    void an_optional_that_fails_or_is_late_does_not_affect_a_node_with_musts() throws Exception {
        BlockingTask late = new BlockingTask();
        Node<String> a = f.node("a", late::call).essential();
        Node<String> b = failing("b");
        Node<String> c = f.node("c", after(b), x -> {
            late.awaitBegun();
            return "C";
        });
        Node<String> d = f.node("d", () -> "D");
        Node<String> e = f.node("e", optional(a), optional(b), c, d, (w, x, y, z) -> w + "," + x + "," + y + z);
        try (FlowRun<String> run = f.returning(e).start(null)) {
            Wait.until(() -> run.state("e").isTerminal());
            late.release();
            assertThat(run.get()).isEqualTo("Optional.empty,Optional.empty,CD");
            assertThat(run.join().status()).isEqualTo(FlowStatus.DEGRADED);
        }
    }

    @Test
    void an_optional_that_has_ended_has_its_value_or_default() throws Exception {
        Node<String> a = f.node("a", () -> "A");
        Node<String> b = failing("b").defaultValue("DB");
        Node<Integer> c = f.node("c", after(a), after(b), (x, y) -> 1);
        Node<String> d = f.node("d", optional(a), optional(b), c, (x, y, z) -> x + "," + y);

        assertThat(f.returning(d).run(null).value()).isEqualTo("Optional[A],Optional[DB]");
    }

    @Test
    void a_node_with_only_optionals_begins_with_the_first_success() throws Exception {
        Node<String> a = failing("a");
        BlockingTask slow = new BlockingTask();
        Node<String> b = f.node("b", slow::call).essential();
        Node<String> c = f.node("c", after(a), x -> "C");
        Node<String> d = f.node("d", optional(a), optional(b), optional(c), (x, y, z) -> x + "," + y + "," + z);
        try (FlowRun<String> run = f.returning(d).start(null)) {
            Wait.until(() -> run.state("d").isTerminal());
            slow.release();
            assertThat(run.get()).isEqualTo("Optional.empty,Optional.empty,Optional[C]");
        }
    }

    @Test
    void a_node_with_only_optionals_of_which_none_succeeds_ends_like_the_most_severe() throws Exception {
        Node<String> skipped = f.node("skipped", () -> "").when(c -> false);
        Node<String> a = failing("a");
        Node<String> d = f.node("d", optional(skipped), optional(a), (x, y) -> "never");

        FlowResult<String> result = f.returning(d).run(null);

        assertThat(result.node(d).state()).isEqualTo(NodeState.FAILED);
        assertThat(result.node(d).cause()).hasMessage("a is broken");
    }

    @Test
    void an_any_is_met_by_the_first_success_and_names_the_winner() throws Exception {
        BlockingTask slow = new BlockingTask();
        Node<String> bad = failing("bad");
        Node<String> b = f.node("b", slow::call);
        Node<String> good = f.node("good", after(bad), x -> "G");
        Dependency<String> any = anyOf(bad, b, good);
        Node<String> end = f.node("end", any, (c, x) -> x + " of " + c.winnerOf(any));
        try (FlowRun<String> run = f.returning(end).start(null)) {
            Wait.until(() -> run.state("end").isTerminal());
            slow.release();
            assertThat(run.get()).isEqualTo("G of good");
        }
    }

    @Test
    void the_winner_does_not_change_when_others_succeed_later() throws Exception {
        BlockingTask slow = new BlockingTask();
        Node<String> late = f.node("late", slow::call);
        Node<String> first = f.node("first", () -> {
            slow.awaitBegun();
            return "F";
        });
        Dependency<String> any = anyOf(late, first);
        Node<String> end = f.node("end", any, (c, x) -> {
            slow.release();
            Wait.until(() -> c.state("late").isTerminal());
            return x + " of " + c.winnerOf(any);
        });
        assertThat(f.returning(end).run(null).value()).isEqualTo("F of first");
    }

    @Test
    void an_any_fails_only_when_no_upstream_can_still_succeed() throws Exception {
        BlockingTask slow = new BlockingTask();
        Node<String> a = failing("a");
        Node<String> b = f.node("b", () -> {
            slow.call();
            throw new IllegalStateException("b is broken");
        });
        CountDownLatch seen = new CountDownLatch(1);
        f.node("watch", after(a), x -> {
            slow.awaitBegun();
            seen.countDown();
            return x;
        });
        Node<String> end = f.node("end", anyOf(b, a), x -> x);
        try (FlowRun<String> run = f.returning(end).start(null)) {
            seen.await();
            assertThat(run.state("end")).isEqualTo(NodeState.PENDING);
            slow.release();
            FlowResult<String> result = run.join();
            assertThat(result.node(end).state()).isEqualTo(NodeState.FAILED);
            assertThat(result.node(end).cause()).hasMessage("b is broken");
        }
    }

    @Test
    void an_at_least_is_met_by_the_kth_success_and_has_the_available_values() throws Exception {
        BlockingTask slow = new BlockingTask();
        Node<String> a = f.node("a", () -> "A");
        Node<String> b = failing("b");
        Node<String> c = f.node("c", slow::call);
        Node<String> d = f.node("d", () -> "D");
        Node<List<String>> end = f.node("end", atLeast(2, a, b, c, d), xs -> xs);
        try (FlowRun<List<String>> run = f.returning(end).start(null)) {
            Wait.until(() -> run.state("end").isTerminal());
            slow.release();
            assertThat(run.get()).containsExactly("A", "D");
        }
    }

    @Test
    void an_at_least_that_has_become_impossible_ends_its_node_immediately() throws Exception {
        BlockingTask slow = new BlockingTask();
        CountDownLatch decided = new CountDownLatch(1);
        Node<String> a = f.node("a", slow::call);
        Node<String> b = failing("b");
        Node<String> c = failing("c");
        f.node("end", atLeast(2, a, b, c), xs -> xs).onResult(report -> decided.countDown());
        try (FlowRun<Void> run = f.build().start(null)) {
            decided.await();
            slow.release();
            FlowResult<Void> result = run.join();
            assertThat(result.node("end").state()).isEqualTo(NodeState.FAILED);
            assertThat(result.node("end").cause()).hasMessage("b is broken");
            assertThat(result.explain("end"))
                    .startsWith("FAILED: too few of its alternatives can succeed; \"b\" is FAILED: its action threw ");
        }
    }

    @Test
    void a_node_with_an_impossible_clause_ends_like_the_most_severe_of_its_upstreams() throws Exception {
        Node<String> skipped = f.node("skipped", () -> "").when(c -> false);
        Node<String> off = f.node("off", () -> "").when(c -> false);
        Node<String> late = f.node("late", new BlockingTask()::call).timeout(Duration.ofMillis(1));
        f.node("both", anyOf(skipped, late), x -> x);
        f.node("none", anyOf(off, skipped), x -> x);
        f.node("all", anyOf(off, late, failing("bad")), x -> x);

        FlowResult<Void> result = f.build().run(null);

        assertThat(result.node("both").state()).isEqualTo(NodeState.TIMED_OUT);
        assertThat(result.node("none").state()).isEqualTo(NodeState.SKIPPED);
        assertThat(result.node("all").state()).isEqualTo(NodeState.FAILED);
    }

    // several clauses in one node
    @Test
    void all_clauses_of_a_node_must_be_met_and_each_has_its_own_count() throws Exception {
        Node<String> a = f.node("a", () -> "A");
        Node<String> b = failing("b");
        BlockingTask slow = new BlockingTask();
        Node<String> c = f.node("c", slow::call);
        Node<String> d = f.node("d", () -> "D");
        Dependency<String> first = anyOf(a, b);
        Dependency<String> second = anyOf(c, failing("e"));
        Node<String> end =
                f.node("end", first, second, d, (x, p, q, r) -> p + q + r + x.winnerOf(first) + x.winnerOf(second));
        try (FlowRun<String> run = f.returning(end).start(null)) {
            slow.awaitBegun();
            assertThat(run.state("end")).isEqualTo(NodeState.PENDING);
            slow.release();
            assertThat(run.get()).isEqualTo("AvalueDac");
        }
    }

    // after
    @ParameterizedTest
    @EnumSource(names = {"SUCCESS", "FAILED", "SKIPPED", "TIMED_OUT"})
    void an_after_receives_every_kind_of_outcome(NodeState how) throws Exception {
        Node<String> a = switch (how) {
            case SUCCESS -> f.node("a", () -> "A");
            case FAILED -> failing("a");
            case SKIPPED -> f.node("a", () -> "A").when(c -> false);
            default -> f.node("a", new BlockingTask()::call).timeout(Duration.ofMillis(1));
        };
        Node<Outcome<String>> end = f.node("end", after(a), o -> o);

        FlowResult<Outcome<String>> result = f.returning(end).run(null);

        TaskStatus expected = switch (how) {
            case SUCCESS -> TaskStatus.SUCCESS;
            case SKIPPED -> TaskStatus.SKIPPED;
            default -> TaskStatus.FAILED;
        };
        assertThat(result.node(a).state()).isEqualTo(how);
        assertThat(result.value().status()).isEqualTo(expected);
    }

    // order, allOf
    @Test
    void an_order_has_no_value_and_an_all_of_has_all_values_in_the_order_of_declaration() throws Exception {
        Node<Integer> a = f.node("a", () -> 1);
        Node<Integer> b = f.node("b", () -> 2);
        Node<Integer> c = f.node("c", () -> 3);
        Node<String> end = f.node("end", order(b), allOf(List.of(c, a)), (nothing, xs) -> nothing + " " + xs);

        assertThat(f.returning(end).run(null).value()).isEqualTo("null [3, 1]");
    }

    @Test
    void an_all_of_no_nodes_is_an_empty_list() throws Exception {
        Node<List<Integer>> end = f.node("end", allOf(List.<Node<Integer>>of()), xs -> xs);

        assertThat(f.returning(end).run(null).value()).isEmpty();
    }

    // needs
    @Test
    void needs_adds_dependencies_that_are_read_through_the_context() throws Exception {
        Node<Integer> a = f.node("a", () -> 1);
        Node<Integer> b = f.node("b", () -> 2);
        Node<Integer> end = f.node("end", a, (c, x) -> x + c.read(b)).needs(b);

        assertThat(f.returning(end).run(null).value()).isEqualTo(3);
    }

    @Test
    void a_dependent_never_misses_the_result_of_a_must() throws Exception {
        FlowBuilder<Integer> g = FlowPlan.define("reads", Integer.class);
        Node<Integer> a = g.node("a", c -> c.param() + 1);
        Node<Integer> b = g.node("b", c -> c.param() + 2);
        Node<Integer> c = g.node("c", a, b, Integer::sum);
        Node<Integer> d = g.node("d", b, a, Integer::sum);
        Node<Integer> end = g.node("end", c, d, (x, y) -> x.equals(y) ? x : -1);
        FlowPlan<Integer, Integer> plan = g.returning(end);
        try (ForkJoinPool pool = new ForkJoinPool(4)) {
            RunOptions options = RunOptions.defaults().withScheduler(Scheduler.from(pool));
            for (int i = 0; i < 5_000; i++) {
                assertThat(plan.run(i, options).value()).isEqualTo(2 * i + 3);
            }
        }
    }

    @Test
    void runs_of_one_plan_are_independent_and_may_be_concurrent() throws Exception {
        FlowBuilder<Integer> g = FlowPlan.define("many", Integer.class);
        CyclicBarrier together = new CyclicBarrier(8);
        Node<Integer> a = g.node("a", c -> {
            together.await();
            return c.param();
        });
        Node<Integer> b = g.node("b", a, x -> {
            if (x % 2 == 0) {
                throw new IllegalStateException("even");
            }
            return x;
        });
        FlowPlan<Integer, Integer> plan = g.returning(b);
        List<FlowRun<Integer>> runs =
                IntStream.range(0, 8).mapToObj(plan::start).toList();
        for (int i = 0; i < 8; i++) {
            FlowResult<Integer> result = runs.get(i).join();
            assertThat(result.node(a).value()).isEqualTo(i);
            assertThat(result.status()).isEqualTo(i % 2 == 0 ? FlowStatus.FAILED : FlowStatus.SUCCESS);
        }
    }

    @Test
    void a_plan_is_not_affected_by_changes_after_it_was_built() throws Exception {
        Node<String> a = f.node("a", () -> "A");
        FlowPlan<Void, String> plan = f.returning(a);
        Node<String> b = f.node("b", () -> "B");
        a.when(c -> false).needs(b).defaultValue("D");

        assertThat(plan.run(null).value()).isEqualTo("A");
        assertThat(plan.nodes()).hasSize(1);
        assertThat(f.returning(a).run(null).value()).isEqualTo("D");
    }

    @Test
    void a_false_condition_skips_a_node_and_those_that_require_it_and_branches_join_in_an_any() throws Exception {
        FlowBuilder<Integer> g = FlowPlan.define("branches", Integer.class);
        AtomicInteger asked = new AtomicInteger();
        Node<Integer> n = g.node("n", NodeContext::param);
        Node<String> small = g.node("small", n, x -> "small " + x).when(c -> {
            asked.incrementAndGet();
            return c.read(n) < 10;
        });
        Node<String> large = g.node("large", n, x -> "large " + x).when(c -> c.read(n) >= 10);
        Node<String> more = g.node("more", large, x -> "very " + x);
        Node<String> end = g.node("end", anyOf(small, more), x -> x);
        FlowPlan<Integer, String> plan = g.returning(end);

        FlowResult<String> few = plan.run(3);
        assertThat(few.value()).isEqualTo("small 3");
        assertThat(few.node(large).state()).isEqualTo(NodeState.SKIPPED);
        assertThat(few.node(more).state()).isEqualTo(NodeState.SKIPPED);
        assertThat(few.node(large).startNanos()).isEqualTo(-1);
        assertThat(few.status()).isEqualTo(FlowStatus.SUCCESS);
        assertThat(asked).hasValue(1);
        assertThat(plan.run(30).value()).isEqualTo("very large 30");
    }

    @Test
    void a_condition_that_throws_fails_the_node_without_a_fallback() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        Node<String> a = f.node("a", () -> {
                    calls.incrementAndGet();
                    return "A";
                })
                .when(c -> {
                    throw new IllegalStateException("condition is broken");
                })
                .onBegin(c -> calls.incrementAndGet())
                .fallbackValue("F")
                .defaultValue("D");

        FlowResult<String> result = f.returning(a).run(null);

        assertThat(calls).hasValue(0);
        assertThat(result.node(a).state()).isEqualTo(NodeState.FAILED);
        assertThat(result.node(a).cause()).hasMessage("condition is broken");
        assertThat(result.node(a).via()).isEqualTo(ValueSource.DEFAULT);
    }

    @Test
    void a_chain_runs_in_one_thread_and_is_dispatched_once() throws Exception {
        AtomicInteger handed = new AtomicInteger();
        ConcurrentLinkedQueue<Thread> threads = new ConcurrentLinkedQueue<>();
        Node<Integer> last = f.node("0", () -> 0);
        for (int i = 1; i < 50; i++) {
            last = f.node("" + i, last, x -> {
                threads.add(Thread.currentThread());
                return x + 1;
            });
        }
        RunOptions options = RunOptions.defaults().withScheduler(task -> {
            handed.incrementAndGet();
            Thread.startVirtualThread(task);
        });
        assertThat(f.returning(last).run(null, options).value()).isEqualTo(49);
        assertThat(handed).hasValue(1);
        assertThat(threads.stream().distinct()).hasSize(1);
    }

    @Test
    void all_but_one_of_k_ready_nodes_are_dispatched_before_that_one_begins() throws Exception {
        StepScheduler steps = new StepScheduler();
        AtomicInteger waitingWhenFirstRan = new AtomicInteger(-1);
        Node<Integer> root = f.node("root", () -> 0);
        for (int i = 0; i < 7; i++) {
            f.node("n" + i, root, x -> waitingWhenFirstRan.compareAndSet(-1, steps.size()));
        }
        try (FlowRun<Void> run = f.build().start(null, RunOptions.defaults().withScheduler(steps))) {
            assertThat(steps.size()).isEqualTo(1);
            steps.runNext();
            assertThat(waitingWhenFirstRan).hasValue(6);
            assertThat(steps.size()).isEqualTo(6);
            steps.runAll();
            run.join();
        }
    }

    // arity
    @Test
    void nodes_of_every_arity_take_lambdas() throws Exception {
        Node<Integer> n = f.node("n", () -> 1);
        Node<Integer> a0 = f.node("a0", () -> 0);
        Node<String> c0 = f.node("c0", c -> c.id());
        Node<Integer> m = f.node("m", () -> 1);
        Node<Integer> o = f.node("o", () -> 1);
        Node<Integer> p = f.node("p", () -> 1);
        Node<Integer> a1 = f.node("a1", n, a -> a);
        Node<Integer> a2 = f.node("a2", n, m, (a, b) -> a + b);
        Node<Integer> a3 = f.node("a3", n, m, o, (a, b, c) -> a + b + c);
        Node<Integer> a4 = f.node("a4", n, m, o, p, (a, b, c, d) -> a + b + c + d);
        Node<String> c1 = f.node("c1", n, (x, a) -> x.id() + a);
        Node<String> c2 = f.node("c2", n, m, (x, a, b) -> x.id() + (a + b));
        Node<String> c3 = f.node("c3", n, m, o, (x, a, b, c) -> x.id() + (a + b + c));

        var values = f.returning(List.of(a0, a1, a2, a3, a4, c0, c1, c2, c3))
                .run(null)
                .value();

        assertThat(values).containsEntry("a4", 4);
        for (int i = 0; i <= 3; i++) {
            assertThat(values).containsEntry("a" + i, i).containsEntry("c" + i, i == 0 ? "c0" : "c" + i + i);
        }
    }

    private static String zero() {
        return "z";
    }

    private static String join(String... all) {
        return String.join("", all);
    }

    private static String three(String a, String b, String c) {
        return join(a, b, c);
    }

    private static String four(String a, String b, String c, String d) {
        return join(a, b, c, d);
    }

    private static String contextual(NodeContext<Void> context, String a) {
        return context.id() + a;
    }

    private static String contextualTwo(NodeContext<Void> context, String a, String b) {
        return context.id() + a + b;
    }

    private static String contextualThree(NodeContext<Void> context, String a, String b, String c) {
        return context.id() + join(a, b, c);
    }

    // arity
    @Test
    void nodes_of_every_arity_take_method_references() throws Exception {
        Node<String> a = f.node("a", FlowTriggersTest::zero);
        Node<String> id = f.node("id", NodeContext::id);
        Node<String> b = f.node("b", FlowTriggersTest::zero);
        Node<String> c = f.node("c", FlowTriggersTest::zero);
        Node<String> d = f.node("d", FlowTriggersTest::zero);
        Node<String> r1 = f.node("r1", a, String::trim);
        Node<String> r2 = f.node("r2", a, b, String::concat);
        Node<String> r3 = f.node("r3", a, b, c, FlowTriggersTest::three);
        Node<String> r4 = f.node("r4", a, b, c, d, FlowTriggersTest::four);
        Node<String> k1 = f.node("k1", a, FlowTriggersTest::contextual);
        Node<String> k2 = f.node("k2", a, b, FlowTriggersTest::contextualTwo);
        Node<String> k3 = f.node("k3", a, b, c, FlowTriggersTest::contextualThree);
        Node<Optional<String>> made = f.node("made", r1, Optional::of);
        Node<StringBuilder> built = f.node("built", r2, StringBuilder::new);

        var values = f.returning(List.of(id, r1, r2, r3, r4, k1, k2, k3, made))
                .run(null)
                .value();

        assertThat(values)
                .containsEntry("id", "id")
                .containsEntry("r1", "z")
                .containsEntry("r4", "zzzz")
                .containsEntry("k1", "k1z")
                .containsEntry("k2", "k2zz")
                .containsEntry("k3", "k3zzz")
                .containsEntry("made", Optional.of("z"));
        assertThat(built.id()).isEqualTo("built");
    }
}
