package dev.raddle.flow;

import static dev.raddle.flow.Dependency.after;
import static dev.raddle.flow.Dependency.anyOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.ExceptionSink;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Scheduler;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.LeasedThreads;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.Future;
import java.util.concurrent.Phaser;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The schedulers of nodes. No thread waits for a node, so any number of threads suffices. */
@Timeout(60)
class FlowPoolsTest {

    private static final Scheduler CALLER = Runnable::run;
    private static final Scheduler NONE = task -> {
        throw new RejectedExecutionException("no thread today");
    };

    private final FlowBuilder<Void> f = FlowPlan.define("pools");

    /** Returns a random graph with all kinds of dependencies in which every node adds its arguments. */
    private FlowPlan<Void, Integer> random(int nodes) {
        Random random = new Random(42);
        List<Node<Integer>> all = new ArrayList<>();
        for (int i = 0; i < nodes; i++) {
            if (i < 3) {
                all.add(f.node("n" + i, () -> 1));
                continue;
            }
            Node<Integer> a = all.get(random.nextInt(i));
            Node<Integer> b = all.get(random.nextInt(i));
            all.add(
                    a == b
                            ? f.node("n" + i, after(a), o -> 1)
                            : i % 5 == 0
                                    ? f.node("n" + i, anyOf(a, b), x -> x % 1000 + 1)
                                    : f.node("n" + i, a, b, (x, y) -> (x + y) % 1000));
        }
        return f.returning(all.getLast());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void a_fixed_pool_completes_every_plan(int threads) throws Exception {
        FlowPlan<Void, Integer> plan = random(500);
        try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
            for (int i = 0; i < 20; i++) {
                FlowResult<Integer> result =
                        plan.run(null, RunOptions.defaults().withScheduler(Scheduler.from(pool)));
                assertThat(result.status()).isEqualTo(FlowStatus.SUCCESS);
                assertThat(result.nodes()).allMatch(node -> node.state().isTerminal());
            }
        }
    }

    @Test
    void raddle_pools_and_the_callers_thread_complete_every_plan() throws Exception {
        FlowPlan<Void, Integer> plan = random(500);
        RunOptions options = RunOptions.defaults();
        for (RunOptions each : List.of(
                options.withScheduler(Scheduler.fixed(1)),
                options.withScheduler(Scheduler.priority(2)),
                options.withScheduler(Scheduler.commonPool()),
                options.withScheduler(CALLER),
                options.inCallersThread())) {
            assertThat(plan.run(null, each).status()).isEqualTo(FlowStatus.SUCCESS);
        }
    }

    @Test
    void a_run_uses_the_schedulers_threads_and_no_others() throws Exception {
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        Node<Integer> root = f.node("root", () -> 1);
        for (int i = 0; i < 200; i++) {
            f.node("n" + i, root, x -> threads.add(Thread.currentThread()))
                    .onResult(report -> threads.add(Thread.currentThread()));
        }
        try (ExecutorService pool = Executors.newFixedThreadPool(
                2, Thread.ofPlatform().name("iso-", 0).factory())) {
            f.build().run(null, RunOptions.defaults().withScheduler(Scheduler.from(pool)));
        }
        assertThat(threads)
                .hasSizeLessThanOrEqualTo(2)
                .allMatch(thread -> thread.getName().startsWith("iso-"));
    }

    @Test
    void in_the_callers_thread_all_nodes_run_one_after_the_other_in_the_order_of_declaration() throws Exception {
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        List<String> order = new ArrayList<>();
        Node<Integer> root = f.node("root", () -> 1);
        for (int i = 0; i < 5; i++) {
            String id = "n" + i;
            f.node(id, root, x -> {
                threads.add(Thread.currentThread());
                order.add(id);
                return x;
            });
        }
        f.build().run(null, RunOptions.defaults().inCallersThread());
        assertThat(threads).containsExactly(Thread.currentThread());
        assertThat(order).containsExactly("n0", "n1", "n2", "n3", "n4");
    }

