package dev.raddle.surroundings;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.RunOptions;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.RejectionPolicy;
import dev.raddle.group.TaskHandle;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.CancelledException;
import dev.raddle.task.Outcome;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Scheduler;
import dev.raddle.task.Task;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import dev.raddle.task.TaskSpec;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A task begins with a clear interrupt status, whatever has run in its thread before; a thread that is not Raddle's is
 * interrupted again afterwards if it was before. Only {@code call} and {@code inCallersThread} run user code as if the
 * caller had called it itself: an interrupt of the caller reaches it there.
 */
class ForeignInterruptTest {

    private static final Callable<Boolean> SEES_INTERRUPT =
            () -> Thread.currentThread().isInterrupted();

    private interface Way {
        Object call(Scheduler scheduler) throws Exception;
    }

    /** An event loop in whose thread a foreign job has left an interrupt, before each task. */
    private static final class EventLoop implements AutoCloseable {
        private final LinkedBlockingQueue<Runnable> jobs = new LinkedBlockingQueue<>();
        private final LinkedBlockingQueue<Boolean> isInterruptedAfterwards = new LinkedBlockingQueue<>();
        private final Thread thread = Thread.ofPlatform().daemon().start(this::run);

        private void run() {
            for (Runnable job = take(); job != this.end; job = take()) {
                Thread.currentThread().interrupt();
                job.run();
                isInterruptedAfterwards.add(Thread.interrupted());
            }
        }

        private final Runnable end = () -> {};

        private Runnable take() {
            try {
                return jobs.take();
            } catch (InterruptedException interrupt) {
                throw new AssertionError("the status was taken before", interrupt);
            }
        }

        @Override
        public void close() throws InterruptedException {
            jobs.add(end);
            thread.join();
        }
    }

    /** The ways in which user code reaches a scheduler. Each returns whether it has begun interrupted. */
    private static Map<String, Way> ways() {
        Map<String, Way> all = new LinkedHashMap<>();
        all.put("task of a group", scheduler -> {
            try (GroupExecutor executor = groupsOn(scheduler)) {
                return executor.submit("a", SEES_INTERRUPT).await().value();
            }
        });
        all.put("task of a group with options", scheduler -> {
            try (GroupExecutor executor = groupsOn(scheduler)) {
                return executor.submit("a", TaskSpec.named("t", SEES_INTERRUPT).retry(RetryPolicy.attempts(2)))
                        .await()
                        .value();
            }
        });
        all.put("task placed in a group", scheduler -> {
            try (GroupExecutor executor = groupsOn(scheduler)) {
                CompletableFuture<Boolean> seen = new CompletableFuture<>();
                executor.scheduler("a")
                        .execute(() -> seen.complete(Thread.currentThread().isInterrupted()));
                return seen.get();
            }
        });
        all.put("task of a scope", scheduler -> {
            try (ThreadScope scope = ThreadScope.open("scope").withScheduler(scheduler)) {
                return scope.submit(SEES_INTERRUPT).await();
            }
        });
        all.put("node", scheduler -> {
            var flow = FlowPlan.define("flow");
            var node = flow.node("node", SEES_INTERRUPT::call);
            return flow.returning(node)
                    .run(null, RunOptions.defaults().withScheduler(scheduler))
                    .value();
        });
        all.put("compute node", scheduler -> {
            var flow = FlowPlan.define("flow");
            var node = flow.node("node", SEES_INTERRUPT::call).compute();
            return flow.returning(node)
                    .run(null, RunOptions.defaults().withComputeScheduler(scheduler))
                    .value();
        });
        all.put("node in a group", scheduler -> {
            try (GroupExecutor executor = groupsOn(scheduler)) {
                var flow = FlowPlan.define("flow");
                var node = flow.node("node", SEES_INTERRUPT::call).group("a");
                return flow.returning(node)
                        .run(null, RunOptions.defaults().withGroups(executor::scheduler))
                        .value();
            }
        });
        return all;
    }

    private static GroupExecutor groupsOn(Scheduler scheduler) {
        return GroupExecutor.newVirtualThreadExecutor(
                GroupPolicy.builder().scheduler(key -> scheduler).build());
    }

