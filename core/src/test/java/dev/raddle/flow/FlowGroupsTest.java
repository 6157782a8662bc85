package dev.raddle.flow;

import static dev.raddle.flow.Dependency.after;
import static dev.raddle.flow.Dependency.anyOf;
import static dev.raddle.flow.Dependency.optional;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.RejectedTaskException;
import dev.raddle.group.RejectionPolicy;
import dev.raddle.task.Scheduler;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.RealAlarms;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Nodes that run under the limits of a group. */
@Timeout(60)
class FlowGroupsTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final FlowBuilder<Void> f = FlowPlan.define("grouped");
    private final VirtualTime time = new VirtualTime();
    private final BlockingTask holder = new BlockingTask();
    private final GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
            .defaultMaxConcurrencyPerGroup(1)
            .rejectionPolicy(RejectionPolicy.ABORT)
            .perGroupQueueThreshold(java.util.Map.of("narrow", 0))
            .build());
    private final RunOptions options =
            RunOptions.defaults().withGroups(executor::scheduler).withTimeSource(time);

    /** Takes the only permit of a group until the holder is released. */
    private void take(String group) throws InterruptedException {
        executor.submit(group, "holder", holder::call);
        holder.awaitBegun();
    }

    private void assertFree() {
        Wait.until(() -> executor.stats().totalActiveCount() + executor.stats().totalQueuedCount() == 0);
    }

    @AfterEach
    void everyPermitIsBack() {
        holder.release();
        assertFree();
        executor.close();
    }

    @Test
    void a_node_waits_for_a_permit_without_a_thread_and_runs_with_it() throws Exception {
        take("g");
        AtomicInteger handed = new AtomicInteger();
        Node<String> a = f.node("a", () -> "A").group("g");
        Node<String> b = f.node("b", a, x -> x + "B");
        FlowRun<String> run = f.returning(b).start(null, options.withScheduler(task -> {
            handed.incrementAndGet();
            Thread.startVirtualThread(task);
        }));
        assertThat(run.state("a")).isEqualTo(NodeState.WAITING);
        assertThat(executor.stats().totalQueuedCount()).isEqualTo(1);
        assertThat(handed).hasValue(0);
        holder.release();
        assertThat(run.get()).isEqualTo("AB");
    }

    @Test
    void a_group_limits_how_many_nodes_run_at_once_across_runs() throws Exception {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        for (int i = 0; i < 20; i++) {
            f.node("n" + i, () -> {
                        most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                        return inside.decrementAndGet();
                    })
                    .group("g");
        }
        FlowPlan<Void, Void> plan = f.build();
        List<FlowRun<Void>> runs = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            runs.add(plan.start(null, options));
        }
        for (FlowRun<Void> run : runs) {
            assertThat(run.join().status()).isEqualTo(FlowStatus.SUCCESS);
        }
        assertThat(most).hasValue(1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_permit_is_not_kept_for_downstream_nodes(boolean inCaller) throws Exception {
        BlockingTask next = new BlockingTask();
        Node<String> a = f.node("a", () -> "A").group("g");
        Node<String> b = f.node("b", a, x -> next.call());
        FlowRun<String> run = f.returning(b).start(null, inCaller ? options.withScheduler(Runnable::run) : options);
        next.awaitBegun();
        assertFree();
        next.release();
        assertThat(run.get()).isEqualTo("value");
    }

    @Test
    void a_chain_of_nodes_of_one_group_receives_one_permit_after_the_other() throws Exception {
        Node<Integer> last = f.node("0", () -> 0).group("g");
        for (int i = 1; i < 200; i++) {
            last = f.node("" + i, last, x -> x + 1).group("g");
        }
        assertThat(f.returning(last).run(null, options).value()).isEqualTo(199);
    }

    @Test
    void a_waiting_node_can_be_skipped_and_leaves_the_queue_immediately() throws Exception {
        take("g");
        AtomicInteger ran = new AtomicInteger();
        BlockingTask go = new BlockingTask();
        Node<Integer> waiting = f.node("waiting", ran::incrementAndGet).group("g");
        Node<Integer> fast = f.node("fast", () -> {
            go.call();
            return 7;
        });
        Node<Integer> end = f.node("end", anyOf(waiting, fast), x -> x);
        FlowRun<Integer> run = f.returning(end).start(null, options);
        assertThat(run.state("waiting")).isEqualTo(NodeState.WAITING);
        go.release();
        assertThat(run.get()).isEqualTo(7);
        assertThat(run.state("waiting")).isEqualTo(NodeState.SKIPPED);
        assertThat(executor.stats().totalQueuedCount()).isZero();
        holder.release();
        assertFree();
        assertThat(ran).hasValue(0);
    }

    @Test
    void a_waiting_node_can_be_cancelled_and_leaves_the_queue_immediately() throws Exception {
        take("g");
        Node<String> a = f.node("a", () -> "A").group("g").defaultValue("D");
        FlowRun<String> run = f.returning(a).start(null, options);
        run.cancel("enough");
        assertThat(run.join().status()).isEqualTo(FlowStatus.CANCELLED);
        assertThat(run.get()).isEqualTo("D");
        assertThat(executor.stats().totalQueuedCount()).isZero();
        run.close();
    }

    @Test
    void a_waiting_node_can_time_out_and_leaves_the_queue_immediately() throws Exception {
        take("g");
        Node<String> a = f.node("a", () -> "A").group("g").timeout(SECOND);
        Node<String> b = f.node("b", after(a), o -> "B");
        FlowRun<String> run = f.returning(b).start(null, options);
        time.advance(SECOND);
        assertThat(run.get()).isEqualTo("B");
        assertThat(run.state("a")).isEqualTo(NodeState.TIMED_OUT);
        assertThat(run.join().node(a).startNanos()).isEqualTo(-1);
        assertThat(executor.stats().totalQueuedCount()).isZero();
    }

    @Test
    void the_deadline_of_the_run_ends_waiting_nodes() throws Exception {
        take("g");
        f.node("a", () -> "A").group("g");
        f.node("b", () -> "B").group("other");
        FlowRun<Void> run = f.build().start(null, options.withTimeout(SECOND));
        Wait.until(() -> run.state("b").isTerminal());
        time.advance(SECOND);
        assertThat(run.join().node("a").state()).isEqualTo(NodeState.TIMED_OUT);
        assertThat(executor.stats().totalQueuedCount()).isZero();
    }

    @Test
    void the_permit_is_released_when_a_node_fails_times_out_or_is_skipped_by_its_condition() throws Exception {
        BlockingTask slow = new BlockingTask();
        f.node("fails", () -> {
                    throw new AssertionError("broken");
                })
                .group("1");
        f.node("late", slow::call).group("2").timeout(SECOND);
        f.node("off", () -> 1).group("3").when(c -> false);
        f.node("worse", () -> 1).group("4").when(c -> {
            throw new IllegalStateException("condition is broken");
        });
        FlowRun<Void> run = f.build().start(null, options);
        slow.awaitBegun();
        time.advance(SECOND);
        FlowResult<Void> result = run.join();
        assertThat(result.node("late").state()).isEqualTo(NodeState.TIMED_OUT);
        assertThat(result.node("off").state()).isEqualTo(NodeState.SKIPPED);
        assertThat(result.node("worse").state()).isEqualTo(NodeState.FAILED);
        assertFree();
    }

    @Test
    void a_permit_is_kept_until_an_action_that_ignores_its_interrupt_returns() throws Exception {
        BlockingTask slow = BlockingTask.uninterruptible();
        f.node("late", slow::call).group("g").timeout(SECOND);
        FlowRun<Void> run = f.build().start(null, options);
        slow.awaitBegun();
        time.advance(SECOND);
        run.join();
        assertThat(executor.stats().totalActiveCount()).isEqualTo(1);
        slow.release();
        run.close();
        assertFree();
    }

    @Test
    void a_node_that_its_group_rejects_fails() throws Exception {
        take("narrow");
        Node<String> a = f.node("a", () -> "A").group("narrow");
        Node<String> b = f.node("b", after(a), o -> "B");
        FlowResult<String> result = f.returning(b).run(null, options);
        assertThat(result.value()).isEqualTo("B");
        assertThat(result.node(a).state()).isEqualTo(NodeState.FAILED);
        assertThat(result.node(a).cause()).isInstanceOf(RejectedTaskException.class);
    }

    @Test
    void a_node_that_its_group_rejects_while_it_waits_fails() throws Exception {
        take("g");
        Node<String> a = f.node("a", () -> "A").group("g");
        FlowRun<String> run = f.returning(a).start(null, options);
        Thread closing = Thread.startVirtualThread(executor::close);
        Wait.until(() -> run.state("a") != NodeState.WAITING
                || closing.getState() == Thread.State.WAITING
                || closing.getState() == Thread.State.TIMED_WAITING);
        holder.release();
        closing.join();
        assertThat(run.join().node(a).state()).isIn(NodeState.FAILED, NodeState.SUCCESS);
    }

    @Test
    void a_key_function_that_throws_or_returns_null_fails_the_node() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        Node<Integer> root = f.node("root", () -> 1);
        f.node("broken", root, x -> x).group(c -> {
            asked.incrementAndGet();
            throw new IllegalStateException("key is broken");
        });
        f.node("nothing", root, x -> x).group(c -> null);
        FlowResult<Void> result = f.build().run(null, options);
        assertThat(result.node("broken").state()).isEqualTo(NodeState.FAILED);
        assertThat(result.node("broken").cause()).hasMessage("key is broken");
        assertThat(result.node("nothing").state()).isEqualTo(NodeState.FAILED);
        assertThat(asked).hasValue(1);
    }

    @Test
    void a_key_may_depend_on_the_run() throws Exception {
        FlowBuilder<String> g = FlowPlan.define("keyed", String.class);
        List<String> keys = new ArrayList<>();
        Node<String> a = g.node("a", NodeContext::param).group(c -> "tenant-" + c.param());
        assertThat(g.returning(a)
                        .run("acme", options.withGroups(key -> {
                            keys.add(key);
                            return executor.scheduler(key);
                        }))
                        .value())
                .isEqualTo("acme");
        assertThat(keys).containsExactly("tenant-acme");
    }

    @Test
    void in_a_run_in_its_callers_thread_nodes_with_a_group_run_in_the_group() throws Exception {
        Thread caller = Thread.currentThread();
        Node<Boolean> a = f.node("a", () -> Thread.currentThread() == caller).group("g");
        Node<List<Boolean>> b = f.node("b", a, x -> List.of(x, Thread.currentThread() == caller));
        assertThat(f.returning(b).run(null, options.inCallersThread()).value()).containsExactly(false, true);
    }

    @Test
    void nodes_with_a_group_do_not_hold_a_thread_of_the_runs_pool() throws Exception {
        take("g");
        f.node("a", () -> "A").group("g");
        Node<String> b = f.node("b", () -> "B");
        try (ExecutorService pool = Executors.newSingleThreadExecutor()) {
            FlowRun<String> run = f.returning(b).start(null, options.withScheduler(Scheduler.from(pool)));
            Wait.until(() -> run.state("b") == NodeState.SUCCESS);
            assertThat(run.state("a")).isEqualTo(NodeState.WAITING);
            holder.release();
            assertThat(run.join().status()).isEqualTo(FlowStatus.SUCCESS);
        }
    }

    // a node that chooses is READY, not pending, when it is placed
    @Test
    void a_node_that_chooses_can_wait_for_its_group_and_be_ended_there() throws Exception {
        take("g");
        Node<String> x = f.node("x", () -> "X");
        Node<String> y = f.node("y", anyOf(x), v -> v).group("g");
        Node<String> z = f.node("z", optional(x), v -> "Z").group("g").timeout(SECOND);
        FlowRun<String> run = f.returning(y).start(null, options);
        Wait.until(() -> run.state("y") == NodeState.WAITING && run.state("z") == NodeState.WAITING);
        time.advance(SECOND);
        Wait.until(() -> run.state("z") == NodeState.TIMED_OUT);
        holder.release();
        assertThat(run.get()).isEqualTo("X");
        assertThat(z.id()).isEqualTo("z");
    }

    /** A scheduler that runs an action during each placement and counts withdrawn placements. */
    private static final class Slow implements Scheduler {
        private final StepScheduler steps = new StepScheduler();
        private final AtomicInteger withdrawn = new AtomicInteger();
        private Runnable whilePlacing = () -> {};

        @Override
        public void execute(Runnable task) {
            steps.execute(task);
        }

        @Override
        public Placement place(Placeable task) {
            steps.execute(task);
            whilePlacing.run();
            return () -> {
                withdrawn.incrementAndGet();
                return true;
            };
        }
    }

    // a thread that ends a node while it is being placed cannot see the placement yet
    @Test
    void a_node_that_is_ended_while_it_is_placed_leaves_the_queue() throws Exception {
        Slow group = new Slow();
        List<FlowRun<?>> runs = new ArrayList<>();
        Node<String> root = f.node("root", () -> "R");
        f.node("a", root, x -> x).group("g");
        StepScheduler steps = new StepScheduler();
        FlowRun<Void> run = f.build().start(null, options.withScheduler(steps).withGroups(key -> group));
        runs.add(run);
        group.whilePlacing = () -> runs.getFirst().cancel("just now");
        steps.runAll();
        assertThat(run.join().node("a").state()).isEqualTo(NodeState.CANCELLED);
        assertThat(group.withdrawn.get()).isPositive();
        group.steps.runAll(); // too late, no effect
        assertThat(run.state("a")).isEqualTo(NodeState.CANCELLED);
    }

    @Test
    void maps_and_subflows_in_a_group_end_like_other_nodes() throws Exception {
        FlowBuilder<Integer> inner = FlowPlan.define("inner", Integer.class);
        FlowPlan<Integer, Integer> plan =
                inner.returning(inner.node("n", c -> c.param() + 1).group("g"));
        Node<Integer> one = f.node("one", () -> 1);
        Node<Integer> sub = f.subflow("sub", plan, one).group("h");
        Node<List<Integer>> mapped = f.map("mapped", f.node("list", () -> List.of(1, 2, 3)), x -> x * 2)
                .group("h");
        Node<String> end = f.node("end", sub, mapped, (x, y) -> x + " " + y);
        assertThat(f.returning(end).run(null, options).value()).isEqualTo("2 [2, 4, 6]");
    }

    private static GroupExecutor inCaller(RejectionPolicy policy, int queue, Scheduler scheduler) {
        return GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(1)
                .perGroupQueueThreshold(java.util.Map.of("g", queue))
                .rejectionPolicy(policy)
                .scheduler(key -> scheduler)
                .build());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_long_chain_in_a_group_that_runs_in_the_caller_does_not_grow_the_stack(boolean here) throws Exception {
        Node<Integer> last = f.node("0", () -> 1).group("g");
        for (int i = 1; i < 20_000; i++) {
            last = f.node("" + i, last, x -> x + 1).group("g");
        }
        try (GroupExecutor inCaller = inCaller(RejectionPolicy.ABORT, 10, Runnable::run)) {
            RunOptions each = options.withGroups(inCaller::scheduler);
            assertThat(f.returning(last)
                            .run(null, here ? each.inCallersThread() : each)
                            .value())
                    .isEqualTo(20_000);
            assertThat(inCaller.stats().totalActiveCount()).isZero();
        }
    }

    @Test
    void a_long_chain_in_a_full_group_with_caller_runs_does_not_grow_the_stack() throws Exception {
        Node<Integer> last = f.node("0", () -> 1).group("g");
        for (int i = 1; i < 20_000; i++) {
            last = f.node("" + i, last, x -> x + 1).group("g");
        }
        BlockingTask busy = new BlockingTask();
        try (GroupExecutor full = inCaller(RejectionPolicy.CALLER_RUNS, 0, Scheduler.virtualThreads())) {
            full.submit("g", "busy", busy::call);
            busy.awaitBegun();
            assertThat(f.returning(last)
                            .run(null, options.withGroups(full::scheduler))
                            .value())
                    .isEqualTo(20_000);
            busy.release();
        }
    }

    @Test
    void a_node_that_runs_in_the_placing_thread_releases_its_permit_before_downstream_nodes_begin() throws Exception {
        try (GroupExecutor inCaller = inCaller(RejectionPolicy.ABORT, 0, Runnable::run)) {
            Node<Integer> a =
                    f.node("a", () -> inCaller.stats().totalActiveCount()).group("g");
            Node<Integer> b = f.node("b", a, x -> 10 * x + inCaller.stats().totalActiveCount())
                    .group("g"); // more nodes than permits would be refused
            Node<Integer> c = f.node("c", b, x -> 10 * x + inCaller.stats().totalActiveCount());
            assertThat(f.returning(c)
                            .run(null, options.withGroups(inCaller::scheduler))
                            .value())
                    .isEqualTo(110);
        }
    }

    @Test
    void nodes_without_a_group_are_dispatched_before_a_node_runs_in_the_placing_thread() throws Exception {
        BlockingTask other = new BlockingTask();
        Node<String> a = f.node("a", () -> {
                    other.awaitBegun();
                    other.release();
                    return "A";
                })
                .group("g");
        Node<String> b = f.node("b", other::call);
        Node<String> c = f.node("c", a, b, (x, y) -> x + y);
        try (GroupExecutor inCaller = inCaller(RejectionPolicy.ABORT, 0, Runnable::run)) {
            assertThat(f.returning(c)
                            .run(null, options.withGroups(inCaller::scheduler))
                            .value())
                    .isEqualTo("Avalue");
        }
    }

    @Test
    void nodes_that_became_ready_together_do_not_wait_for_one_that_runs_in_the_placing_thread() throws Exception {
        BlockingTask plain = new BlockingTask();
        BlockingTask grouped = new BlockingTask();
        Node<String> root = f.node("root", () -> "R");
        Node<String> waits = f.node("waits", root, x -> {
                    plain.awaitBegun();
                    grouped.awaitBegun();
                    plain.release();
                    grouped.release();
                    return "A";
                })
                .group("first");
        Node<String> b = f.node("b", root, x -> plain.call());
        Node<String> c = f.node("c", root, x -> grouped.call()).group("second");
        Node<String> all = f.node("all", waits, b, c, (x, y, z) -> x + y + z);
        try (GroupExecutor inCaller = inCaller(RejectionPolicy.ABORT, 0, Runnable::run)) {
            assertThat(f.returning(all)
                            .run(null, options.withGroups(inCaller::scheduler))
                            .value())
                    .isEqualTo("Avaluevalue");
        }
    }

    @Test
    void a_node_that_runs_in_the_placing_thread_ends_at_the_deadline_and_so_does_the_run() throws Exception {
        BlockingTask slow = new BlockingTask();
        Node<String> root = f.node("root", () -> "R");
        Node<String> a = f.node("a", root, x -> slow.call()).group("g").defaultValue("D");
        try (GroupExecutor inCaller = inCaller(RejectionPolicy.ABORT, 0, Runnable::run);
                FlowRun<String> run = f.returning(a)
                        .start(null, options.withGroups(inCaller::scheduler).withTimeout(SECOND))) {
            slow.awaitBegun();
            time.advance(SECOND);
            assertThat(run.get()).isEqualTo("D");
            assertThat(run.join().node(root).state()).isEqualTo(NodeState.SUCCESS);
            slow.awaitInterrupt();
        }
        assertThat(slow.returns()).isEqualTo(1);
    }

    @Test
    void a_node_that_is_placed_and_run_after_a_timeout_is_interrupted_and_close_waits_for_it() throws Exception {
        BlockingTask late = new BlockingTask();
        BlockingTask next = BlockingTask.uninterruptible();
        Node<String> first = f.node("first", late::call).timeout(SECOND);
        f.node("next", after(first), o -> next.call()).group("g");
        try (GroupExecutor inCaller = inCaller(RejectionPolicy.ABORT, 0, Runnable::run)) {
            RunOptions real = options.withTimeSource(new RealAlarms(time));
            FlowRun<Void> run = f.build().start(null, real.withGroups(inCaller::scheduler));
            late.awaitBegun();
            time.advance(SECOND);
            next.awaitBegun();
            run.cancel("enough");
            next.awaitInterrupt();
            assertThat(run.join().node("next").state()).isEqualTo(NodeState.CANCELLED);
            FutureTask<Integer> closing = new FutureTask<>(() -> {
                run.close();
                return next.returns();
            });
            Thread closer = Thread.ofPlatform().daemon().start(closing);
            Wait.until(() -> closer.getState() == Thread.State.WAITING || closing.isDone());
            next.release();
            assertThat(closing.get()).isEqualTo(1);
        }
    }

    @Test
    void a_node_that_runs_in_the_starting_thread_does_not_clear_its_interrupt() throws Exception {
        Node<Boolean> a =
                f.node("a", () -> Thread.currentThread().isInterrupted()).group("g");
        FlowPlan<Void, Boolean> plan = f.returning(a);
        try (GroupExecutor inCaller = inCaller(RejectionPolicy.ABORT, 0, Runnable::run)) {
            Thread.currentThread().interrupt();
            FlowRun<Boolean> run = plan.start(null, options.withGroups(inCaller::scheduler));
            assertThat(Thread.interrupted())
                    .as("the starter is still interrupted")
                    .isTrue();
            assertThat(run.get()).isFalse();
        }
    }

    @Test
    void a_caller_can_be_interrupted_while_a_node_runs_in_the_placing_thread() throws Exception {
        Thread caller = Thread.currentThread();
        BlockingTask slow = new BlockingTask();
        Node<String> root = f.node("root", () -> "R");
        Node<String> a = f.node("a", root, x -> slow.call()).group("g");
        f.node("b", after(a), o -> "B");
        Thread.startVirtualThread(() -> {
            try {
                slow.awaitBegun();
                caller.interrupt();
            } catch (InterruptedException impossible) {
                throw new AssertionError(impossible);
            }
        });
        try (GroupExecutor inCaller = inCaller(RejectionPolicy.ABORT, 0, Runnable::run)) {
            FlowRun<Void> run = f.build()
                    .start(null, options.withGroups(inCaller::scheduler).inCallersThread());
            assertThatThrownBy(run::join).isInstanceOf(InterruptedException.class);
            assertThat(run.join().node("a").cause()).isInstanceOf(InterruptedException.class);
        }
    }

    // other deadlines would be delayed
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void nodes_triggered_by_a_timeout_never_run_on_the_alarm_thread(boolean grouped) throws Exception {
        BlockingTask late = new BlockingTask();
        CountDownLatch laterIsOver = new CountDownLatch(1);
        Node<String> first = f.node("first", late::call).timeout(SECOND).compute();
        f.node("later", new BlockingTask()::call)
                .timeout(SECOND.multipliedBy(2))
                .compute()
                .onResult(report -> laterIsOver.countDown());
        Node<String> next = f.node("next", after(first), o -> {
            laterIsOver.await();
            return "N";
        });
        if (grouped) {
            next.group("g");
        }
        try (GroupExecutor inCaller = inCaller(RejectionPolicy.ABORT, 0, Runnable::run)) {
            FlowRun<String> run = f.returning(next)
                    .start(
                            null,
                            options.withTimeSource(new RealAlarms(time))
                                    .withGroups(inCaller::scheduler)
                                    .withScheduler(Runnable::run)
                                    .withComputeScheduler(Scheduler.virtualThreads()));
            late.awaitBegun();
            time.advance(SECOND);
            Wait.until(() -> run.state("next") == NodeState.RUNNING);
            time.advance(SECOND);
            assertThat(run.get()).isEqualTo("N");
        }
    }
}