    @Test
    void a_compute_node_runs_on_the_compute_scheduler() throws Exception {
        StepScheduler compute = new StepScheduler();
        AtomicInteger handed = new AtomicInteger();
        Node<String> a = f.node("a", () -> "A");
        Node<String> b = f.node("b", a, x -> x + "B").compute();
        Node<String> c = f.node("c", b, x -> x + "C").compute();
        Node<String> d = f.node("d", c, x -> x + "D");
        FlowRun<String> run = f.returning(d)
                .start(null, RunOptions.defaults().withScheduler(CALLER).withComputeScheduler(task -> {
                    handed.incrementAndGet();
                    compute.execute(task);
                }));
        assertThat(run.state("a")).isEqualTo(NodeState.SUCCESS);
        assertThat(run.state("b")).isEqualTo(NodeState.PENDING);
        compute.runAll();
        assertThat(run.get()).isEqualTo("ABCD");
        assertThat(handed).hasValue(1);
    }

    @Test
    void a_compute_node_runs_on_the_common_pool_by_default() throws Exception {
        AtomicReference<ForkJoinPool> where = new AtomicReference<>();
        f.node("a", () -> {
                    where.set(ForkJoinTask.getPool());
                    return 1;
                })
                .compute();
        f.build().run(null);
        assertThat(where.get()).isSameAs(ForkJoinPool.commonPool());
    }

    @Test
    void a_rejected_root_fails_and_the_run_ends() throws Exception {
        ExecutorService closed = Executors.newSingleThreadExecutor();
        closed.close();
        AtomicInteger reported = new AtomicInteger();
        Node<String> a =
                f.node("a", () -> "A").fallbackValue("F").defaultValue("D").onResult(r -> reported.incrementAndGet());
        Node<String> b = f.node("b", a, x -> x);
        Node<String> c = f.node("c", () -> "C").timeout(Duration.ofMinutes(1)).onBegin(x -> reported.incrementAndGet());
        FlowResult<String> result =
                f.returning(b).run(null, RunOptions.defaults().withScheduler(Scheduler.from(closed)));
        assertThat(result.status()).isEqualTo(FlowStatus.FAILED);
        assertThat(result.node(a).state()).isEqualTo(NodeState.FAILED);
        assertThat(result.node(a).cause()).isInstanceOf(RejectedExecutionException.class);
        assertThat(result.node(a).value()).isEqualTo("D");
        assertThat(result.node(b).cause()).isSameAs(result.node(a).cause());
        assertThat(result.node(c).state()).isEqualTo(NodeState.FAILED);
        assertThat(result.explain("a")).startsWith("FAILED: no thread was available for it: ");
        assertThat(reported).hasValue(1);
    }

    @Test
    void a_rejected_downstream_node_fails_and_the_others_continue() throws Exception {
        AtomicInteger handed = new AtomicInteger();
        Scheduler once = task -> {
            if (handed.incrementAndGet() > 1) {
                throw new RejectedExecutionException("no thread left");
            }
            Thread.startVirtualThread(task);
        };
        Node<Integer> root = f.node("root", () -> 1);
        for (int i = 0; i < 4; i++) {
            f.node("n" + i, root, x -> x);
        }
        FlowResult<Void> result = f.build().run(null, RunOptions.defaults().withScheduler(once));
        assertThat(result.nodes().stream().filter(each -> each.state() == NodeState.SUCCESS))
                .hasSize(2);
        assertThat(result.nodes().stream().filter(each -> each.state() == NodeState.FAILED))
                .hasSize(3);
    }

    @Test
    void a_scheduler_that_throws_an_error_is_treated_as_one_that_rejects() throws Exception {
        Scheduler broken = task -> {
            throw new OutOfMemoryError("unable to create native thread");
        };
        f.node("a", () -> "A");
        FlowResult<Void> result = f.build().run(null, RunOptions.defaults().withScheduler(broken));
        assertThat(result.node("a").cause()).isInstanceOf(OutOfMemoryError.class);
    }

    // loops, not recursion
    @Test
    void a_long_chain_of_afters_ends_on_a_scheduler_that_rejects_all_tasks() throws Exception {
        Node<Integer> last = f.node("0", () -> 1);
        for (int i = 1; i < 20_000; i++) {
            last = f.node("" + i, after(last), o -> 1);
        }
        FlowResult<Void> result = f.build().run(null, RunOptions.defaults().withScheduler(NONE));
        assertThat(result.nodes()).allMatch(node -> node.cause() instanceof RejectedExecutionException);
    }

