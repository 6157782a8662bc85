package dev.raddle.flow;

import static dev.raddle.flow.Dependency.after;
import static dev.raddle.flow.Dependency.anyOf;
import static dev.raddle.flow.Dependency.must;
import static dev.raddle.flow.Dependency.optional;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.scope.ThreadScope;
import dev.raddle.task.CancelledException;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import dev.raddle.task.TaskTimeoutException;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.LeasedThreads;
import dev.raddle.testing.RealAlarms;
import dev.raddle.testing.StackEnd;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import dev.raddle.time.Alarm;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** Premature ends of runs and nodes: deadlines, timeouts, cancels, first failures, closes, interrupts. */
@Timeout(60)
class FlowDeadlinesTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final FlowBuilder<Void> f = FlowPlan.define("deadlines");
    private final VirtualTime time = new VirtualTime();
    private final RunOptions timed = RunOptions.timeout(SECOND).withTimeSource(time);
    private final RunOptions untimed = RunOptions.defaults().withTimeSource(time);

    private static void joinUninterruptibly(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException impossible) {
            throw new AssertionError(impossible);
        }
    }

    private Node<String> failing(String id) {
        return f.node(id, () -> {
            throw new IllegalStateException(id + " is broken");
        });
    }

    @Test
    void nodes_that_have_not_ended_at_the_deadline_time_out_with_their_defaults() throws Exception {
        BlockingTask slow = BlockingTask.uninterruptible();
        AtomicInteger ran = new AtomicInteger();
        Node<String> quick = f.node("quick", () -> "Q");
        Node<String> a = f.node("a", quick, x -> slow.call()).defaultValue("DA");
        Node<String> b = f.node("b", a, x -> {
                    ran.incrementAndGet();
                    return "B";
                })
                .defaultFrom(() -> "DB");
        f.node("c", b, x -> x);
        FlowRun<String> run = f.returning(b).start(null, timed);
        slow.awaitBegun();

        time.advance(SECOND);
        FlowResult<String> result = run.join(); // although the action is still running

        assertThat(slow.returns()).isZero();
        assertThat(result.status()).isEqualTo(FlowStatus.TIMED_OUT);
        assertThat(result.node(quick).state()).isEqualTo(NodeState.SUCCESS);
        assertThat(result.node(a).state()).isEqualTo(NodeState.TIMED_OUT);
        assertThat(result.node(a).value()).isEqualTo("DA");
        assertThat(result.node(a).via()).isEqualTo(ValueSource.DEFAULT);
        assertThat(result.node(a).cause())
                .isInstanceOf(TaskTimeoutException.class)
                .hasMessageContaining("1000 ms");
        assertThat(result.value()).isEqualTo("DB");
        assertThat(result.node("c").via()).isEqualTo(ValueSource.NONE);
        assertThat(result.elapsed()).isEqualTo(SECOND);
        slow.awaitInterrupt();
        slow.release();
        run.close();
        assertThat(result.node(a).value()).isEqualTo("DA"); // a late result is dropped
        assertThat(result.node(a).state()).isEqualTo(NodeState.TIMED_OUT);
        assertThat(ran).hasValue(0);
        assertThat(slow.interrupts()).isEqualTo(1);
    }

    @Test
    void run_returns_soon_after_a_real_deadline_although_an_action_ignores_interrupts() throws Exception {
        BlockingTask slow = BlockingTask.uninterruptible();
        f.node("a", slow::call);
        long start = System.nanoTime();

        FlowResult<Void> result = f.build().run(null, RunOptions.timeout(Duration.ofMillis(100)));

        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofMillis(100));
        assertThat(result.status()).isEqualTo(FlowStatus.TIMED_OUT);
        assertThat(slow.returns()).isZero();
        slow.release();
    }

    @ParameterizedTest
    @org.junit.jupiter.params.provider.ValueSource(longs = {0, -1, -1_000_000_000_000L})
    void no_node_runs_if_the_deadline_has_passed(long nanos) throws Exception {
        AtomicInteger ran = new AtomicInteger();
        AtomicInteger results = new AtomicInteger();
        f.node("a", ran::incrementAndGet)
                .onBegin(c -> ran.incrementAndGet())
                .onResult(report -> results.incrementAndGet())
                .defaultValue(7);
        f.node("b", anyOf("a"), x -> ran.incrementAndGet()).onResult(report -> results.incrementAndGet());
        FlowPlan<Void, Void> plan = f.build();

        for (RunOptions options : new RunOptions[] {
            untimed.withTimeout(Duration.ofNanos(nanos)),
            untimed.withDeadline(Deadline.after(time, Duration.ofNanos(nanos))),
            untimed.withTimeout(Duration.ofNanos(nanos)).inCallersThread()
        }) {
            results.set(0);
            FlowResult<Void> result = plan.run(null, options);

            assertThat(result.status()).isEqualTo(FlowStatus.TIMED_OUT);
            assertThat(result.nodes()).allMatch(node -> node.state() == NodeState.TIMED_OUT);
            assertThat(result.node("a").value()).isEqualTo(7);
            assertThat(ran).hasValue(0);
            assertThat(results).hasValue(2);
        }
    }

    /** Counts the events of the nodes of one run. */
    private static final class Tally {
        private static final int NODES = 6;
        private final AtomicInteger[] entered = numbers();
        private final AtomicInteger[] begun = numbers();
        private final AtomicInteger[] results = numbers();

        private static AtomicInteger[] numbers() {
            AtomicInteger[] numbers = new AtomicInteger[NODES];
            for (int i = 0; i < NODES; i++) {
                numbers[i] = new AtomicInteger();
            }
            return numbers;
        }

        private void add(AtomicInteger[] numbers, String id) {
            numbers[id.charAt(0) - 'a'].incrementAndGet();
        }

        int calls() {
            int sum = 0;
            for (int i = 0; i < NODES; i++) {
                sum += begun[i].get() + results[i].get();
            }
            return sum;
        }
    }

    private static Node<String> tallied(Node<String> node) {
        return node.onBegin(c -> {
            Tally tally = (Tally) c.param();
            tally.add(tally.begun, c.id());
        });
    }

    // the deadline, or a cancel, races with the begin and the end of every node
    @ParameterizedTest
    @org.junit.jupiter.params.provider.ValueSource(booleans = {true, false})
    void callbacks_are_called_exactly_once_in_any_race_with_the_deadline(boolean cancel) throws Exception {
        FlowBuilder<Tally> g = FlowPlan.define("tally", Tally.class);
        AtomicReference<Tally> now = new AtomicReference<>();
        AtomicInteger spins =
                new AtomicInteger(); // of each action: a deadline acts in a thread that must be started first
        CheckedFunction.F1<NodeContext<Tally>, String> action = c -> {
            c.param().add(c.param().entered, c.id());
            spin(spins.get());
            return c.id();
        };
        CheckedFunction.F2<NodeContext<Tally>, Object, String> next = (c, x) -> action.apply(c);
        CheckedFunction.F1<NodeContext<Tally>, String> failing = c -> {
            action.apply(c);
            throw new IllegalStateException("broken");
        };
        Node<String> a = tallied(g.node("a", action));
        Node<String> b = tallied(g.node("b", a, next));
        Node<String> c = tallied(g.node("c", failing).retry(RetryPolicy.attempts(3)));
        Node<String> d = tallied(g.node("d", anyOf(b, c), next));
        Node<String> e = tallied(g.node("e", after(c), next));
        Node<String> end = tallied(g.node("f", anyOf(d, e), next));
        for (Node<String> node : java.util.List.of(a, b, c, d, e, end)) {
            node.onResult(report -> now.get().add(now.get().results, report.id()));
        }
        FlowPlan<Tally, String> plan = g.returning(end);
        int early = 0;
        try (ForkJoinPool pool = new ForkJoinPool(2)) {
            for (int i = 0; i < 2_000; i++) {
                VirtualTime clock = new VirtualTime();
                Tally tally = new Tally();
                now.set(tally);
                spins.set(cancel ? 0 : i % 100 * 50);
                FlowRun<String> run = plan.start(
                        tally, RunOptions.timeout(SECOND).withTimeSource(clock).withScheduler(Scheduler.from(pool)));
                if (cancel) {
                    spin(i % 100 * 20);
                    run.cancel("enough");
                } else {
                    clock.advance(SECOND);
                }
                FlowResult<String> result = run.join();
                int calls = tally.calls();
                run.close();
                assertThat(tally.calls()).as("callbacks after the end").isEqualTo(calls);
                early += result.status() == FlowStatus.SUCCESS || result.status() == FlowStatus.DEGRADED ? 0 : 1;
                for (int node = 0; node < Tally.NODES; node++) {
                    assertThat(tally.results[node]).as("result of " + node).hasValue(1);
                    assertThat(tally.entered[node].get()).isLessThanOrEqualTo(node == 2 ? 3 : 1);
                    assertThat(tally.begun[node])
                            .as("begin of " + node)
                            .hasValue(tally.entered[node].get() > 0 ? 1 : 0);
                }
                assertThat(result.nodes()).allMatch(report -> report.state().isTerminal());
            }
        }
        assertThat(early).as("runs that were cut off").isPositive();
    }

    private static void spin(int times) {
        for (int each = 0; each < times; each++) {
            Thread.onSpinWait();
        }
    }

    // no node starts afterwards
    @Test
    void no_node_begins_after_a_condition_that_returns_after_the_deadline() throws Exception {
        BlockingTask condition = BlockingTask.uninterruptible();
        AtomicInteger ran = new AtomicInteger();
        f.node("a", ran::incrementAndGet).when(c -> {
            try {
                condition.call();
            } catch (InterruptedException impossible) {
                throw new AssertionError(impossible);
            }
            return true;
        });
        FlowRun<Void> run = f.build().start(null, timed);
        condition.awaitBegun();
        time.advance(SECOND);
        assertThat(run.join().node("a").state()).isEqualTo(NodeState.TIMED_OUT);
        condition.release();
        run.close();
        assertThat(ran).as("calls of the action after the run had returned").hasValue(0);
    }

    // no callback after it returned
    @Test
    void a_listener_is_not_notified_of_a_node_after_its_end() throws Exception {
        BlockingTask condition = BlockingTask.uninterruptible();
        StringBuffer recorded = new StringBuffer();
        f.node("a", () -> "A").when(c -> {
            try {
                condition.call();
            } catch (InterruptedException impossible) {
                throw new AssertionError(impossible);
            }
            return true;
        });
        TaskListener listener = new TaskListener() {
            @Override
            public void onStarted(TaskIdentity task, long waitNanos) {
                recorded.append("started ");
            }

            @Override
            public void onSettled(TaskIdentity task, dev.raddle.task.Outcome<?> outcome, long runNanos) {
                recorded.append("settled ");
            }
        };
        FlowRun<Void> run = f.build().start(null, timed.addListener(listener));
        condition.awaitBegun();
        time.advance(SECOND);
        run.join();
        condition.release();
        run.close();
        assertThat(recorded).hasToString("settled ");
    }

    @Test
    void a_node_whose_begin_callback_runs_at_the_deadline_is_entered_and_has_timed_out() throws Exception {
        BlockingTask callback = BlockingTask.uninterruptible();
        AtomicInteger ran = new AtomicInteger();
        AtomicInteger results = new AtomicInteger();
        f.node("a", () -> {
                    ran.incrementAndGet();
                    return "A";
                })
                .onBegin(c -> {
                    try {
                        callback.call();
                    } catch (InterruptedException impossible) {
                        throw new AssertionError(impossible);
                    }
                })
                .onResult(report -> results.incrementAndGet());
        FlowRun<Void> run = f.build().start(null, timed);
        callback.awaitBegun();
        time.advance(SECOND);
        assertThat(run.isDone()).isFalse();
        callback.release();
        run.join();
        run.close();
        assertThat(ran).hasValue(1);
        assertThat(results).hasValue(1);
        assertThat(callback.interrupts()).isZero();
    }

    @ParameterizedTest
    @org.junit.jupiter.params.provider.ValueSource(booleans = {true, false})
    void a_node_that_is_cancelled_during_its_begin_callback_has_ended_before_its_action(boolean inCallersThread)
            throws Exception {
        List<String> events = new CopyOnWriteArrayList<>();
        CompletableFuture<FlowRun<?>> started = new CompletableFuture<>();
        f.node("a", () -> {
                    events.add("action, interrupted: " + Thread.interrupted());
                    return "A";
                })
                .onBegin(c -> {
                    joinUninterruptibly(
                            Thread.ofVirtual().start(() -> started.join().cancel("enough")));
                    events.add("begin");
                })
                .onResult(report -> events.add("result " + report.state() + ", interrupted: "
                        + Thread.currentThread().isInterrupted()));
        RunOptions options = RunOptions.defaults();
        try (FlowRun<Void> run = f.build().start(null, inCallersThread ? options.inCallersThread() : options)) {
            started.complete(run);
            FlowResult<Void> result = run.join();
            assertThat(result.status()).isEqualTo(FlowStatus.CANCELLED);
            assertThat(result.node("a").state()).isEqualTo(NodeState.CANCELLED);
        }
        assertThat(events)
                .containsExactly("begin", "result CANCELLED, interrupted: false", "action, interrupted: true");
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    /** Loads the classes of a call and links it, while there is room. */
    private static void link(Consumer<FlowRun<Void>> call) {
        FlowBuilder<Void> nodes = FlowPlan.define("linked");
        nodes.node("first", () -> new BlockingTask().call());
        try (FlowRun<Void> run = nodes.build().start(null)) {
            call.accept(run);
        }
    }

    @Test
    @Timeout(300)
    void a_cancel_near_the_end_of_the_stack_cancels_all_nodes_or_none() throws Exception {
        link(run -> run.cancel("deep"));
        int overflows = 0;
        for (int trial = 0; trial < 20; trial++) {
            FlowBuilder<Void> nodes = FlowPlan.define("deep");
            BlockingTask action = new BlockingTask();
            nodes.node("first", () -> action.call());
            for (int node = 0; node < 20; node++) {
                nodes.node("n" + node, after("first"), o -> "never");
            }
            try (FlowRun<Void> run = nodes.build().start(null)) {
                action.awaitBegun();
                FutureTask<Integer> dive = new FutureTask<>(() -> StackEnd.call(60, call -> run.cancel("deep")));
                new Thread(null, dive, "diver", 256 * 1024 + 1024L * trial).start();
                overflows += dive.get();

                run.cancel("again");

                assertThat(run.join().status()).isEqualTo(FlowStatus.CANCELLED);
            }
        }
        assertThat(overflows).isPositive();
    }

    @Test
    @Timeout(60)
    void an_abandon_near_the_end_of_the_stack_ends_the_run_as_lost_or_has_no_effect() throws Exception {
        link(run -> run.abandon("deep"));
        int overflows = 0;
        for (int trial = 0; trial < 20; trial++) {
            BlockingTask action = new BlockingTask();
            FlowBuilder<Void> nodes = FlowPlan.define("deep");
            nodes.node("first", () -> action.call());
            try (FlowRun<Void> run = nodes.build().start(null)) {
                action.awaitBegun();
                FutureTask<Integer> dive = new FutureTask<>(() -> StackEnd.call(60, call -> run.abandon("deep")));
                new Thread(null, dive, "diver", 256 * 1024 + 1024L * trial).start();
                overflows += dive.get();

                run.abandon("again");

                assertThat(run.join().status()).isEqualTo(FlowStatus.LOST);
            }
        }
        assertThat(overflows).isPositive();
    }

    // a cancel acts in the calling thread, so this does not depend on timing
    @Test
    void a_cancel_during_a_begin_callback_takes_effect_after_the_callback() throws Exception {
        BlockingTask callback = BlockingTask.uninterruptible();
        AtomicInteger ran = new AtomicInteger();
        f.node("a", ran::incrementAndGet).onBegin(c -> {
            try {
                callback.call();
            } catch (InterruptedException impossible) {
                throw new AssertionError(impossible);
            }
        });
        FlowRun<Void> run = f.build().start(null);
        callback.awaitBegun();
        run.cancel("enough");
        assertThat(run.state("a")).isEqualTo(NodeState.RUNNING);
        assertThat(run.isDone()).isFalse();
        callback.release();
        assertThat(run.join().status()).isEqualTo(FlowStatus.CANCELLED);
        run.close();
        assertThat(ran).hasValue(1);
        assertThat(callback.interrupts()).isZero();
    }

    // the nodes that are ended first must not cause skips of others that the deadline ends, too
    @Test
    void at_the_deadline_pending_nodes_time_out_regardless_of_their_order_of_declaration() throws Exception {
        BlockingTask slow = new BlockingTask();
        f.node("last", must("middle"), x -> x);
        f.node("middle", must("first"), x -> x);
        f.node("first", slow::call);
        FlowRun<Void> run = f.build().start(null, timed);
        slow.awaitBegun();
        time.advance(SECOND);
        assertThat(run.join().nodes()).extracting(NodeReport::state).containsOnly(NodeState.TIMED_OUT);
        run.close();
    }

    @Test
    void a_nodes_timeout_ends_the_node_and_nothing_else() throws Exception {
        BlockingTask slow = BlockingTask.uninterruptible();
        Node<String> a = f.node("a", slow::call).timeout(SECOND).defaultValue("DA");
        Node<String> b = f.node("b", a, x -> x);
        Node<String> other = f.node("other", after(a), x -> "O");
        Node<String> end = f.node("end", anyOf(b, other), x -> x);
        FlowRun<String> run = f.returning(end).start(null, untimed);
        slow.awaitBegun();
        time.advance(SECOND);

        FlowResult<String> result = run.join();

        assertThat(result.value()).isEqualTo("O");
        assertThat(result.status()).isEqualTo(FlowStatus.DEGRADED);
        assertThat(result.node(a).state()).isEqualTo(NodeState.TIMED_OUT);
        assertThat(result.node(a).value()).isEqualTo("DA");
        assertThat(result.node(b).state()).isEqualTo(NodeState.TIMED_OUT);
        assertThat(result.node(a).cause())
                .hasMessage("node \"a\" of flow \"deadlines\" ran out of time after 1000 ms (its timeout)");
        assertThat(result.explain("a")).isEqualTo("TIMED_OUT: " + result.node(a).cause());
        slow.awaitInterrupt();
        slow.release();
        run.close();
        assertThat(time.alarms()).isZero();
    }

    @Test
    void the_result_of_an_action_that_must_not_be_interrupted_is_dropped_without_an_interrupt() throws Exception {
        BlockingTask slow = new BlockingTask();
        AtomicReference<NodeContext<?>> context = new AtomicReference<>();
        Node<String> a = f.node("a", c -> {
                    context.set(c);
                    return slow.call();
                })
                .timeout(SECOND)
                .noInterrupt();
        FlowRun<String> run = f.returning(a).start(null, untimed);
        slow.awaitBegun();
        assertThat(context.get().isCancelled()).isFalse();
        assertThat(context.get().remaining()).isEqualTo(SECOND);
        time.advance(SECOND);
        FlowResult<String> result = run.join();
        assertThat(context.get().isCancelled()).isTrue();
        slow.release();
        run.close();
        assertThat(slow.interrupts()).isZero();
        assertThat(result.node(a).state()).isEqualTo(NodeState.TIMED_OUT);
    }

    // the timeout of a node begins when the node is ready
    @Test
    void a_node_that_is_ready_and_has_no_thread_times_out_without_running() throws Exception {
        StepScheduler steps = new StepScheduler();
        AtomicInteger ran = new AtomicInteger();
        f.node("a", ran::incrementAndGet).timeout(SECOND).onBegin(c -> ran.incrementAndGet());
        FlowRun<Void> run = f.build().start(null, untimed.withScheduler(steps));
        time.advance(SECOND);
        FlowResult<Void> result = run.join();
        steps.runAll();
        assertThat(result.node("a").state()).isEqualTo(NodeState.TIMED_OUT);
        assertThat(result.node("a").startNanos()).isEqualTo(-1);
        assertThat(ran).hasValue(0);
    }

    @Test
    void a_nodes_timeout_does_not_count_before_it_is_ready() throws Exception {
        BlockingTask slow = new BlockingTask();
        Node<String> a = f.node("a", slow::call);
        Node<String> b = f.node("b", a, x -> x).timeout(SECOND);
        FlowRun<String> run = f.returning(b).start(null, untimed);
        slow.awaitBegun();
        time.advance(SECOND.multipliedBy(5));
        slow.release();
        assertThat(run.get()).isEqualTo("value");
        assertThat(time.alarms()).isZero();
    }

    @Test
    void a_cancel_ends_the_rest_of_the_run_and_ended_nodes_are_unchanged() throws Exception {
        BlockingTask slow = new BlockingTask();
        Node<String> quick = f.node("quick", () -> "Q");
        Node<String> a = f.node("a", quick, x -> slow.call());
        Node<String> b = f.node("b", a, x -> x).defaultValue("DB");
        FlowRun<String> run = f.returning(b).start(null);
        slow.awaitBegun();

        run.cancel("enough");
        run.cancel("twice");
        FlowResult<String> result = run.join();

        assertThat(result.status()).isEqualTo(FlowStatus.CANCELLED);
        assertThat(result.node(quick).state()).isEqualTo(NodeState.SUCCESS);
        assertThat(result.node(a).state()).isEqualTo(NodeState.CANCELLED);
        assertThat(result.node(a).cause())
                .isInstanceOf(CancelledException.class)
                .hasMessage("flow \"deadlines\" was cancelled: enough");
        assertThat(result.value()).isEqualTo("DB");
        run.close();
        assertThat(slow.interrupts()).isEqualTo(1);
    }

    @Test
    void a_cancel_after_the_end_has_no_effect() throws Exception {
        Node<String> a = f.node("a", () -> "A");
        FlowRun<String> run = f.returning(a).start(null);
        FlowResult<String> before = run.join();
        run.cancel("too late");
        run.close();
        run.close();
        assertThat(run.join()).isSameAs(before);
        assertThat(before.status()).isEqualTo(FlowStatus.SUCCESS);
    }

    @Test
    void under_fail_fast_the_first_failure_cancels_the_rest() throws Exception {
        BlockingTask slow = new BlockingTask();
        Node<String> a = f.node("a", slow::call);
        Node<String> bad = f.node("bad", () -> {
            slow.awaitBegun();
            throw new IllegalStateException("bad is broken");
        });
        Node<String> must = f.node("must", bad, x -> x);
        Node<String> later = f.node("later", a, optional(bad), (x, y) -> x).defaultValue("D");
        FlowRun<String> run =
                f.returning(later).start(null, RunOptions.defaults().onFailure(OnFailure.FAIL_FAST));

        FlowResult<String> result = run.join();

        assertThat(result.status()).isEqualTo(FlowStatus.FAILED);
        assertThat(result.node(a).state()).isEqualTo(NodeState.CANCELLED);
        assertThat(result.node(a).cause()).hasRootCauseMessage("bad is broken").hasMessageContaining("\"bad\" failed");
        assertThat(result.node(must).state()).isEqualTo(NodeState.FAILED);
        assertThat(result.value()).isEqualTo("D");
        run.close();
        assertThat(slow.interrupts()).isEqualTo(1);
    }

    @Test
    void the_status_is_the_first_that_applies() throws Exception {
        FlowBuilder<Integer> g = FlowPlan.define("status", Integer.class);
        Node<Integer> inner = g.node("inner", c -> 1 / (c.param() & 1)).defaultValue(0);
        Node<Integer> sink = g.node("sink", after(inner), (c, o) -> 1 / (c.param() & 2));
        FlowPlan<Integer, Integer> plan = g.returning(sink);

        assertThat(plan.run(3).status()).isEqualTo(FlowStatus.SUCCESS);
        assertThat(plan.run(2).status()).isEqualTo(FlowStatus.DEGRADED);
        assertThat(plan.run(1).status()).isEqualTo(FlowStatus.FAILED);
        assertThat(plan.run(0).status()).isEqualTo(FlowStatus.FAILED);
        assertThat(plan.run(2, RunOptions.defaults().onFailure(OnFailure.FAIL_FAST))
                        .status())
                .isEqualTo(FlowStatus.FAILED);
        assertThat(plan.run(3, RunOptions.timeout(Duration.ZERO)).status()).isEqualTo(FlowStatus.TIMED_OUT);
    }

    @Test
    void a_sink_that_timed_out_fails_the_run_and_one_that_was_skipped_does_not() throws Exception {
        f.node("late", new BlockingTask()::call).timeout(Duration.ofMillis(1));
        assertThat(f.build().run(null).status()).isEqualTo(FlowStatus.FAILED);
        FlowBuilder<Void> g = FlowPlan.define("skipped");
        g.node("off", () -> 1).when(c -> false);
        assertThat(g.build().run(null).status()).isEqualTo(FlowStatus.SUCCESS);
    }

    // deadlines of enclosing scopes
    @Test
    void a_run_is_limited_by_the_deadline_of_its_enclosing_scope() throws Exception {
        BlockingTask slow = new BlockingTask();
        f.node("a", slow::call);
        AtomicReference<Deadline> seen = new AtomicReference<>();
        try (ThreadScope scope = ThreadScope.open("around").withTimeSource(time).withDeadline(SECOND)) {
            FlowRun<Void> run = f.build().start(null, RunOptions.timeout(Duration.ofDays(1)));
            seen.set(run.deadline());
            slow.awaitBegun();
            time.advance(SECOND);
            FlowResult<Void> result = run.join();
            assertThat(result.status()).isEqualTo(FlowStatus.TIMED_OUT);
            assertThat(result.node("a").state()).isEqualTo(NodeState.TIMED_OUT);
            assertThat(scope.name()).isEqualTo("around");
        }
        assertThat(seen.get().nanoTime()).isEqualTo(SECOND.toNanos());
    }

    @Test
    void a_scope_opened_in_a_node_is_limited_by_the_deadlines_of_the_node_and_the_run() throws Exception {
        Callable<Optional<Duration>> left = () -> {
            try (ThreadScope scope = ThreadScope.open().withTimeSource(time)) {
                return scope.remaining();
            }
        };
        Node<Optional<Duration>> own = f.node("own", left).timeout(Duration.ofMillis(300));
        Node<Optional<Duration>> longer = f.node("longer", left).timeout(SECOND.multipliedBy(5));
        Node<Optional<Duration>> plain = f.node("plain", left);
        var values = f.returning(java.util.List.of(own, longer, plain))
                .run(null, timed)
                .value();
        assertThat(values)
                .containsEntry("own", Optional.of(Duration.ofMillis(300)))
                .containsEntry("longer", Optional.of(SECOND))
                .containsEntry("plain", Optional.of(SECOND));
    }

    @Test
    void a_context_returns_the_remaining_time() throws Exception {
        Node<Duration> own = f.node("own", NodeContext::remaining).timeout(Duration.ofMillis(300));
        Node<Duration> plain = f.node("plain", NodeContext::remaining);
        FlowPlan<Void, java.util.Map<String, Object>> plan = f.returning(java.util.List.of(own, plain));
        assertThat(plan.run(null, timed).value())
                .containsEntry("own", Duration.ofMillis(300))
                .containsEntry("plain", SECOND);
        assertThat(plan.run(null, untimed).value())
                .containsEntry("own", Duration.ofMillis(300))
                .containsEntry("plain", Duration.ofNanos(Long.MAX_VALUE));
    }

    // closing
    @Test
    void close_cancels_and_waits_for_actions_that_ignore_their_interrupt() throws Exception {
        BlockingTask slow = BlockingTask.uninterruptible();
        f.node("a", slow::call);
        FlowRun<Void> run = f.build().start(null);
        slow.awaitBegun();
        AtomicBoolean returned = new AtomicBoolean();
        FutureTask<Boolean> closing = new FutureTask<>(() -> {
            run.close();
            returned.set(slow.returns() == 1);
            return Thread.currentThread().isInterrupted();
        });
        Thread closer = Thread.ofVirtual().start(closing);
        slow.awaitInterrupt();
        assertThat(run.join().status()).isEqualTo(FlowStatus.CANCELLED);
        Wait.until(() -> closer.getState() == Thread.State.WAITING);
        closer.interrupt(); // does not end the wait, and is preserved
        assertThat(closing.isDone()).isFalse();
        slow.release();
        assertThat(closing.get()).isTrue();
        assertThat(returned).isTrue();
    }

    @ParameterizedTest
    @org.junit.jupiter.params.provider.ValueSource(booleans = {false, true})
    void an_action_that_closes_its_own_run_receives_an_exception(boolean withTimeout) throws Exception {
        AtomicReference<FlowRun<?>> itself = new AtomicReference<>();
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        CountDownLatch set = new CountDownLatch(1);
        CountDownLatch over = new CountDownLatch(1);
        Node<String> a = f.node("a", () -> {
            set.await();
            try {
                itself.get().close();
            } catch (IllegalStateException expected) {
                thrown.set(expected);
            }
            over.countDown();
            return "A";
        });
        if (withTimeout) {
            a.timeout(Duration.ofDays(1));
        }
        FlowRun<String> run = f.returning(a).start(null);
        itself.set(run);
        set.countDown();
        over.await();
        assertThat(thrown.get()).hasMessageContaining("closes its own run");
        assertThat(run.get()).isEqualTo("A");
    }

    @Test
    void a_scope_in_an_action_does_not_hide_that_the_action_closes_its_own_run() throws Exception {
        AtomicReference<FlowRun<?>> itself = new AtomicReference<>();
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        CountDownLatch set = new CountDownLatch(1);
        CountDownLatch over = new CountDownLatch(1);
        f.node("a", () -> {
            set.await();
            try (ThreadScope scope = ThreadScope.open()) {
                itself.get().close();
                scope.cancel("never");
            } catch (IllegalStateException expected) {
                thrown.set(expected);
            }
            over.countDown();
            return "A";
        });
        FlowRun<Void> run = f.build().start(null);
        itself.set(run);
        set.countDown();
        over.await();
        assertThat(thrown.get()).hasMessageContaining("closes its own run");
    }

    // a pause between attempts that must not be interrupted must not outlive the run
    @Test
    void close_does_not_wait_for_a_pause_between_attempts() throws Exception {
        AtomicInteger ran = new AtomicInteger();
        CountDownLatch failed = new CountDownLatch(1);
        CountDownLatch closed = new CountDownLatch(1);
        f.node("a", () -> {
                    ran.incrementAndGet();
                    failed.countDown();
                    throw new IllegalStateException("again");
                })
                .retry(RetryPolicy.fixedDelay(2, Duration.ofHours(1)))
                .noInterrupt();
        FlowRun<Void> run = f.build().start(null, untimed);
        failed.await();
        time.awaitAlarms(1);
        Thread.startVirtualThread(() -> {
            run.close();
            closed.countDown();
        });
        closed.await();
        assertThat(ran).hasValue(1);
    }

    // interrupts of the caller
    @Test
    void an_interrupted_join_does_not_affect_the_run() throws Exception {
        BlockingTask slow = new BlockingTask();
        Node<String> a = f.node("a", slow::call);
        FlowRun<String> run = f.returning(a).start(null);
        slow.awaitBegun();
        Thread.currentThread().interrupt();
        assertThatThrownBy(run::join).isInstanceOf(InterruptedException.class);
        assertThat(run.isDone()).isFalse();
        slow.release();
        assertThat(run.get()).isEqualTo("value");
        assertThat(slow.interrupts()).isZero();
    }

    @Test
    void a_run_whose_caller_is_interrupted_is_cancelled() throws Exception {
        BlockingTask slow = new BlockingTask();
        f.node("a", slow::call);
        FlowPlan<Void, Void> plan = f.build();
        FutureTask<Object> running = new FutureTask<>(() -> {
            try {
                return plan.run(null);
            } catch (InterruptedException expected) {
                return expected;
            }
        });
        Thread caller = Thread.ofVirtual().start(running);
        slow.awaitBegun();
        caller.interrupt();
        assertThat(running.get()).isInstanceOf(InterruptedException.class);
        slow.awaitInterrupt();
    }

    @Test
    void a_caller_that_runs_the_nodes_itself_can_be_interrupted_like_one_that_waits() throws Exception {
        BlockingTask slow = new BlockingTask();
        AtomicInteger ran = new AtomicInteger();
        Node<String> a = f.node("a", slow::call);
        Node<Integer> b = f.node("b", after(a), x -> ran.incrementAndGet());
        FlowRun<Integer> run = f.returning(b).start(null, RunOptions.defaults().inCallersThread());
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
        run.close();
    }

    @Test
    void a_run_in_its_callers_thread_that_is_not_joined_is_closed_without_running() {
        AtomicInteger ran = new AtomicInteger();
        f.node("a", ran::incrementAndGet);
        FlowRun<Void> run = f.build().start(null, RunOptions.defaults().inCallersThread());
        run.close();
        assertThat(run.isDone()).isTrue();
        assertThat(run.state("a")).isEqualTo(NodeState.CANCELLED);
        assertThat(ran).hasValue(0);
    }

    @Test
    void in_the_callers_thread_a_deadline_interrupts_the_action_and_the_interrupt_is_cleared() throws Exception {
        BlockingTask slow = new BlockingTask();
        Node<String> a = f.node("a", slow::call);
        FlowRun<String> run = f.returning(a).start(null, timed.inCallersThread());
        Thread.startVirtualThread(() -> {
            try {
                slow.awaitBegun();
            } catch (InterruptedException impossible) {
                throw new AssertionError(impossible);
            }
            time.advance(SECOND);
        });
        assertThat(run.join().node(a).state()).isEqualTo(NodeState.TIMED_OUT);
        assertThat(Thread.interrupted()).isFalse();
        assertThat(slow.interrupts()).isEqualTo(1);
    }

    // retries
    @Test
    void an_action_is_entered_once_more_for_each_retry_and_never_after_the_deadline() throws Exception {
        AtomicInteger ran = new AtomicInteger();
        AtomicInteger begun = new AtomicInteger();
        Node<Integer> a = f.node("a", () -> {
                    if (ran.incrementAndGet() < 3) {
                        throw new IllegalStateException("again");
                    }
                    return ran.get();
                })
                .retry(RetryPolicy.attempts(5))
                .onBegin(c -> begun.incrementAndGet());
        assertThat(f.returning(a).run(null).value()).isEqualTo(3);
        assertThat(begun).hasValue(1);

        FlowBuilder<Void> g = FlowPlan.define("rests");
        AtomicInteger tries = new AtomicInteger();
        g.node("b", () -> {
                    tries.incrementAndGet();
                    throw new IllegalStateException("again");
                })
                .retry(RetryPolicy.fixedDelay(10, Duration.ofMillis(400)));
        FlowRun<Void> run = g.build().start(null, timed);
        time.awaitAlarms(2);
        time.advance(Duration.ofMillis(400));
        time.awaitAlarms(2);
        time.advance(Duration.ofMillis(400)); // the pause before the third would exceed the deadline
        FlowResult<Void> result = run.join();
        assertThat(tries).hasValue(3);
        assertThat(result.node("b").state()).isEqualTo(NodeState.TIMED_OUT);
        assertThat(result.status()).isEqualTo(FlowStatus.FAILED); // its deadline has not passed
    }

    // a fallback is for exceptions of the action
    @ParameterizedTest
    @org.junit.jupiter.params.provider.ValueSource(booleans = {true, false})
    void a_retry_that_would_begin_too_late_is_a_timeout_and_not_a_failure(boolean ofTheRun) throws Exception {
        Duration length = Duration.ofMillis(100);
        AtomicInteger asked = new AtomicInteger();
        Node<String> a = f.<String>node("a", () -> {
                    throw new IllegalStateException("again");
                })
                .retry(RetryPolicy.fixedDelay(3, length))
                .fallback(failure -> "fallback " + asked.incrementAndGet())
                .timeout(ofTheRun ? Duration.ofSeconds(5) : length)
                .defaultValue("D");
        f.node("b", after(a), o -> "b");
        RunOptions options = RunOptions.defaults().withTimeSource(time);
        FlowResult<Void> result = f.build().run(null, ofTheRun ? options.withTimeout(length) : options);
        assertThat(result.node(a).state()).isEqualTo(NodeState.TIMED_OUT);
        assertThat(result.node(a).via()).isEqualTo(ValueSource.DEFAULT);
        assertThat(asked).hasValue(0);
        assertThat(result.node(a).cause())
                .isInstanceOf(TaskTimeoutException.class)
                .hasMessageContaining("\"a\" gave up after attempt 1 of 3")
                .hasRootCauseMessage("again");
        assertThat(result.explain("a")).startsWith("TIMED_OUT: ").contains("gave up after attempt 1 of 3");
        assertThat(result.status()).isEqualTo(FlowStatus.DEGRADED);
    }

    @Test
    void a_timeout_exception_thrown_by_an_action_is_a_failure_and_has_a_fallback() throws Exception {
        Node<String> a = f.<String>node("a", () -> {
                    throw new TaskTimeoutException("call to the bank", "bank", Duration.ofMillis(5), 1, null);
                })
                .retry(RetryPolicy.fixedDelay(2, Duration.ZERO))
                .timeout(Duration.ofSeconds(5))
                .fallback(Throwable::getMessage);
        assertThat(f.returning(a)
                        .run(null, RunOptions.defaults().withTimeSource(time))
                        .value())
                .isEqualTo("call to the bank");
    }

    // a default supplier is user code
    @Test
    void a_slow_default_supplier_does_not_delay_other_ends_and_no_node_begins_meanwhile() throws Exception {
        BlockingTask asked = new BlockingTask();
        BlockingTask running = new BlockingTask();
        AtomicInteger ran = new AtomicInteger();
        StepScheduler steps = new StepScheduler();
        f.node("slow", ran::incrementAndGet).compute().defaultFrom(() -> {
            try {
                return asked.call().length();
            } catch (InterruptedException impossible) {
                throw new AssertionError(impossible);
            }
        });
        f.node("running", running::call);
        Node<Integer> later = f.node("later", ran::incrementAndGet).compute().defaultFrom(() -> 7);
        RunOptions options = timed.withTimeSource(new RealAlarms(time)).withComputeScheduler(steps);
        FlowRun<Integer> run = f.returning(later).start(null, options);
        running.awaitBegun();
        time.advance(SECOND);
        asked.awaitBegun();
        assertThat(run.state("running")).isEqualTo(NodeState.TIMED_OUT);
        running.awaitInterrupt();
        steps.runAll();
        assertThat(ran).hasValue(0);
        asked.release();
        assertThat(run.get()).isEqualTo(7);
        assertThat(run.join().node("slow").value()).isEqualTo("value".length());
        assertThat(run.join().node(later).state()).isEqualTo(NodeState.TIMED_OUT);
    }

    /** A time source with hooks before an alarm is set and before the time is read. */
    private final class Hooked implements TimeSource {
        private volatile Runnable beforeAlarm = () -> {};
        private volatile Runnable beforeNow = () -> {};

        @Override
        public long nanoTime() {
            beforeNow.run();
            return time.nanoTime();
        }

        @Override
        public Alarm after(Duration delay, Runnable action) {
            beforeAlarm.run();
            return time.after(delay, action);
        }
    }

    @Test
    void a_node_that_is_ended_while_its_timeout_is_set_leaves_no_alarm_behind() throws Exception {
        Hooked hooked = new Hooked();
        StepScheduler steps = new StepScheduler();
        Node<String> root = f.node("root", () -> "R");
        f.node("a", root, x -> x).timeout(SECOND);
        FlowRun<Void> run = f.build()
                .start(null, RunOptions.defaults().withTimeSource(hooked).withScheduler(steps));
        hooked.beforeAlarm = () -> run.cancel("just now");
        steps.runAll();
        assertThat(run.join().node("a").state()).isEqualTo(NodeState.CANCELLED);
        assertThat(time.alarms()).isZero();
    }

    @Test
    void a_run_that_has_ended_leaves_no_alarm_behind() throws Exception {
        Node<String> a = f.node("a", () -> "A").timeout(SECOND);
        Node<String> b = f.node("b", a, x -> x).timeout(SECOND);
        assertThat(f.returning(b).run(null, timed).value()).isEqualTo("A");
        assertThat(time.alarms()).isZero();
    }

    @Test
    void a_report_does_not_change_when_a_late_thread_reads_the_clock() throws Exception {
        Hooked hooked = new Hooked();
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch proceed = new CountDownLatch(1);
        Thread starter = Thread.currentThread();
        f.node("a", () -> "A");
        FlowPlan<Void, Void> plan = f.build();
        AtomicBoolean isOn = new AtomicBoolean(true);
        hooked.beforeNow = () -> {
            if (Thread.currentThread() != starter && isOn.getAndSet(false)) {
                asked.countDown();
                Wait.uninterruptibly(proceed);
            }
        };
        FlowRun<Void> run = plan.start(null, RunOptions.defaults().withTimeSource(hooked));
        asked.await();
        run.cancel("enough");
        NodeReport<?> early = run.join().node("a");
        time.advance(SECOND);
        proceed.countDown();
        run.close();
        assertThat(run.join().node("a")).isEqualTo(early);
        assertThat(early.state()).isEqualTo(NodeState.CANCELLED);
    }

    @Test
    void a_report_does_not_change_when_a_condition_returns_after_the_end_of_its_node() throws Exception {
        BlockingTask asked = BlockingTask.uninterruptible();
        f.node("a", () -> "A").when(c -> {
            try {
                return asked.call() != null;
            } catch (InterruptedException impossible) {
                throw new AssertionError(impossible);
            }
        });
        FlowRun<Void> run = f.build().start(null, untimed);
        asked.awaitBegun();
        run.cancel("enough");
        NodeReport<?> early = run.join().node("a");
        asked.release();
        run.close();
        assertThat(run.join().node("a")).isEqualTo(early);
        assertThat(early.startNanos()).as("it was not entered").isNegative();
    }

    @ParameterizedTest
    @org.junit.jupiter.params.provider.ValueSource(booleans = {true, false})
    void a_node_that_is_ended_while_it_runs_has_the_begin_time_of_its_entry(boolean interrupted) throws Exception {
        BlockingTask slow = new BlockingTask();
        Node<String> a = f.node("a", slow::call);
        if (!interrupted) {
            a.noInterrupt();
        }
        time.advance(SECOND);
        FlowRun<String> run = f.returning(a).start(null, untimed);
        slow.awaitBegun();
        time.advance(SECOND);
        run.cancel("enough");
        NodeReport<String> early = run.join().node(a);
        assertThat(early.startNanos()).isZero();
        assertThat(early.endNanos()).isEqualTo(SECOND.toNanos());
        slow.release();
        run.close();
        assertThat(run.join().node(a)).isEqualTo(early);
    }

    @ParameterizedTest
    @org.junit.jupiter.params.provider.ValueSource(booleans = {true, false})
    void a_node_begins_after_the_callbacks_of_its_upstreams_and_after_its_condition(boolean conditional)
            throws Exception {
        Node<Integer> a = f.node("a", () -> 1);
        Node<Integer> b = f.node("b", a, x -> x);
        if (conditional) {
            b.when(c -> {
                time.advance(SECOND);
                return true;
            });
        } else {
            a.onResult(report -> time.advance(SECOND));
        }
        FlowResult<Void> result = f.build().run(null, untimed);
        assertThat(result.node(a).endNanos()).isZero();
        assertThat(result.node(b).startNanos()).isEqualTo(SECOND.toNanos());
        assertThat(result.node(b).endNanos()).isEqualTo(SECOND.toNanos());
    }

    // exceptions inside the engine
    @ParameterizedTest
    @org.junit.jupiter.params.provider.ValueSource(booleans = {true, false})
    void a_timeout_that_cannot_be_set_fails_its_node_and_the_run_continues(boolean chooses) throws Exception {
        Hooked broken = new Hooked();
        Node<String> root = f.node("root", () -> {
            broken.beforeAlarm = () -> {
                throw new IllegalStateException("no alarm today");
            };
            return "R";
        });
        Node<String> a = (chooses ? f.node("a", anyOf(root), x -> x) : f.node("a", root, x -> x))
                .timeout(SECOND)
                .defaultValue("D");
        Node<String> b = f.node("b", after(a), o -> "B");
        FlowResult<String> result =
                f.returning(b).run(null, RunOptions.defaults().withTimeSource(broken));
        assertThat(result.value()).isEqualTo("B");
        assertThat(result.node(a).state()).isEqualTo(NodeState.FAILED);
        assertThat(result.node(a).value()).isEqualTo("D");
        assertThat(result.explain("a"))
                .isEqualTo(
                        "FAILED: its timeout could not be set:" + " java.lang.IllegalStateException: no alarm today");
    }

    @ParameterizedTest
    @org.junit.jupiter.params.provider.ValueSource(booleans = {true, false})
    void a_run_ends_if_the_timeouts_of_all_its_roots_cannot_be_set(boolean inCallersThread) throws Exception {
        Hooked broken = new Hooked();
        broken.beforeAlarm = () -> {
            throw new IllegalStateException("no alarm today");
        };
        AtomicInteger results = new AtomicInteger();
        f.node("a", () -> 1).timeout(SECOND).onResult(report -> results.incrementAndGet());
        RunOptions options = RunOptions.defaults().withTimeSource(broken);
        FlowResult<Void> result = f.build().run(null, inCallersThread ? options.inCallersThread() : options);
        assertThat(result.status()).isEqualTo(FlowStatus.FAILED);
        assertThat(results).hasValue(1);
    }

    @Test
    void a_deadline_that_cannot_be_set_fails_the_start_and_the_lease_of_the_scheduler_is_closed() {
        Hooked broken = new Hooked();
        broken.beforeAlarm = () -> {
            throw new IllegalStateException("no alarm today");
        };
        LeasedThreads leased = new LeasedThreads();
        AtomicInteger ran = new AtomicInteger();
        f.node("a", ran::incrementAndGet);
        FlowPlan<Void, Void> plan = f.build();
        assertThatThrownBy(() -> plan.start(
                        null, RunOptions.timeout(SECOND).withTimeSource(broken).withScheduler(leased)))
                .hasMessage("no alarm today");
        assertThat(leased.open()).isZero();
        assertThat(ran).hasValue(0);
    }

    @Test
    void an_alarm_that_cannot_be_cancelled_is_reported_and_the_run_ends() throws Exception {
        List<String> reported = new CopyOnWriteArrayList<>();
        TimeSource broken = new TimeSource() {
            @Override
            public long nanoTime() {
                return time.nanoTime();
            }

            @Override
            public Alarm after(Duration delay, Runnable action) {
                return () -> {
                    throw new IllegalStateException("it cannot be stopped");
                };
            }
        };
        Node<String> a = f.node("a", () -> "A").timeout(SECOND);
        Node<String> b = f.node("b", a, x -> x);
        FlowResult<String> result = f.returning(b)
                .run(
                        null,
                        RunOptions.timeout(SECOND)
                                .withTimeSource(broken)
                                .withExceptionSink(ExceptionSink.to((source, failure) -> reported.add(source))));
        assertThat(result.value()).isEqualTo("A");
        assertThat(reported)
                .containsExactly(
                        "alarm for the timeout of node \"a\" in flow \"deadlines\"",
                        "alarm for the deadline in flow \"deadlines\"");
    }
}
