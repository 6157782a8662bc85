package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.flow.Dependency;
import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowResult;
import dev.raddle.flow.FlowRun;
import dev.raddle.flow.FlowStatus;
import dev.raddle.flow.Node;
import dev.raddle.flow.NodeState;
import dev.raddle.flow.RunOptions;
import dev.raddle.scope.JoinStrategy;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.Outcome;
import dev.raddle.task.Task;
import dev.raddle.task.TaskSpec;
import dev.raddle.task.TaskStatus;
import dev.raddle.task.TaskTimeoutException;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A wait of a task for a task that could never begin is refused, and no other wait, through every API. */
@Timeout(60)
class CapDeadlockTest {

    private static final Duration SHORT = Duration.ofMillis(20);

    private static GroupExecutor limited(int limit) {
        return GroupExecutor.newVirtualThreadExecutor(
                GroupPolicy.builder().defaultMaxConcurrencyPerGroup(limit).build());
    }

    /** Runs an action in each task of a full group, concurrently, and returns the results of the tasks. */
    private static List<? extends GroupResult<?>> inAll(GroupExecutor executor, int limit, Callable<?> action)
            throws InterruptedException {
        CyclicBarrier full = new CyclicBarrier(limit);
        List<? extends TaskHandle<?>> tasks = IntStream.range(0, limit)
                .mapToObj(number -> executor.submit("a", "outer" + number, () -> {
                    full.await();
                    return action.call();
                }))
                .toList();
        List<GroupResult<?>> results = new ArrayList<>();
        for (TaskHandle<?> task : tasks) {
            results.add(task.await());
        }
        return results;
    }

    private static void assertRefused(List<? extends GroupResult<?>> results) {
        assertThat(results)
                .anySatisfy(result -> assertThat(result.error())
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("would never begin"));
    }

    @Test
    void a_wait_for_an_inner_task_with_a_timeout_is_not_refused() throws InterruptedException {
        try (GroupExecutor executor = limited(1)) {
            TaskHandle<TaskStatus> outer = executor.submit(
                    "a",
                    "outer",
                    () -> executor.submit("a", TaskSpec.named("inner", () -> 1).timeout(SHORT))
                            .await()
                            .status());

            assertThat(outer.await().value()).isEqualTo(TaskStatus.FAILED);
        }
    }