    @Test
    void a_long_chain_on_an_executor_that_runs_in_the_caller_does_not_grow_the_stack() throws Exception {
        Node<Integer> last = f.node("0", () -> 1);
        for (int i = 1; i < 50_000; i++) {
            last = f.node("" + i, last, x -> x + 1);
        }
        assertThat(f.returning(last)
                        .run(null, RunOptions.defaults().withScheduler(CALLER))
                        .value())
                .isEqualTo(50_000);
    }

    @Test
    void many_diamonds_on_an_executor_that_runs_in_the_caller_do_not_grow_the_stack() throws Exception {
        Node<Integer> last = f.node("root", () -> 0);
        for (int i = 0; i < 20_000; i++) {
            Node<Integer> left = f.node("l" + i, last, x -> x);
            Node<Integer> right = f.node("r" + i, last, x -> x);
            last = f.node("j" + i, left, right, (x, y) -> Math.max(x, y) + 1);
        }
        FlowResult<Integer> result =
                f.returning(last).run(null, RunOptions.defaults().withScheduler(CALLER));
        assertThat(result.status()).isEqualTo(FlowStatus.SUCCESS);
        assertThat(result.value()).isEqualTo(20_000);
    }

    @Test
    void an_executor_that_runs_in_the_caller_preserves_the_callers_interrupt() throws Exception {
        Node<Boolean> a = f.node("a", () -> Thread.currentThread().isInterrupted());
        FlowPlan<Void, Boolean> plan = f.returning(a);
        Thread.currentThread().interrupt();
        FlowRun<Boolean> run = plan.start(null, RunOptions.defaults().withScheduler(CALLER));
        assertThat(Thread.interrupted()).as("the caller is still interrupted").isTrue();
        run.join();
    }

    // schedulers with a known number of threads
    @Test
    void a_scheduler_with_two_threads_receives_two_requests_for_a_hundred_nodes() throws Exception {
        List<Integer> callsUnderWay = new ArrayList<>();
        StepScheduler steps = new StepScheduler(2);
        for (int i = 0; i < 100; i++) {
            f.node("n" + i, () -> callsUnderWay.add(steps.size()));
        }
        FlowRun<Void> run = f.build().start(null, RunOptions.defaults().withScheduler(steps));
        assertThat(steps.size()).isEqualTo(2);

        steps.runNext(); // a new request is placed before each action
        assertThat(run.isDone()).isTrue();
        assertThat(callsUnderWay).hasSize(100).containsOnly(2);
        steps.runAll(); // there is no node left
        assertThat(run.join().status()).isEqualTo(FlowStatus.SUCCESS);
    }

    @Test
    void another_thread_is_requested_for_the_nodes_that_a_blocked_thread_leaves() throws Exception {
        int nodes = 20; // each ends when all have begun; the pool adds threads for those that block in a managed way
        Phaser begun = new Phaser(nodes);
        for (int i = 0; i < nodes; i++) {
            f.node("n" + i, () -> {
                int phase = begun.arrive();
                ForkJoinPool.managedBlock(new ForkJoinPool.ManagedBlocker() {
                    @Override
                    public boolean block() throws InterruptedException {
                        begun.awaitAdvanceInterruptibly(phase);
                        return true;
                    }

                    @Override
                    public boolean isReleasable() {
                        return begun.getPhase() != phase;
                    }
                });
                return phase;
            });
        }
        try (ForkJoinPool pool = new ForkJoinPool(2)) {
            FlowResult<Void> result = f.build().run(null, RunOptions.defaults().withScheduler(Scheduler.from(pool)));
            assertThat(result.status()).isEqualTo(FlowStatus.SUCCESS);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 5})
    void every_node_ends_on_a_scheduler_with_two_threads_that_rejects_requests(int accepted) throws Exception {
        List<Runnable> calls = new ArrayList<>();
        Scheduler refusing = new Scheduler() {
            @Override
            public void execute(Runnable task) {
                if (calls.size() == accepted) {
                    throw new RejectedExecutionException("no more threads today");
                }
                calls.add(task);
            }

            @Override
            public int parallelism() {
                return 2;
            }
        };
        for (int i = 0; i < 10; i++) {
            f.node("n" + i, () -> calls.size());
        }
        FlowRun<Void> run = f.build().start(null, RunOptions.defaults().withScheduler(refusing));
        for (int i = 0; i < calls.size(); i++) {
            calls.get(i).run();
        }
        FlowResult<Void> result = run.join();
        long failed = result.nodes().stream()
                .filter(node -> node.state() == NodeState.FAILED)
                .count();
        assertThat(failed).as("one thread is enough").isEqualTo(accepted == 0 ? 10 : 0);
    }

