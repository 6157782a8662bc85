package dev.raddle.flow;

import static dev.raddle.flow.Dependency.after;
import static dev.raddle.flow.Dependency.anyOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskTimeoutException;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Nodes that are nested runs. */
@Timeout(60)
class FlowNestedTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final FlowBuilder<Void> f = FlowPlan.define("outer");
    private final Node<Integer> three = f.node("three", () -> 3);

    private static FlowPlan<Integer, Integer> square() {
        FlowBuilder<Integer> inner = FlowPlan.define("square", Integer.class);
        Node<Integer> x = inner.node("x", NodeContext::param);
        Node<Integer> y = inner.node("y", NodeContext::param);
        return inner.returning(inner.node("product", x, y, (a, b) -> a * b));
    }

    private static FlowPlan<Integer, String> blocked(BlockingTask slow) {
        FlowBuilder<Integer> inner = FlowPlan.define("blocked", Integer.class);
        return inner.returning(inner.node("slow", slow::call));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_subflow_is_a_node_with_the_value_of_its_plan(boolean here) throws Exception {
        List<String> events = new CopyOnWriteArrayList<>();
        Node<Integer> sub = f.subflow("sub", square(), three)
                .onBegin(c -> events.add("begin"))
                .onResult(report -> events.add("result " + report.value()));
        Node<Integer> again = f.subflow("again", square(), sub);
        RunOptions options = RunOptions.defaults();
        FlowResult<Integer> result = f.returning(again).run(null, here ? options.inCallersThread() : options);
        assertThat(result.value()).isEqualTo(81);
        assertThat(events).containsExactly("begin", "result 9");
    }

    @Test
    void the_first_node_of_a_subflow_does_not_see_the_interrupt_that_a_callback_has_left() throws Exception {
        FlowBuilder<Void> inside = FlowPlan.define("inner");
        FlowPlan<Void, Boolean> inner = inside.returning(
                inside.node("first", () -> Thread.currentThread().isInterrupted()));
        FlowBuilder<Void> outside = FlowPlan.define("outer");
        Node<Void> start = outside.node("start", () -> null);
        Node<Boolean> nested = outside.subflow("nested", inner, start);
        outside.node("other", after(start), o -> "other")
                .onResult(report -> Thread.currentThread().interrupt());

        RunOptions inPlace = RunOptions.defaults().withScheduler(Runnable::run);
        FlowResult<Boolean> result = outside.returning(nested).run(null, inPlace);
        boolean left = Thread.interrupted();

        assertThat(result.value()).isFalse();
        assertThat(left).isFalse();
    }

    @Test
    void a_subflow_that_fails_fails_its_node_with_the_cause_and_a_fallback_recovers() throws Exception {
        FlowBuilder<Integer> inner = FlowPlan.define("inner", Integer.class);
        Node<Integer> bad = inner.node("bad", c -> 1 / (c.param() - 3));
        FlowPlan<Integer, Integer> plan = inner.returning(bad);
        Node<Integer> sub = f.subflow("sub", plan, three).defaultValue(-1);
        Node<Integer> recovered = f.subflow("recovered", plan, three).fallbackValue(7);
        Node<Integer> end = f.node("end", recovered, after(sub), (x, o) -> x);
        FlowResult<Integer> result = f.returning(end).run(null);
        assertThat(result.value()).isEqualTo(7);
        assertThat(result.node(sub).state()).isEqualTo(NodeState.FAILED);
        assertThat(result.node(sub).cause()).isInstanceOf(ArithmeticException.class);
        assertThat(result.node(sub).value()).isEqualTo(-1);
    }

    @Test
    void a_subflow_that_fails_although_its_output_has_a_default_fails_its_node() throws Exception {
        FlowBuilder<Integer> inner = FlowPlan.define("inner", Integer.class);
        Node<Integer> bad = inner.node("bad", c -> 1 / (c.param() - 3)).defaultValue(-1);
        Node<Integer> sub = f.subflow("sub", inner.returning(bad), three);
        FlowResult<Integer> result = f.returning(sub).run(null);
        assertThat(result.node(sub).state()).isEqualTo(NodeState.FAILED);
        assertThat(result.node(sub).cause()).isInstanceOf(ArithmeticException.class);
    }

    @Test
    void no_thread_waits_for_a_subflow() throws Exception {
        FlowPlan<Integer, Integer> plan = square();
        for (int depth = 0; depth < 5; depth++) {
            FlowBuilder<Integer> around = FlowPlan.define("depth " + depth, Integer.class);
            Node<Integer> p = around.node("p", NodeContext::param);
            plan = around.returning(around.subflow("sub", plan, p));
        }
        Node<Integer> sub = f.subflow("sub", plan, three);
        Node<List<Integer>> mapped = f.map("mapped", f.node("list", () -> List.of(1, 2, 3, 4)), x -> x + 1);
        Node<Integer> end = f.node("end", sub, mapped, (x, xs) -> x + xs.size());
        try (ExecutorService pool = Executors.newSingleThreadExecutor()) {
            RunOptions options = RunOptions.defaults().withScheduler(Scheduler.from(pool));
            assertThat(f.returning(end).run(null, options).value()).isEqualTo(13);
        }
    }

    @Test
    void a_subflow_ends_with_its_node() throws Exception {
        VirtualTime time = new VirtualTime();
        BlockingTask slow = new BlockingTask();
        Node<String> sub =
                f.subflow("sub", blocked(slow), three).timeout(SECOND).defaultValue("D");
        Node<String> end = f.node("end", after(sub), o -> "E");
        FlowRun<String> run = f.returning(end).start(null, RunOptions.defaults().withTimeSource(time));
        slow.awaitBegun();
        assertThat(run.state("sub")).isEqualTo(NodeState.RUNNING);
        time.advance(SECOND);
        assertThat(run.get()).isEqualTo("E");
        slow.awaitInterrupt();
        assertThat(run.join().node(sub).state()).isEqualTo(NodeState.TIMED_OUT);
        run.close();
        assertThat(slow.returns()).isEqualTo(1);
    }

    @Test
    void close_waits_for_the_actions_of_subflows_too() throws Exception {
        BlockingTask slow = BlockingTask.uninterruptible();
        f.subflow("sub", blocked(slow), three);
        FlowRun<Void> run = f.build().start(null);
        slow.awaitBegun();
        CountDownLatch closed = new CountDownLatch(1);
        Thread closer = Thread.startVirtualThread(() -> {
            run.close();
            closed.countDown();
        });
        slow.awaitInterrupt();
        Wait.until(() -> closer.getState() == Thread.State.WAITING && run.isDone());
        assertThat(closed.getCount()).isEqualTo(1);
        slow.release();
        closed.await();
        assertThat(slow.returns()).isEqualTo(1);
    }

    @Test
    void an_unneeded_subflow_is_cancelled_if_the_options_require_it() throws Exception {
        BlockingTask slow = new BlockingTask();
        Node<String> sub = f.subflow("sub", blocked(slow), three);
        Node<String> fast = f.node("fast", () -> {
            slow.awaitBegun();
            return "F";
        });
        Node<String> end = f.node("end", anyOf(sub, fast), x -> x);
        FlowRun<String> run = f.returning(end).start(null, RunOptions.defaults().obsolete(UnneededPolicy.INTERRUPT));
        assertThat(run.get()).isEqualTo("F");
        slow.awaitInterrupt();
        assertThat(run.join().node(sub).state()).isEqualTo(NodeState.CANCELLED);
        run.close();
    }

    // both runs have the same deadline
    @Test
    void a_subflow_times_out_at_the_deadline_of_the_run_like_every_other_node() throws Exception {
        FlowBuilder<Integer> inner = FlowPlan.define("inner", Integer.class);
        Node<String> output =
                inner.node("slow", () -> new BlockingTask().call()).defaultValue("D");
        FlowPlan<Integer, String> withDefault = inner.returning(output);
        Node<String> a = f.subflow("a", withDefault, three);
        Node<String> b = f.subflow("b", blocked(new BlockingTask()), three);
        AtomicInteger later = new AtomicInteger();
        f.node("later", a, x -> later.incrementAndGet());
        f.node("end", after(b), o -> later.incrementAndGet());
        FlowPlan<Void, Void> plan = f.build();
        for (int i = 0; i < 300; i++) {
            VirtualTime time = new VirtualTime();
            FlowRun<Void> run = plan.start(null, RunOptions.timeout(SECOND).withTimeSource(time));
            Wait.until(() -> run.state("a") == NodeState.RUNNING && run.state("b") == NodeState.RUNNING);
            time.awaitAlarms(1); // that of the outer run
            time.advance(SECOND);
            FlowResult<Void> result = run.join();
            assertThat(result.status()).as("run " + i).isEqualTo(FlowStatus.TIMED_OUT);
            assertThat(result.node(a).state()).as("run " + i).isEqualTo(NodeState.TIMED_OUT);
            assertThat(result.node(b).state()).as("run " + i).isEqualTo(NodeState.TIMED_OUT);
            run.close();
        }
        assertThat(later).as("nodes that began after the deadline").hasValue(0);
    }

    // a run that cannot begin
    @Test
    void a_subflow_that_cannot_begin_fails_its_node() throws Exception {
        FlowBuilder<Integer> inner = FlowPlan.define("inner", Integer.class);
        Node<Integer> x = inner.node("x", NodeContext::param).group("g"); // but the run has no groups
        Node<Integer> sub = f.subflow("sub", inner.returning(x), three);
        Node<String> end = f.node("end", after(sub), o -> o.status().toString());
        FlowRun<String> run;
        try {
            run = f.returning(end).start(null);
        } catch (IllegalArgumentException toldAtTheDoor) {
            assertThat(toldAtTheDoor).hasMessageContaining("\"x\"");
            return;
        }
        CountDownLatch ended = new CountDownLatch(1);
        Thread.startVirtualThread(() -> {
            try {
                run.join();
                ended.countDown();
            } catch (InterruptedException impossible) {
                throw new AssertionError(impossible);
            }
        });
        ended.await();
        assertThat(run.get()).isEqualTo("FAILED");
    }

    // map
    @Test
    void a_map_returns_results_in_the_order_of_its_elements_including_nulls() throws Exception {
        Node<List<Integer>> list = f.node("list", () -> Arrays.asList(3, null, 1));
        Node<List<String>> mapped = f.map("mapped", list, x -> x == null ? null : "<" + x + ">");
        assertThat(f.returning(mapped).run(null).value()).containsExactly("<3>", null, "<1>");
    }

    @Test
    void a_map_over_an_empty_collection_returns_an_empty_list() throws Exception {
        Node<List<Integer>> mapped = f.map("mapped", f.node("list", () -> List.<Integer>of()), x -> x);
        assertThat(f.returning(mapped).run(null).value()).isEmpty();
        assertThat(f.returning(mapped)
                        .run(null, RunOptions.defaults().inCallersThread())
                        .value())
                .isEmpty();
    }

    @Test
    void a_map_over_null_fails() throws Exception {
        Node<List<Integer>> mapped = f.map("mapped", f.node("list", () -> (List<Integer>) null), x -> x);
        FlowResult<List<Integer>> result = f.returning(mapped).run(null);
        assertThat(result.node(mapped).state()).isEqualTo(NodeState.FAILED);
        assertThat(result.node(mapped).cause()).isInstanceOf(NullPointerException.class);
    }

    @Test
    void the_elements_of_a_map_run_concurrently() throws Exception {
        CountDownLatch all = new CountDownLatch(5);
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        Node<List<Integer>> mapped = f.map("mapped", f.node("list", () -> List.of(1, 2, 3, 4, 5)), x -> {
            threads.add(Thread.currentThread());
            all.countDown();
            all.await();
            return x;
        });
        assertThat(f.returning(mapped).run(null).value()).hasSize(5);
        assertThat(threads).hasSize(5);
    }

    @Test
    void the_first_failure_of_a_map_fails_the_node_and_cancels_the_others() throws Exception {
        BlockingTask slow = new BlockingTask();
        Node<List<String>> mapped = f.map("mapped", f.node("list", () -> List.of("slow", "bad")), x -> {
            if (x.equals("slow")) {
                return slow.call();
            }
            slow.awaitBegun();
            throw new IllegalStateException("bad is broken");
        });
        FlowResult<List<String>> result = f.returning(mapped).run(null);
        assertThat(result.node(mapped).state()).isEqualTo(NodeState.FAILED);
        slow.awaitInterrupt();
        assertThat(result.node(mapped).cause()).hasMessage("bad is broken");
    }

    private static List<Integer> numbers(int count) {
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            numbers.add(i);
        }
        return numbers;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 40})
    void a_map_with_a_limit_processes_no_more_elements_concurrently(int limit) throws Exception {
        AtomicInteger now = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        CountDownLatch full = new CountDownLatch(limit);
        Node<List<Integer>> mapped = f.map("mapped", f.node("list", () -> numbers(200)), MapOptions.limit(limit), x -> {
            most.accumulateAndGet(now.incrementAndGet(), Math::max);
            full.countDown();
            full.await(); // the limit is reached
            Thread.yield();
            now.decrementAndGet();
            return x + 1;
        });
        List<Integer> result = f.returning(mapped).run(null).value();
        assertThat(result).hasSize(200).startsWith(1, 2, 3).endsWith(200);
        assertThat(most).hasValue(limit);
    }

    @Test
    void a_map_with_a_limit_runs_on_any_scheduler() throws Exception {
        Node<List<Integer>> mapped =
                f.map("mapped", f.node("list", () -> numbers(10_000)), MapOptions.limit(7), x -> x + 1);
        FlowPlan<Void, List<Integer>> plan = f.returning(mapped);
        RunOptions options = RunOptions.defaults();
        assertThat(plan.run(null, options.inCallersThread()).value()).hasSize(10_000);
        assertThat(plan.run(null, options.withScheduler(Runnable::run)).value()).hasSize(10_000);
        assertThat(plan.run(null, options.withScheduler(Scheduler.fixed(2))).value())
                .hasSize(10_000);
    }

    @Test
    void no_element_begins_after_another_has_failed() throws Exception {
        Set<Integer> begun = ConcurrentHashMap.newKeySet();
        Node<List<Integer>> mapped = f.map("mapped", f.node("list", () -> numbers(10)), MapOptions.limit(1), x -> {
            begun.add(x);
            if (x == 3) {
                throw new IllegalStateException("3 is broken");
            }
            return x;
        });
        FlowResult<List<Integer>> result = f.returning(mapped).run(null);
        assertThat(result.node(mapped).cause()).hasMessage("3 is broken");
        assertThat(begun).containsExactlyInAnyOrder(0, 1, 2, 3);
    }

    @Test
    void each_element_has_its_own_attempts() throws Exception {
        ConcurrentHashMap<Integer, Integer> tries = new ConcurrentHashMap<>();
        MapOptions options = MapOptions.limit(2).withRetry(RetryPolicy.attempts(3));
        Node<List<Integer>> mapped = f.map("mapped", f.node("list", () -> numbers(5)), options, x -> {
            if (tries.merge(x, 1, Integer::sum) < 3) {
                throw new IllegalStateException("again");
            }
            return x;
        });
        assertThat(f.returning(mapped).run(null).value()).isEqualTo(numbers(5));
        assertThat(tries.values()).containsOnly(3);
    }

    // the wait of an element for its start does not count
    @Test
    void the_timeout_of_each_element_begins_with_its_start() throws Exception {
        VirtualTime time = new VirtualTime();
        AtomicInteger done = new AtomicInteger();
        BlockingTask slow = new BlockingTask();
        MapOptions options = MapOptions.limit(1).withTimeout(SECOND);
        Node<List<String>> mapped = f.map("mapped", f.node("list", () -> numbers(5)), options, x -> {
            if (x == 4) {
                return slow.call();
            }
            time.advance(Duration.ofMillis(700));
            return "" + done.incrementAndGet();
        });
        FlowRun<List<String>> run =
                f.returning(mapped).start(null, RunOptions.defaults().withTimeSource(time));
        slow.awaitBegun();
        assertThat(done).hasValue(4);
        time.advance(SECOND);
        FlowResult<List<String>> result = run.join();
        slow.awaitInterrupt();
        assertThat(result.node(mapped).state()).isEqualTo(NodeState.FAILED);
        assertThat(result.node(mapped).cause())
                .isInstanceOf(TaskTimeoutException.class)
                .hasMessageContaining("node \"mapped[4]\" of flow \"mapped\" ran out of time after 1000 ms");
        run.close();
    }

    @Test
    void invalid_options_of_a_map_are_refused() {
        assertThatThrownBy(() -> MapOptions.limit(0)).hasMessage("limit must be at least 1, was 0");
        assertThatThrownBy(() -> MapOptions.defaults().withTimeout(Duration.ZERO))
                .hasMessage("timeout of an element must be positive, was PT0S");
        assertThat(MapOptions.limit(3).withTimeout(SECOND)).hasToString("map options with limit 3, timeout PT1S");
    }

    @Test
    void a_map_can_have_a_hundred_thousand_elements() throws Exception {
        List<Integer> many = new ArrayList<>();
        for (int i = 0; i < 100_000; i++) {
            many.add(i);
        }
        Node<List<Integer>> mapped = f.map("mapped", f.node("list", () -> many), x -> x + 1);
        List<Integer> result = f.returning(mapped)
                .run(null, RunOptions.defaults().inCallersThread())
                .value();
        assertThat(result).hasSize(100_000);
        assertThat(result.getLast()).isEqualTo(100_000);
    }

    @Test
    void a_caller_that_executes_a_nested_run_can_be_interrupted_like_one_that_waits() throws Exception {
        BlockingTask slow = new BlockingTask();
        AtomicInteger ran = new AtomicInteger();
        FlowBuilder<Integer> inner = FlowPlan.define("inner", Integer.class);
        Node<String> a = inner.node("a", slow::call);
        Node<Integer> b = inner.node("b", after(a), o -> ran.incrementAndGet());
        Node<Integer> sub = f.subflow("sub", inner.returning(b), three);
        FlowRun<Integer> run =
                f.returning(sub).start(null, RunOptions.defaults().inCallersThread());
        FutureTask<Object> running = new FutureTask<>(() -> {
            try {
                return run.join();
            } catch (InterruptedException expected) {
                return expected;
            }
        });
        Thread caller = Thread.ofVirtual().start(running);
        slow.awaitBegun();
        caller.interrupt();
        assertThat(running.get()).isInstanceOf(InterruptedException.class);
        assertThat(ran).hasValue(0);
        assertThat(run.isDone()).isFalse();
        assertThat(run.get()).isEqualTo(1); // the run can be joined again
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_chain_of_subflows_on_a_caller_runs_executor_does_not_grow_the_stack(boolean here) throws Exception {
        FlowBuilder<Integer> inner = FlowPlan.define("inner", Integer.class);
        FlowPlan<Integer, Integer> plan = inner.returning(inner.node("n", c -> c.param() + 1));
        Node<Integer> last = three;
        for (int i = 0; i < 5_000; i++) {
            last = f.subflow("s" + i, plan, last);
        }
        RunOptions options = RunOptions.defaults();
        assertThat(f.returning(last)
                        .run(null, here ? options.inCallersThread() : options.withScheduler(Runnable::run))
                        .value())
                .isEqualTo(5_003);
    }

    @Test
    @SuppressWarnings("ThreadPriorityCheck") // the joining thread may need the processor of this one
    void no_callback_of_a_nested_run_is_called_after_its_outer_run_has_ended() throws Exception {
        VirtualTime time = new VirtualTime();
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch proceed = new CountDownLatch(1);
        AtomicReference<FlowRun<?>> outer = new AtomicReference<>();
        List<Boolean> wasDone = new CopyOnWriteArrayList<>();
        FlowBuilder<Integer> inner = FlowPlan.define("inner", Integer.class);
        Node<String> a = inner.node("a", () -> "A")
                .onBegin(c -> {
                    begun.countDown();
                    await(proceed); // the deadline waits for a begin callback
                })
                .onResult(report -> {
                    for (int i = 0; i < 1_000 && !outer.get().isDone(); i++) {
                        Thread.yield();
                    }
                    wasDone.add(outer.get().isDone());
                });
        Node<String> sub = f.subflow("sub", inner.returning(a), three);
        FlowRun<String> run =
                f.returning(sub).start(null, RunOptions.timeout(SECOND).withTimeSource(time));
        outer.set(run);
        begun.await();
        time.advance(SECOND);
        Wait.until(() -> run.state("sub").isTerminal());
        proceed.countDown();
        assertThat(run.join().status()).isEqualTo(FlowStatus.TIMED_OUT);
        assertThat(wasDone).containsExactly(false);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException impossible) {
            throw new AssertionError(impossible);
        }
    }
}