    @AfterEach
    void the_test_thread_is_not_interrupted() {
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void an_interrupt_of_a_job_before_does_not_reach_the_task_and_is_there_again_afterwards() throws Exception {
        for (Map.Entry<String, Way> way : ways().entrySet()) {
            try (EventLoop loop = new EventLoop()) {
                assertThat(way.getValue().call(loop.jobs::add)).as(way.getKey()).isEqualTo(false);
                assertThat(loop.isInterruptedAfterwards.take()).as(way.getKey()).isTrue();
            }
        }
    }

    @Test
    void an_interrupt_of_a_job_before_in_a_fork_join_pool_does_not_reach_the_task() throws Exception {
        try (ForkJoinPool pool = new ForkJoinPool(1)) {
            for (Map.Entry<String, Way> way : ways().entrySet()) {
                for (int i = 0; i < 20; i++) {
                    CompletableFuture.runAsync(() -> Thread.currentThread().interrupt(), pool);
                    assertThat(way.getValue().call(Scheduler.from(pool)))
                            .as(way.getKey())
                            .isEqualTo(false);
                }
            }
        }
    }

    @Test
    void an_interrupt_of_the_submitter_does_not_reach_a_task_that_its_scheduler_runs_at_once() throws Exception {
        try (GroupExecutor executor = groupsOn(Runnable::run);
                ThreadScope scope = ThreadScope.open("scope").withScheduler(Runnable::run)) {
            Thread.currentThread().interrupt();
            TaskHandle<Boolean> ofGroup = executor.submit("a", SEES_INTERRUPT);
            Task<Boolean> ofScope = scope.submit(SEES_INTERRUPT);

            assertThat(Thread.interrupted()).isTrue();
            assertThat(ofGroup.await().value()).isFalse();
            assertThat(ofScope.await()).isFalse();
        }
    }

    @Test
    void an_interrupt_of_the_submitter_does_not_reach_a_task_that_it_runs_because_the_group_is_full() throws Exception {
        GroupPolicy policy = GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(1)
                .defaultQueueThresholdPerGroup(0)
                .rejectionPolicy(RejectionPolicy.CALLER_RUNS)
                .build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            CountDownLatch hold = new CountDownLatch(1);
            executor.submit("a", () -> hold.await(1, TimeUnit.DAYS));
            Thread.currentThread().interrupt();
            TaskHandle<Boolean> rejected = executor.submit("a", SEES_INTERRUPT);

            assertThat(Thread.interrupted()).isTrue();
            hold.countDown();
            assertThat(rejected.await().value()).isFalse();
        }
    }

    @Test
    void an_interrupt_of_the_caller_reaches_what_it_calls_in_its_own_thread() throws Exception {
        try (GroupExecutor executor = groupsOn(Scheduler.virtualThreads())) {
            Thread caller = Thread.currentThread();
            assertThat(executor.call("a", () -> {
                        caller.interrupt();
                        return Thread.interrupted();
                    }))
                    .isTrue();
            var flow = FlowPlan.define("flow");
            var node = flow.node("node", () -> {
                caller.interrupt();
                return Thread.interrupted();
            });
            assertThat(flow.returning(node)
                            .run(null, RunOptions.defaults().inCallersThread())
                            .value())
                    .isTrue();
        }
    }

    @Test
    void an_interrupt_that_a_callback_leaves_does_not_reach_the_task() throws Exception {
        TaskListener interrupting = new TaskListener() {
            @Override
            public void onStarted(TaskIdentity task, long waitNanos) {
                Thread.currentThread().interrupt();
            }

            @Override
            public void onSettled(TaskIdentity task, Outcome<?> outcome, long ranNanos) {
                Thread.currentThread().interrupt();
            }
        };
        GroupPolicy policy = GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(1)
                .reuseThreads(true)
                .addListener(interrupting)
                .build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            CountDownLatch hold = new CountDownLatch(1);
            executor.submit("a", () -> hold.await(1, TimeUnit.DAYS));
            TaskHandle<Boolean> next = executor.submit("a", SEES_INTERRUPT);
            TaskHandle<Boolean> last = executor.submit("a", SEES_INTERRUPT);
            hold.countDown();
            assertThat(next.await().value()).isFalse();
            assertThat(last.await().value()).isFalse();
        }
        try (ThreadScope scope = ThreadScope.open("scope").addListener(interrupting)) {
            assertThat(scope.submit(SEES_INTERRUPT).await()).isFalse();
        }
        var flow = FlowPlan.define("flow");
        var first = flow.node("first", SEES_INTERRUPT::call)
                .onBegin(context -> Thread.currentThread().interrupt())
                .onResult(report -> Thread.currentThread().interrupt());
        var second = flow.node("second", first, seen -> seen || SEES_INTERRUPT.call())
                .onBegin(context -> Thread.currentThread().interrupt());
        assertThat(flow.returning(second)
                        .run(null, RunOptions.defaults().addListener(interrupting))
                        .value())
                .isFalse();
    }

    @Test
    void a_cancel_interrupts_the_task_in_a_thread_that_was_interrupted_before() throws Exception {
        try (EventLoop loop = new EventLoop();
                GroupExecutor executor = groupsOn(loop.jobs::add)) {
            CountDownLatch running = new CountDownLatch(1);
            CompletableFuture<String> ended = new CompletableFuture<>();
            TaskHandle<Object> task = executor.submit("a", () -> {
                running.countDown();
                try {
                    return new CountDownLatch(1).await(1, TimeUnit.DAYS);
                } catch (InterruptedException interrupt) {
                    ended.complete("interrupted");
                    throw interrupt;
                }
            });
            running.await();
            assertThat(task.cancel(true)).isTrue();
            assertThat(ended.get()).isEqualTo("interrupted");
            assertThat(task.await().error()).isInstanceOf(CancelledException.class);
            assertThat(loop.isInterruptedAfterwards.take()).isTrue();
        }
    }

    @Test
    void an_interrupt_that_a_task_leaves_does_not_reach_the_next_job_of_its_thread() throws Exception {
        LinkedBlockingQueue<Runnable> jobs = new LinkedBlockingQueue<>();
        try (GroupExecutor executor = groupsOn(jobs::add);
                ThreadScope scope = ThreadScope.open("scope").withScheduler(jobs::add)) {
            executor.submit("a", () -> Thread.currentThread().interrupt());
            jobs.take().run();
            assertThat(Thread.interrupted()).isFalse();
            scope.submit(() -> {
                Thread.currentThread().interrupt();
                return "value";
            });
            jobs.take().run();
            assertThat(Thread.interrupted()).isFalse();
        }
    }
}