    @Test
    void a_thread_runs_its_ready_nodes_itself_if_another_thread_is_refused() throws Exception {
        List<Runnable> calls = new ArrayList<>();
        List<String> reports = new ArrayList<>();
        Scheduler once = new Scheduler() {
            @Override
            public void execute(Runnable task) {
                if (!calls.isEmpty()) {
                    throw new RejectedExecutionException("no more threads today");
                }
                calls.add(task);
            }

            @Override
            public int parallelism() {
                return 2;
            }
        };
        Node<Integer> root = f.node("root", () -> 1);
        for (int i = 0; i < 5; i++) {
            f.node("n" + i, root, x -> x);
        }
        FlowRun<Void> run = f.build()
                .start(
                        null,
                        RunOptions.defaults()
                                .withScheduler(once)
                                .withExceptionSink(
                                        ExceptionSink.to((source, error) -> reports.add(error.getMessage()))));
        calls.getFirst().run();
        assertThat(run.join().status()).isEqualTo(FlowStatus.SUCCESS);
        assertThat(reports).contains("no more threads today");
    }

    @Test
    void shutting_down_a_fork_join_pool_immediately_fails_the_nodes_that_have_not_begun() throws Exception {
        CountDownLatch occupied = new CountDownLatch(1);
        CountDownLatch exit = new CountDownLatch(1);
        ForkJoinPool pool = new ForkJoinPool(1);
        pool.execute(() -> {
            occupied.countDown();
            Wait.uninterruptibly(exit);
        });
        occupied.await();
        f.node("a", () -> 1);
        f.node("b", () -> 2);
        FlowRun<Void> run = f.build().start(null, RunOptions.defaults().withScheduler(Scheduler.from(pool)));
        pool.shutdownNow();
        FlowResult<Void> result = run.join();
        exit.countDown();
        assertThat(result.nodes()).allSatisfy(node -> {
            assertThat(node.state()).isEqualTo(NodeState.FAILED);
            assertThat(node.cause()).isInstanceOf(RejectedExecutionException.class);
        });
    }

