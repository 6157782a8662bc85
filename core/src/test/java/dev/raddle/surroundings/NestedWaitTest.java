package dev.raddle.surroundings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowStatus;
import dev.raddle.flow.RunOptions;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.pool.ThreadPool;
import dev.raddle.scope.ScopeOptions;
import dev.raddle.scope.ScopeTimeoutException;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskSpec;
import dev.raddle.task.TaskTimeoutException;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the guide to pools says of tasks that wait for tasks of their own pool, which has one thread here. */
class NestedWaitTest {

    private static final Duration SHORT = Duration.ofMillis(20);

    private final ThreadPool pool = ThreadPool.builder("p").threads(1).build();
    private final Scheduler one = Scheduler.from(pool);

    @AfterEach
    void close() {
        pool.close();
    }

    private static FlowPlan<Void, String> plan(boolean compute) {
        var flow = FlowPlan.define("inner");
        var node = flow.node("a", () -> "inner");
        return flow.returning(compute ? node.compute() : node);
    }

    @Test
    void a_wait_without_a_time_limit_hangs_until_it_is_interrupted() throws Exception {
        CompletableFuture<Thread> waiter = new CompletableFuture<>();
        Future<String> outer = pool.submit(() -> {
            waiter.complete(Thread.currentThread());
            return pool.submit(() -> "inner").get();
        });
        Wait.until(() -> !pool.getQueue().isEmpty()); // the inner task, for which there is no thread
        Wait.until(() -> waiter.join().getState() == Thread.State.WAITING);

        List<Runnable> handedBack = pool.shutdownNow();

        assertThat(handedBack).hasSize(1);
        assertThatThrownBy(outer::get).isInstanceOf(ExecutionException.class).hasCauseInstanceOf(Exception.class);
    }

    @Test
    void a_wait_with_a_time_limit_ends() throws Exception {
        assertThatThrownBy(() -> pool.submit(
                                () -> pool.submit(() -> "inner").get(SHORT.toMillis(), TimeUnit.MILLISECONDS))
                        .get())
                .hasCauseInstanceOf(TimeoutException.class);
        try (ThreadScope outer =
                ThreadScope.open("outer", ScopeOptions.defaults().withScheduler(one))) {
            assertThatThrownBy(
                            () -> outer.submit(() -> outer.submit(() -> "inner").await(SHORT))
                                    .await())
                    .hasCauseInstanceOf(TimeoutException.class);
        }
    }

    @Test
    void a_scope_with_a_deadline_ends_and_so_does_a_flow_with_a_timeout() throws Exception {
        ScopeOptions inPool = ScopeOptions.defaults().withScheduler(one);
        try (ThreadScope outer = ThreadScope.open("outer", inPool)) {
            assertThatThrownBy(() -> outer.submit(() -> {
                                try (ThreadScope inner = ThreadScope.open("inner", inPool.withDeadline(SHORT))) {
                                    return inner.submit(() -> "inner").await();
                                }
                            })
                            .await())
                    .isInstanceOf(ScopeTimeoutException.class);
        }
        RunOptions limited = RunOptions.timeout(SHORT).withScheduler(one);
        assertThat(pool.submit(() -> plan(false).run(null, limited).status()).get())
                .isEqualTo(FlowStatus.TIMED_OUT);
    }

    @Test
    void a_scope_in_the_waiting_thread_or_on_virtual_threads_does_not_hang() throws Exception {
        for (Scheduler other : List.<Scheduler>of(Runnable::run, Scheduler.virtualThreads())) {
            try (ThreadScope outer =
                    ThreadScope.open("outer", ScopeOptions.defaults().withScheduler(one))) {
                String value = outer.submit(() -> {
                            try (ThreadScope inner = ThreadScope.open(
                                    "inner", ScopeOptions.defaults().withScheduler(other))) {
                                return inner.submit(() -> "inner").await();
                            }
                        })
                        .await();

                assertThat(value).isEqualTo("inner");
            }
        }
    }

    @Test
    void a_flow_in_the_thread_of_the_node_that_runs_it_does_not_hang() throws Exception {
        for (boolean compute : new boolean[] {false, true}) {
            var outer = FlowPlan.define("outer");
            var node = outer.node(
                    "b",
                    () -> plan(compute)
                            .run(null, RunOptions.defaults().inCallersThread())
                            .value());
            var options = RunOptions.defaults().withScheduler(one).withComputeScheduler(one);

            assertThat(outer.returning(compute ? node.compute() : node)
                            .run(null, options)
                            .value())
                    .isEqualTo("inner");
        }
    }

    @Test
    void a_subflow_holds_no_thread() throws Exception {
        var outer = FlowPlan.define("outer");
        var node = outer.subflow("b", plan(false), outer.node("nothing", () -> (Void) null));

        assertThat(outer.returning(node)
                        .run(null, RunOptions.defaults().withScheduler(one))
                        .value())
                .isEqualTo("inner");
    }

    @Test
    void call_runs_a_task_of_another_group_in_the_waiting_thread() throws Exception {
        try (GroupExecutor groups = GroupExecutor.newVirtualThreadExecutor(
                GroupPolicy.builder().scheduler(key -> one).build())) {
            assertThat(groups.submit("a", () -> groups.call("b", () -> "inner"))
                            .await()
                            .value())
                    .isEqualTo("inner");
        }
    }

    @Test
    void a_wait_for_a_task_of_another_group_ends_with_a_timeout_of_the_wait_or_the_task() throws Exception {
        try (GroupExecutor groups = GroupExecutor.newVirtualThreadExecutor(
                GroupPolicy.builder().scheduler(key -> one).build())) {
            assertThat(groups.submit(
                                    "a",
                                    () -> groups.submit("b", () -> "inner")
                                            .await(SHORT.toMillis(), TimeUnit.MILLISECONDS)
                                            .error())
                            .await()
                            .value())
                    .isInstanceOf(TimeoutException.class);
            TaskSpec<String> limited = TaskSpec.named("i", () -> "inner").timeout(SHORT);
            assertThat(groups.submit(
                                    "a",
                                    () -> groups.submit("b", limited).await().error())
                            .await()
                            .value())
                    .isInstanceOf(TaskTimeoutException.class);
        }
    }

    @Test
    void one_thread_more_than_waits_is_enough() throws Exception {
        int outer = 2;
        int depth = 3;
        try (ThreadPool large =
                ThreadPool.builder("p").threads(outer * depth + 1).build()) {
            CountDownLatch allWait = new CountDownLatch(outer * depth);
            List<Future<Integer>> tasks = List.of(
                    large.submit(() -> nested(large, depth, allWait)),
                    large.submit(() -> nested(large, depth, allWait)));

            for (Future<Integer> task : tasks) {
                assertThat(task.get()).isEqualTo(depth);
            }
        }
    }

    /** Returns the depth after as many waits inside one another; the innermost task ends when all others wait. */
    private static int nested(ThreadPool large, int depth, CountDownLatch allWait) throws Exception {
        if (depth == 0) {
            allWait.await();
            return 0;
        }
        Future<Integer> inner = large.submit(() -> nested(large, depth - 1, allWait));
        allWait.countDown();
        return inner.get() + 1;
    }
}
