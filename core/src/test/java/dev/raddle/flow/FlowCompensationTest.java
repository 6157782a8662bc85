package dev.raddle.flow;

import static dev.raddle.flow.Dependency.after;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.raddle.scope.ThreadScope;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Scheduler;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The compensations of a failed run. */
@Timeout(60)
class FlowCompensationTest {

    private final FlowBuilder<Void> f = FlowPlan.define("undo");
    private final List<String> undone = new CopyOnWriteArrayList<>();

    private Node<String> step(String id, Dependency<?>... needs) {
        return f.node(id, () -> id.toUpperCase(java.util.Locale.ROOT))
                .needs(needs)
                .compensate(value -> undone.add(id + " " + value));
    }

    private Node<String> failing(String id, Dependency<?>... needs) {
        return f.<String>node(id, () -> {
                    throw new IllegalStateException(id + " is broken");
                })
                .needs(needs);
    }

    @Test
    void a_compensation_reads_the_parameter_and_the_values_of_upstream_nodes_also_after_a_restart() throws Exception {
        FlowBuilder<String> shop = FlowPlan.define("shop", String.class);
        Node<Integer> price = shop.node("price", () -> 7);
        Node<String> pay = shop.node("pay", price, euros -> "payment")
                .compensateWith((c, payment) -> undone.add(c.param() + " " + c.read(price) + " " + payment));
        shop.node("ship", pay, paid -> {
            throw new IllegalStateException("no van");
        });
        FlowPlan<String, Void> plan = shop.build();
        MemoryJournal journal = FlowJournal.inMemory();
        RunOptions options = RunOptions.defaults();
        plan.run("Ada", options.withJournal(new CuttingJournal(journal, 3, true), "one")); // until ship has failed
        assertThat(undone).isEmpty();

        assertThat(plan.run("Ada", options.withJournal(journal, "one")).status())
                .isEqualTo(FlowStatus.FAILED);
        assertThat(undone).containsExactly("Ada 7 payment");
        assertThat(plan.run("Bob").status()).isEqualTo(FlowStatus.FAILED);
        assertThat(undone).endsWith("Bob 7 payment");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_failed_run_undoes_completed_nodes_in_the_reverse_order_of_completion(boolean here) throws Exception {
        Node<String> a = step("a");
        Node<String> b = step("b", a);
        Node<String> c = step("c", b);
        failing("d", c).compensate(value -> undone.add("d, which has not completed"));
        RunOptions options = RunOptions.defaults();
        FlowResult<Void> result = f.build().run(null, here ? options.inCallersThread() : options);
        assertThat(result.status()).isEqualTo(FlowStatus.FAILED);
        assertThat(undone).containsExactly("c C", "b B", "a A");
        assertThat(result.node(a).state()).isEqualTo(NodeState.SUCCESS);
        assertThat(result.compensationFailures()).isEmpty();
    }

    @Test
    void independent_nodes_are_undone_in_the_reverse_order_of_completion_and_not_of_declaration() throws Exception {
        CountDownLatch second = new CountDownLatch(1);
        CountDownLatch third = new CountDownLatch(1);
        Node<String> first = stepAfter("first", third);
        Node<String> last = stepAfter("last", new CountDownLatch(0)).onResult(report -> second.countDown());
        Node<String> middle = stepAfter("middle", second).onResult(report -> third.countDown());
        failing("bad", first, middle, last);
        assertThat(f.build().run(null).status()).isEqualTo(FlowStatus.FAILED);
        assertThat(undone).containsExactly("first done", "middle done", "last done");
    }

    private Node<String> stepAfter(String id, CountDownLatch event) {
        return f.node(id, () -> {
                    event.await();
                    return "done";
                })
                .compensate(value -> undone.add(id + " " + value));
    }

    @Test
    void a_run_that_succeeded_or_was_only_degraded_undoes_nothing() throws Exception {
        Node<String> a = step("a");
        f.node("end", after(failing("bad", a)), o -> "fine");
        assertThat(f.build().run(null).status()).isEqualTo(FlowStatus.DEGRADED);
        assertThat(undone).isEmpty();
    }

    @Test
    void runs_that_were_cancelled_or_ran_out_of_time_or_failed_fast_are_undone() throws Exception {
        BlockingTask slow = new BlockingTask();
        Node<String> a = step("a");
        Node<String> b = f.node("b", a, x -> slow.call()).compensate(value -> undone.add("b, which was cut off"));
        FlowPlan<Void, String> plan = f.returning(b);
        FlowRun<String> cancelled = plan.start(null);
        slow.awaitBegun();
        cancelled.cancel("enough");
        assertThat(cancelled.join().status()).isEqualTo(FlowStatus.CANCELLED);
        assertThat(undone).containsExactly("a A");
        cancelled.close();

        VirtualTime time = new VirtualTime();
        FlowRun<String> late =
                plan.start(null, RunOptions.timeout(Duration.ofSeconds(1)).withTimeSource(time));
        Wait.until(() -> late.state("b") == NodeState.RUNNING);
        time.advance(Duration.ofSeconds(1));
        assertThat(late.join().status()).isEqualTo(FlowStatus.TIMED_OUT);
        assertThat(undone).containsExactly("a A", "a A");
        late.close();
    }

    @Test
    void all_nodes_are_undone_before_the_run_is_reported_as_ended() throws Exception {
        BlockingTask undoing = new BlockingTask();
        Node<String> a = f.node("a", () -> "A").compensate(value -> undoing.call());
        failing("bad", a);
        FlowRun<Void> run = f.build().start(null);
        undoing.awaitBegun();
        assertThat(run.isDone()).isFalse();
        undoing.release();
        assertThat(run.join().status()).isEqualTo(FlowStatus.FAILED);
    }

    @Test
    void failures_of_compensations_are_collected_and_the_other_compensations_are_called() throws Exception {
        Node<String> a = step("a");
        Node<String> b = f.node("b", a, x -> x).compensate(value -> {
            throw new IllegalStateException("b cannot be undone");
        });
        Node<String> c = f.node("c", b, x -> x).compensate(value -> {
            throw new AssertionError("c cannot be undone");
        });
        failing("bad", c);
        FlowResult<Void> result = f.build().run(null);
        assertThat(result.compensationFailures())
                .extracting(
                        CompensationFailure::node, failure -> failure.cause().getMessage())
                .containsExactly(tuple("c", "c cannot be undone"), tuple("b", "b cannot be undone"));
        assertThat(undone).containsExactly("a A");
    }

    @Test
    void a_compensation_sees_neither_the_interrupt_of_another_one_nor_the_thread_locals_of_the_canceller()
            throws Exception {
        InheritableThreadLocal<String> cancellers = new InheritableThreadLocal<>();
        Node<String> a = f.node("a", () -> "A")
                .compensate(value -> undone.add(Thread.currentThread().isInterrupted() + " " + cancellers.get()));
        Node<String> b = f.node("b", a, x -> x)
                .compensate(value -> Thread.currentThread().interrupt());
        BlockingTask last = new BlockingTask();
        f.node("c", b, x -> last.call());
        FlowRun<Void> run = f.build().start(null);
        last.awaitBegun();
        cancellers.set("of the canceller");
        run.cancel("enough");

        run.join();

        assertThat(undone).containsExactly("false null");
    }

    @Test
    void a_node_that_recovered_or_returned_null_is_undone_with_that_value() throws Exception {
        Node<String> a = failing("a").fallbackValue("F").compensate(value -> undone.add("a " + value));
        Node<String> b = f.node("b", a, x -> (String) null).compensate(value -> undone.add("b " + value));
        failing("bad", b);
        f.build().run(null);
        assertThat(undone).containsExactly("b null", "a F");
    }

    @Test
    void each_completed_node_is_undone_once_in_any_race_with_a_cancel() throws Exception {
        FlowBuilder<AtomicInteger[]> g = FlowPlan.define("race", AtomicInteger[].class);
        Node<String> last = null;
        for (int i = 0; i < 4; i++) {
            int me = i;
            // the value identifies the run to count for
            Node<AtomicInteger> node =
                    last == null ? g.node("n" + i, c -> c.param()[me]) : g.node("n" + i, last, (c, x) -> c.param()[me]);
            node.compensate(AtomicInteger::incrementAndGet);
            last = g.node("m" + i, node, x -> "m");
        }
        FlowPlan<AtomicInteger[], Void> plan = g.build();
        for (int i = 0; i < 1_000; i++) {
            AtomicInteger[] counts = new AtomicInteger[4];
            java.util.Arrays.setAll(counts, index -> new AtomicInteger());
            FlowRun<Void> run = plan.start(counts);
            for (int spin = 0; spin < i % 100 * 10; spin++) {
                Thread.onSpinWait();
            }
            run.cancel("enough");
            FlowResult<Void> result = run.join();
            for (int node = 0; node < 4; node++) {
                boolean undo = result.status() == FlowStatus.CANCELLED
                        && result.node("n" + node).state() == NodeState.SUCCESS;
                assertThat(counts[node]).hasValue(undo ? 1 : 0);
            }
            run.close();
        }
    }

    @Test
    void compensations_need_no_further_thread_of_the_scheduler() throws Exception {
        AtomicInteger handed = new AtomicInteger();
        List<String> swallowed = new CopyOnWriteArrayList<>();
        Scheduler once = task -> {
            if (handed.incrementAndGet() > 1) {
                throw new RejectedExecutionException("no thread left");
            }
            Thread.startVirtualThread(task);
        };
        failing("bad", step("a"));
        FlowResult<Void> result = f.build()
                .run(
                        null,
                        RunOptions.defaults()
                                .withScheduler(once)
                                .withExceptionSink(
                                        ExceptionSink.to((source, error) -> swallowed.add(error.getMessage()))));
        assertThat(result.status()).isEqualTo(FlowStatus.FAILED);
        assertThat(undone).containsExactly("a A");
        assertThat(swallowed).isEmpty();
    }

    // the deadline of a run does not apply to its compensations
    @Test
    void a_compensation_of_a_run_that_timed_out_may_open_a_scope() throws Exception {
        VirtualTime time = new VirtualTime();
        BlockingTask slow = new BlockingTask();
        Node<String> a = f.node("a", () -> "A").compensate(value -> {
            try (ThreadScope scope = ThreadScope.open().withTimeSource(time)) {
                boolean noTime =
                        scope.remaining().filter(left -> !left.isPositive()).isPresent();
                undone.add(noTime ? "no time for " + value : "undone " + value);
            }
        });
        Node<String> b = f.node("b", a, x -> slow.call());
        FlowRun<String> run = f.returning(b)
                .start(null, RunOptions.timeout(Duration.ofSeconds(1)).withTimeSource(time));
        slow.awaitBegun();
        time.advance(Duration.ofSeconds(1));
        FlowResult<String> result = run.join();
        assertThat(result.compensationFailures()).isEmpty();
        assertThat(undone).containsExactly("undone A");
    }

    // run() returns at the deadline even if an action ignores interrupts
    @Test
    void an_action_that_ignores_its_interrupt_on_the_only_thread_does_not_delay_compensations() throws Exception {
        VirtualTime time = new VirtualTime();
        BlockingTask slow = BlockingTask.uninterruptible();
        CountDownLatch ended = new CountDownLatch(1);
        Node<String> a = step("a");
        Node<String> b = f.node("b", a, x -> slow.call());
        try (ExecutorService pool = Executors.newSingleThreadExecutor()) {
            FlowRun<String> run = f.returning(b)
                    .start(
                            null,
                            RunOptions.timeout(Duration.ofSeconds(1))
                                    .withTimeSource(time)
                                    .withScheduler(Scheduler.from(pool)));
            slow.awaitBegun();
            time.advance(Duration.ofSeconds(1));
            Thread.startVirtualThread(() -> {
                try {
                    run.join();
                    ended.countDown();
                } catch (InterruptedException impossible) {
                    throw new AssertionError(impossible);
                }
            });
            ended.await(); // although the action goes on
            slow.release();
        }
        assertThat(undone).containsExactly("a A");
    }

    @Test
    void the_nodes_of_a_subflow_that_failed_are_undone_by_the_subflow() throws Exception {
        FlowBuilder<String> inner = FlowPlan.define("inner", String.class);
        Node<String> x = inner.node("x", NodeContext::param).compensate(value -> undone.add("x " + value));
        Node<String> y = inner.node("y", x, v -> {
            throw new IllegalStateException("y is broken");
        });
        Node<String> sub = f.subflow("sub", inner.returning(y), step("a"));
        sub.compensate(value -> undone.add("sub"));
        FlowResult<String> result = f.returning(sub).run(null);
        assertThat(result.status()).isEqualTo(FlowStatus.FAILED);
        assertThat(undone).containsExactly("x A", "a A");
    }

    @Test
    void closing_a_run_in_its_callers_thread_waits_for_its_compensations() throws Exception {
        BlockingTask undoing = BlockingTask.uninterruptible();
        AtomicBoolean isClosing = new AtomicBoolean();
        Node<String> a = f.node("a", () -> "A").compensate(value -> undoing.call());
        failing("bad", a);
        FlowRun<Void> run = f.build().start(null, RunOptions.defaults().inCallersThread());
        FutureTask<Integer> closing = new FutureTask<>(() -> {
            try {
                run.join();
            } catch (InterruptedException interrupt) {
                isClosing.set(true);
                run.close();
            }
            return undoing.returns();
        });
        Thread caller = Thread.ofPlatform().daemon().start(closing);
        undoing.awaitBegun();
        caller.interrupt();
        Wait.until(() -> isClosing.get() && caller.getState() == Thread.State.WAITING);
        assertThat(run.isDone()).isFalse();
        undoing.release();
        assertThat(closing.get()).isEqualTo(1);
        assertThat(run.isDone()).isTrue();
    }
}