    @Test
    void a_wait_for_an_inner_task_with_a_queue_timeout_is_not_refused() throws InterruptedException {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(1)
                .rejectionPolicy(RejectionPolicy.DISCARD)
                .build())) {
            TaskHandle<TaskStatus> outer = executor.submit(
                    "a",
                    "outer",
                    () -> executor.submit("a", TaskSpec.named("inner", () -> 1).queueTimeout(SHORT))
                            .await()
                            .status());

            assertThat(outer.await().value()).isEqualTo(TaskStatus.REJECTED);
        }
    }

    @Test
    void a_wait_is_not_refused_while_a_task_with_a_timeout_holds_a_slot() throws InterruptedException {
        VirtualTime time = new VirtualTime();
        GroupPolicy policy = GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(2)
                .timeSource(time)
                .build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            CyclicBarrier full = new CyclicBarrier(2);
            TaskHandle<?> ends = executor.submit(
                    "a",
                    TaskSpec.named("ends", () -> {
                                full.await();
                                return executor.submit("a", "x", () -> 1).await();
                            })
                            .timeout(Duration.ofMillis(300)));
            TaskHandle<Integer> outer = executor.submit("a", "outer", () -> {
                full.await();
                return executor.submit("a", "y", () -> 1).await().value();
            });
            Wait.until(() -> executor.engine.awaitedRuns.values().stream()
                    .anyMatch(run -> run.name().equals("y")));
            time.advance(Duration.ofMillis(300));

            assertThat(outer.await().value()).isEqualTo(1);
            assertThat(ends.await().error()).isInstanceOf(TaskTimeoutException.class);
        }
    }

    @Test
    void a_wait_for_a_scope_task_with_a_timeout_is_not_refused() throws InterruptedException {
        try (ThreadScope scope = ThreadScope.open("s").withConcurrencyLimit(1)) {
            Task<Outcome<Integer>> outer = scope.submit("outer", () -> {
                Task<Integer> inner = scope.submit("inner", () -> 1, SHORT);
                assertThatThrownBy(inner::await).isInstanceOf(TaskTimeoutException.class);
                return inner.outcome().orElseThrow();
            });

            assertThat(outer.await()).isInstanceOf(Outcome.Failure.class);
        }
    }

    @Test
    void a_wait_for_a_task_of_a_scope_with_a_deadline_is_not_refused() throws InterruptedException {
        VirtualTime time = new VirtualTime();
        try (ThreadScope scope = ThreadScope.open("s")
                .withTimeSource(time)
                .withConcurrencyLimit(1)
                .withDeadline(SHORT)) {
            CompletableFuture<Thread> runner = new CompletableFuture<>();
            Task<Integer> outer = scope.submit("outer", () -> {
                Task<Integer> inner = scope.submit("inner", () -> 1);
                runner.complete(Thread.currentThread());
                return inner.await();
            });
            Thread waiting = runner.join();
            Wait.until(() -> outer.isDone() || waiting.getState() == Thread.State.WAITING);

            time.advance(SHORT);

            assertThatThrownBy(outer::await).isNotInstanceOf(IllegalStateException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void a_wait_for_a_scope_task_in_the_full_group_is_refused(int limit) throws InterruptedException {
        try (GroupExecutor executor = limited(limit)) {
            assertRefused(inAll(executor, limit, () -> {
                try (ThreadScope scope = ThreadScope.open("s").withScheduler(executor.scheduler("a"))) {
                    return scope.submit("inner", () -> 1).await();
                }
            }));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void a_wait_for_several_scope_tasks_in_the_full_group_is_refused(int limit) throws InterruptedException {
        try (GroupExecutor executor = limited(limit)) {
            assertRefused(inAll(executor, limit, () -> {
                try (ThreadScope scope = ThreadScope.open("s").withScheduler(executor.scheduler("a"))) {
                    return scope.awaitAll(scope.submit("one", () -> 1), scope.submit("two", () -> 2));
                }
            }));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void a_join_of_alternatives_in_the_full_group_is_refused(int limit) throws InterruptedException {
        try (GroupExecutor executor = limited(limit)) {
            assertRefused(inAll(executor, limit, () -> {
                try (ThreadScope scope = ThreadScope.open("s").withScheduler(executor.scheduler("a"))) {
                    return scope.join(JoinStrategy.firstSuccess(), List.of(() -> 1, () -> 2));
                }
            }));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void a_flow_with_a_node_in_the_full_group_of_its_joiner_fails_at_that_node(boolean callersThread)
            throws InterruptedException {
        FlowBuilder<Void> f = FlowPlan.define("f");
        Node<Integer> first = f.node("first", () -> 1);
        Node<Integer> second = f.node("second", first, x -> x + 1).group("a");
        FlowPlan<Void, Integer> plan = f.returning(second);
        try (GroupExecutor executor = limited(1)) {
            RunOptions groups = RunOptions.defaults().withGroups(executor::scheduler);
            RunOptions options = callersThread ? groups.inCallersThread() : groups;

            GroupResult<?> result =
                    inAll(executor, 1, () -> plan.run(null, options)).getFirst();

            FlowResult<?> flow = (FlowResult<?>) result.value();
            assertThat(flow.status()).isEqualTo(FlowStatus.FAILED);
            assertThat(flow.outcome("second"))
                    .isInstanceOfSatisfying(
                            Outcome.Failure.class,
                            failure -> assertThat(failure.error())
                                    .isInstanceOf(IllegalStateException.class)
                                    .hasMessageContaining("would never begin"));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void flows_that_begin_in_the_full_group_of_their_joiners_do_not_hang(int limit) throws InterruptedException {
        FlowBuilder<Void> f = FlowPlan.define("f");
        f.node("root", () -> 1).group("a");
        FlowPlan<Void, Void> plan = f.build();
        try (GroupExecutor executor = limited(limit)) {
            RunOptions options = RunOptions.defaults().withGroups(executor::scheduler);

            assertThat(inAll(executor, limit, () -> plan.run(null, options).status()))
                    .anySatisfy(result -> assertThat(result.value()).isEqualTo(FlowStatus.FAILED));
        }
    }

    @Test
    void a_flow_that_a_task_joins_may_use_another_group() throws InterruptedException {
        FlowBuilder<Void> f = FlowPlan.define("f");
        f.node("root", () -> 1).group("b");
        FlowPlan<Void, Void> plan = f.build();
        try (GroupExecutor executor = limited(1)) {
            RunOptions options = RunOptions.defaults().withGroups(executor::scheduler);

            assertThat(inAll(executor, 1, () -> plan.run(null, options).status())
                            .getFirst()
                            .value())
                    .isEqualTo(FlowStatus.SUCCESS);
        }
    }

    private static GroupExecutor capped(int cap) {
        return GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(10)
                .globalMaxInFlight(cap)
                .build());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void waits_of_tasks_that_fill_the_cap_and_all_await_others_are_refused(int cap) throws InterruptedException {
        try (GroupExecutor executor = capped(cap)) {
            assertRefused(inAll(
                    executor,
                    cap,
                    () -> executor.executeAll(
                            List.of(new GroupTask<>("b", "x", () -> 1), new GroupTask<>("c", "y", () -> 2)))));
            assertRefused(inAll(
                    executor, cap, () -> executor.submit("b", "z", () -> 1).await()));
            assertRefused(inAll(executor, cap, () -> executor.call("b", () -> 1)));
            assertRefused(inAll(
                    executor, cap, () -> executor.submit("a", "own", () -> 1).await()));
            assertRefused(inAll(executor, cap, () -> executor.call("a", () -> 1)));
        }
    }

    @Test
    void a_task_that_awaits_itself_at_a_full_cap_is_refused() throws InterruptedException {
        try (GroupExecutor executor = capped(1)) {
            CompletableFuture<TaskHandle<?>> self = new CompletableFuture<>();
            TaskHandle<?> task = executor.submit("a", "self", () -> self.join().await());
            executor.submit("a", "behind it", () -> 1);
            self.complete(task);

            assertRefused(List.of(task.await()));
        }
    }

    @Test
    void a_wait_that_began_before_the_cap_was_full_counts() throws InterruptedException {
        try (GroupExecutor executor = capped(3)) {
            CountDownLatch full = new CountDownLatch(1);
            TaskHandle<Integer> outer = executor.submit("a", "outer", () -> {
                return executor.submit("b", "middle", () -> {
                            full.await();
                            return executor.submit("c", "inner", () -> 1)
                                    .await()
                                    .value();
                        })
                        .await()
                        .value();
            });
            Wait.until(() -> executor.engine.awaitedRuns.values().stream()
                    .anyMatch(run -> run.name().equals("middle")));
            TaskHandle<Integer> last = executor.submit("d", "last", () -> {
                full.countDown();
                Wait.until(() -> executor.engine.awaitedRuns.values().stream()
                        .anyMatch(run -> run.name().equals("inner")));
                return executor.submit("e", "never", () -> 1).await().value();
            });

            assertRefused(List.of(last.await()));
            assertThat(outer.await().status()).isEqualTo(TaskStatus.SUCCESS);
        }
    }

    @Test
    void a_wait_for_a_task_whose_groups_limit_is_being_looked_up_counts() throws InterruptedException {
        CompletableFuture<Thread> waiter = new CompletableFuture<>();
        CountDownLatch lookup = new CountDownLatch(1);
        GroupPolicy policy = GroupPolicy.builder()
                .globalMaxInFlight(2)
                .concurrencyResolver(key -> {
                    if (key.equals("free")) {
                        lookup.countDown();
                        Wait.until(() -> waiter.join().getState() == Thread.State.WAITING);
                    }
                    return 10;
                })
                .build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            List<TaskHandle<?>> outer = List.of(
                    executor.submit(
                            "a",
                            "looks up",
                            () -> executor.submit("free", () -> 1).await()),
                    executor.submit("b", "waits", () -> {
                        lookup.await();
                        TaskHandle<Integer> inner = executor.submit("free", () -> 1);
                        waiter.complete(Thread.currentThread());
                        return inner.await();
                    }));
            List<GroupResult<?>> results = new ArrayList<>();
            for (TaskHandle<?> task : outer) {
                results.add(task.await());
            }

            assertRefused(results);
        }
    }

    @Test
    void a_wait_under_a_full_cap_is_not_refused_if_another_task_goes_on() throws InterruptedException {
        try (GroupExecutor executor = capped(2)) {
            BlockingTask other = new BlockingTask();
            executor.submit("c", "other", other::call);
            other.awaitBegun();
            BlockingTask waits = new BlockingTask();
            TaskHandle<Integer> outer = executor.submit("a", "outer", () -> {
                TaskHandle<Integer> inner = executor.submit("b", "inner", () -> 1);
                inner.toCompletableFuture().thenRun(() -> {});
                waits.release();
                return inner.await().value();
            });
            waits.call();
            Wait.until(() -> outer.isDone() || executor.engine.awaitedRuns.size() > 0);
            other.release();

            assertThat(outer.await().value()).isEqualTo(1);
        }
    }

    @Test
    void a_task_that_awaits_a_flows_value_does_not_await_a_node_that_its_own_full_group_never_starts()
            throws Exception {
        FlowBuilder<Void> flow = FlowPlan.define("f");
        Node<Integer> never = flow.node("never", () -> 1).group("g");
        Node<Integer> value = flow.node("value", Dependency.after(never), (c, how) -> 2);
        Node<Integer> later = flow.node("later", () -> 3).group("g");
        FlowPlan<Void, Integer> plan = flow.returning(value);
        GroupPolicy policy =
                GroupPolicy.builder().defaultMaxConcurrencyPerGroup(1).build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            RunOptions options = RunOptions.defaults().withGroups(executor::scheduler);
            AtomicReference<FlowRun<Integer>> run = new AtomicReference<>();

            Integer seen = executor.submit("g", () -> {
                        run.set(plan.start(null, options));
                        return run.get().awaitValue();
                    })
                    .await()
                    .value();

            assertThat(seen).isEqualTo(2);
            FlowResult<Integer> result = run.get().join();
            assertThat(result.node("never").state()).isEqualTo(NodeState.FAILED);
            assertThat(result.node(later).state()).isEqualTo(NodeState.SUCCESS); // the value did not need it
            run.get().close();
        }
    }
}