    @Test
    void a_run_in_its_callers_thread_can_be_joined_by_one_thread_only() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch exit = new CountDownLatch(1);
        f.node("a", () -> {
            begun.countDown();
            exit.await();
            return 1;
        });
        FlowRun<Void> run = f.build().start(null, RunOptions.defaults().inCallersThread());
        Future<?> first = CompletableFuture.runAsync(
                () -> {
                    try {
                        run.join();
                    } catch (InterruptedException unexpected) {
                        throw new IllegalStateException(unexpected);
                    }
                },
                task -> Thread.ofVirtual().start(task));
        begun.await();
        assertThatThrownBy(run::join)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("another one joins it already");
        exit.countDown();
        first.get();
        assertThat(run.join().status()).isEqualTo(FlowStatus.SUCCESS);
    }

    @Test
    void another_request_is_placed_for_remaining_nodes_if_one_is_refused_later() throws Exception {
        List<Scheduler.Placeable> calls = new ArrayList<>();
        Scheduler late = new Scheduler() {
            @Override
            public void execute(Runnable task) {
                throw new AssertionError("a flow places its calls");
            }

            @Override
            public Placement place(Placeable task) {
                calls.add(task);
                return Placement.FINAL;
            }

            @Override
            public int parallelism() {
                return 1;
            }
        };
        for (int i = 0; i < 3; i++) {
            f.node("n" + i, () -> calls.size());
        }
        FlowRun<Void> run = f.build().start(null, RunOptions.defaults().withScheduler(late));
        assertThat(calls).hasSize(1);
        calls.getFirst().reject(new RejectedExecutionException("too late"));
        assertThat(calls).as("another one").hasSize(2);
        calls.getLast().run();
        FlowResult<Void> result = run.join();
        assertThat(result.node("n0").state()).isEqualTo(NodeState.FAILED);
        assertThat(result.node("n2").state()).isEqualTo(NodeState.SUCCESS);
    }

    // interrupts
    @Test
    void the_interrupt_of_a_nodes_timeout_never_leaks_into_the_next_node_or_task_of_its_thread() throws Exception {
        assertNoLeak((run, time) -> time.advance(Duration.ofSeconds(1)));
    }

    @Test
    void the_interrupt_of_a_cancelled_run_never_leaks_into_the_next_task_of_a_thread() throws Exception {
        assertNoLeak((run, time) -> run.cancel("enough"));
    }

    private static void assertNoLeak(BiConsumer<FlowRun<Boolean>, VirtualTime> stop) throws Exception {
        AtomicBoolean leaked = new AtomicBoolean();
        FlowBuilder<VirtualTime> g = FlowPlan.define("leaks", VirtualTime.class);
        Node<Integer> a = g.node("a", () -> 1).timeout(Duration.ofSeconds(1));
        Node<Boolean> b = g.node("b", a, x -> Thread.currentThread().isInterrupted());
        FlowPlan<VirtualTime, Boolean> plan = g.returning(b);
        try (ExecutorService pool = Executors.newSingleThreadExecutor()) {
            for (int i = 0; i < 2_000; i++) {
                VirtualTime time = new VirtualTime();
                FlowRun<Boolean> run = plan.start(
                        time, RunOptions.defaults().withTimeSource(time).withScheduler(Scheduler.from(pool)));
                for (int spin = 0; spin < i % 50 * 10; spin++) {
                    Thread.onSpinWait();
                }
                stop.accept(run, time);
                FlowResult<Boolean> result = run.join();
                if (result.node("b").state() == NodeState.SUCCESS) { // else the interrupt may be meant for it
                    assertThat(result.value()).as("interrupted, run %d", i).isFalse();
                }
                pool.execute(
                        () -> leaked.compareAndSet(false, Thread.currentThread().isInterrupted()));
            }
        }
        assertThat(leaked).isFalse();
    }

    @Test
    void an_interrupt_of_the_joining_thread_is_preserved_if_the_ended_node_is_not_interrupted() throws Exception {
        AtomicReference<FlowRun<Void>> run = new AtomicReference<>();
        f.node("a", () -> {
                    run.get().cancel("enough");
                    Thread.currentThread().interrupt(); // as if another thread interrupted the joining thread
                    return 1;
                })
                .noInterrupt();
        run.set(f.build().start(null, RunOptions.defaults().inCallersThread()));
        assertThat(run.get().join().status()).isEqualTo(FlowStatus.CANCELLED);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void an_interrupt_that_ended_one_node_does_not_reach_the_next_node_of_its_thread() throws Exception {
        VirtualTime time = new VirtualTime();
        CountDownLatch begun = new CountDownLatch(1);
        f.node("late", () -> {
                    begun.countDown();
                    while (!Thread.currentThread().isInterrupted()) {
                        Thread.onSpinWait();
                    }
                    return "still interrupted";
                })
                .timeout(Duration.ofSeconds(1));
        Node<Boolean> next = f.node("next", () -> Thread.currentThread().isInterrupted());
        try (ExecutorService pool = Executors.newSingleThreadExecutor()) {
            FlowRun<Boolean> run = f.returning(next)
                    .start(null, RunOptions.defaults().withTimeSource(time).withScheduler(Scheduler.from(pool)));
            begun.await();
            time.advance(Duration.ofSeconds(1));
            assertThat(run.get()).isFalse();
        }
    }

    /** A thread whose interrupt() blocks as long as the test requires. */
    private static final class SlowToInterrupt extends Thread {
        private final CountDownLatch called = new CountDownLatch(1);
        private final CountDownLatch exit = new CountDownLatch(1);

        SlowToInterrupt(Runnable task) {
            super(task);
        }

        @Override
        public void interrupt() {
            called.countDown();
            try {
                exit.await();
            } catch (InterruptedException impossible) {
                throw new AssertionError(impossible);
            }
            super.interrupt();
        }
    }

    @Test
    @SuppressWarnings("ThreadPriorityCheck") // the thread of the pool may need the processor of this one
    void a_thread_that_is_being_interrupted_begins_no_other_node_until_the_interrupt_is_delivered() throws Exception {
        AtomicReference<SlowToInterrupt> thread = new AtomicReference<>();
        CountDownLatch begun = new CountDownLatch(1);
        AtomicBoolean nextBegun = new AtomicBoolean();
        f.node("a", () -> {
            begun.countDown();
            thread.get().called.await();
            return "it ends by itself while it is being interrupted";
        });
        try (ExecutorService pool = Executors.newSingleThreadExecutor(task -> {
            thread.set(new SlowToInterrupt(task));
            return thread.get();
        })) {
            FlowRun<Void> run = f.build().start(null, RunOptions.defaults().withScheduler(Scheduler.from(pool)));
            begun.await();
            Thread canceller = Thread.startVirtualThread(() -> run.cancel("enough"));
            thread.get().called.await();
            Future<Boolean> next = pool.submit(() -> {
                nextBegun.set(true);
                canceller.join(); // throws if the interrupt arrives now
                return Thread.currentThread().isInterrupted();
            });
            for (int i = 0; i < 50 && !nextBegun.get(); i++) {
                Thread.yield();
            }
            boolean early = nextBegun.get();
            thread.get().exit.countDown();
            assertThat(early).isFalse();
            assertThat(next.get()).isFalse();
            assertThat(run.join().node("a").state()).isEqualTo(NodeState.CANCELLED);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void an_interrupt_left_by_an_action_does_not_reach_the_next_node(boolean here) throws Exception {
        Node<Integer> a = f.node("a", () -> {
            Thread.currentThread().interrupt();
            return 1;
        });
        Node<Boolean> b = f.node("b", a, x -> Thread.currentThread().isInterrupted());
        RunOptions options = RunOptions.defaults();
        try (ExecutorService pool = Executors.newSingleThreadExecutor()) {
            FlowResult<Boolean> result =
                    f.returning(b).run(null, here ? options : options.withScheduler(Scheduler.from(pool)));
            assertThat(result.value()).isFalse();
            assertThat(pool.submit(() -> Thread.currentThread().isInterrupted()).get())
                    .isFalse();
        }
    }

    @Test
    void an_interrupt_of_one_attempt_does_not_reach_the_callbacks_or_the_fallback() throws Exception {
        VirtualTime time = new VirtualTime();
        BlockingTask slow = BlockingTask.uninterruptible();
        AtomicReference<Boolean> seen = new AtomicReference<>();
        Node<String> a = f.node("a", slow::call).timeout(Duration.ofSeconds(1)).retry(RetryPolicy.attempts(3));
        Node<String> b = f.node("b", after(a), o -> "B")
                .onBegin(c -> seen.set(Thread.currentThread().isInterrupted()));
        FlowRun<String> run = f.returning(b).start(null, RunOptions.defaults().withTimeSource(time));
        slow.awaitBegun();
        time.advance(Duration.ofSeconds(1));
        assertThat(run.get()).isEqualTo("B");
        assertThat(seen).hasValue(false);
        slow.release();
        run.close();
        assertThat(slow.calls()).isEqualTo(1);
    }

    @Test
    void a_lease_of_the_scheduler_is_closed_when_the_run_has_ended() throws Exception {
        LeasedThreads leased = new LeasedThreads();
        f.node("a", () -> "A");
        FlowRun<Void> run = f.build().start(null, RunOptions.defaults().withScheduler(leased));
        run.join();
        assertThat(leased.taken()).isEqualTo(1);
        assertThat(leased.open()).isZero();
    }
}
