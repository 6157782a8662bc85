package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowRun;
import dev.raddle.flow.FlowStatus;
import dev.raddle.flow.RunOptions;
import dev.raddle.pool.RejectionHandler;
import dev.raddle.pool.ThreadPool;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.Scheduler;
import dev.raddle.task.Task;
import dev.raddle.task.TaskStatus;
import dev.raddle.testing.BlockingTask;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A task that a scheduler drops or returns is rejected, through every API. */
@Timeout(60)
class DroppedTasksTest {

    private static final Duration CLOSE = Duration.ofMinutes(2);

    private final BlockingTask holder = new BlockingTask();

    private ThreadPool poolOfOne(int capacity, RejectionHandler handler, boolean cancels) {
        return ThreadPool.builder("one")
                .threads(1)
                .queueCapacity(capacity)
                .rejection(handler)
                .cancelHandedBack(cancels)
                .build();
    }

    /** The ways to remove the tasks from the queue of a pool. */
    enum QueueRemoval {
        CLEAR(pool -> pool.getQueue().clear()),
        REMOVE_IF(pool -> pool.getQueue().removeIf(task -> true)),
        RETAIN(pool -> pool.getQueue().retainAll(List.of())),
        REMOVE_EACH(pool -> List.copyOf(pool.getQueue()).forEach(pool::remove)),
        ITERATOR(pool -> {
            for (Iterator<Runnable> each = pool.getQueue().iterator(); each.hasNext(); ) {
                each.next();
                each.remove();
            }
        }),
        SHUTDOWN_NOW(ThreadPool::shutdownNow);

        final Consumer<ThreadPool> action;

        QueueRemoval(Consumer<ThreadPool> action) {
            this.action = action;
        }
    }

    private static GroupExecutor executorOn(ExecutorService pool) {
        return GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(4)
                .closeTimeout(CLOSE)
                .scheduler(key -> Scheduler.from(pool))
                .build());
    }

    private static void assertRejectedByScheduler(TaskHandle<?> handle) throws InterruptedException {
        GroupResult<?> result = handle.await();
        assertThat(result.status()).isEqualTo(TaskStatus.FAILED);
        assertThat(result.error()).isInstanceOf(RejectedExecutionException.class);
    }

    private static void assertNothingIsHeld(GroupExecutor executor) throws InterruptedException {
        assertThat(executor.awaitIdle("g", CLOSE)).isTrue();
        assertThat(executor.shutdown(CLOSE)).isTrue();
    }

    @Test
    void a_group_goes_on_when_its_full_pool_discards_tasks() throws InterruptedException {
        try (ThreadPool pool = poolOfOne(1, new ThreadPool.DiscardPolicy(), false);
                GroupExecutor executor = executorOn(pool)) {
            TaskHandle<?> first = executor.submit("g", "holder", holder::call);
            holder.awaitBegun();
            List<TaskHandle<?>> handles = new ArrayList<>();
            for (int task = 0; task < 8; task++) {
                handles.add(executor.submit("g", "t" + task, () -> 1));
            }
            for (TaskHandle<?> dropped : handles.subList(1, 8)) {
                assertRejectedByScheduler(dropped);
            }

            holder.release();

            assertThat(first.await().status()).isEqualTo(TaskStatus.SUCCESS);
            assertThat(handles.getFirst().await().status()).isEqualTo(TaskStatus.SUCCESS);
            assertNothingIsHeld(executor);
        }
    }

    @Test
    void a_group_goes_on_when_its_full_pool_discards_the_oldest_task() throws InterruptedException {
        try (ThreadPool pool = poolOfOne(1, new ThreadPool.DiscardOldestPolicy(), true);
                GroupExecutor executor = executorOn(pool)) {
            executor.submit("g", "holder", holder::call);
            holder.awaitBegun();
            List<TaskHandle<?>> handles = new ArrayList<>();
            for (int task = 0; task < 8; task++) {
                handles.add(executor.submit("g", "t" + task, () -> 1));
            }
            for (TaskHandle<?> dropped : handles.subList(0, 7)) {
                assertRejectedByScheduler(dropped);
            }

            holder.release();

            assertThat(handles.getLast().await().status()).isEqualTo(TaskStatus.SUCCESS);
            assertNothingIsHeld(executor);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_group_goes_on_when_the_queue_of_its_pool_is_emptied(QueueRemoval removal) throws InterruptedException {
        try (ThreadPool pool = poolOfOne(10, new ThreadPool.AbortPolicy(), false);
                GroupExecutor executor = executorOn(pool)) {
            executor.submit("g", "holder", holder::call);
            holder.awaitBegun();
            List<TaskHandle<?>> handles = new ArrayList<>();
            for (int task = 0; task < 3; task++) {
                handles.add(executor.submit("g", "t" + task, () -> 1));
            }

            removal.action.accept(pool);

            for (TaskHandle<?> dropped : handles) {
                assertRejectedByScheduler(dropped);
            }
            holder.release();
            assertNothingIsHeld(executor);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void a_drained_pool_leaves_no_waiting_thread(boolean cancels) throws Exception {
        FlowBuilder<Void> f = FlowPlan.define("f");
        f.node("n", () -> 1);
        FlowPlan<Void, Void> plan = f.build();
        try (ThreadPool pool = poolOfOne(10, new ThreadPool.AbortPolicy(), cancels);
                GroupExecutor executor = executorOn(pool);
                ThreadScope scope = ThreadScope.open("s").withScheduler(Scheduler.from(pool))) {
            executor.submit("g", "holder", holder::call);
            holder.awaitBegun();
            TaskHandle<?> handle = executor.submit("g", "t", () -> 1);
            Task<Integer> task = scope.submit("t", () -> 1);
            try (FlowRun<Void> run = plan.start(null, RunOptions.defaults().withScheduler(Scheduler.from(pool)))) {
                pool.drain(Duration.ZERO);

                assertRejectedByScheduler(handle);
                assertThatThrownBy(task::await).isInstanceOf(RejectedExecutionException.class);
                assertThat(run.join().status()).isEqualTo(FlowStatus.FAILED);
            }
            holder.release();
            assertNothingIsHeld(executor);
        }
    }

    @Test
    void a_task_that_a_pool_skips_because_its_hook_throws_is_rejected() throws InterruptedException {
        ThreadPool pool = new ThreadPool(ThreadPool.builder("one").threads(1)) {
            @Override
            protected void beforeExecute(Thread thread, Runnable task) {
                Thread.currentThread().setUncaughtExceptionHandler((ending, thrown) -> {});
                throw new IllegalStateException("hook");
            }
        };
        try (pool;
                GroupExecutor executor = executorOn(pool)) {
            assertRejectedByScheduler(executor.submit("g", "t", () -> 1));
            assertNothingIsHeld(executor);
        }
    }

    @Test
    void a_task_that_was_removed_from_the_queue_can_be_run_by_the_remover() throws InterruptedException {
        try (ThreadPool pool = poolOfOne(10, new ThreadPool.AbortPolicy(), false);
                GroupExecutor executor = executorOn(pool)) {
            executor.submit("g", "holder", holder::call);
            holder.awaitBegun();
            TaskHandle<?> handle = executor.submit("g", "t", () -> 1);

            pool.getQueue().remove().run();

            assertThat(handle.await().status()).isEqualTo(TaskStatus.SUCCESS);
            holder.release();
            assertNothingIsHeld(executor);
        }
    }

    @Test
    void a_withdrawn_task_leaves_the_queue_of_its_pool_and_is_not_rejected() throws InterruptedException {
        try (ThreadPool pool = poolOfOne(10, new ThreadPool.AbortPolicy(), false);
                ThreadScope scope = ThreadScope.open("s").withScheduler(Scheduler.from(pool))) {
            scope.submit("holder", holder::call);
            holder.awaitBegun();
            Task<Integer> task = scope.submit("t", () -> 1);

            task.cancel();

            assertThat(pool.getQueue()).isEmpty();
            assertThat(task.state()).isEqualTo(Task.State.CANCELLED);
            holder.release();
        }
    }

    @Test
    void cancelling_a_task_that_another_executor_returns_rejects_it() throws InterruptedException {
        try (ThreadPoolExecutor pool = (ThreadPoolExecutor) Executors.newFixedThreadPool(1);
                GroupExecutor executor = executorOn(pool)) {
            executor.submit("g", "holder", holder::call);
            holder.awaitBegun();
            TaskHandle<?> handle = executor.submit("g", "t", () -> 1);

            for (Runnable left : pool.shutdownNow()) {
                ((Future<?>) left).cancel(false);
            }

            assertRejectedByScheduler(handle);
            holder.release();
            assertNothingIsHeld(executor);
        }
    }

    @Test
    void a_fork_join_pool_that_is_stopped_rejects_the_tasks_that_it_does_not_run() throws InterruptedException {
        BlockingTask stubborn =
                BlockingTask.uninterruptible(); // an interrupt must not free the worker before the pool has cleared its
        // queue
        try (ForkJoinPool pool = new ForkJoinPool(1);
                GroupExecutor executor = executorOn(pool)) {
            executor.submit("g", "holder", stubborn::call);
            stubborn.awaitBegun();
            TaskHandle<?> handle = executor.submit("g", "t", () -> 1);

            pool.shutdownNow();
            stubborn.release();

            assertRejectedByScheduler(handle);
            assertNothingIsHeld(executor);
        }
    }

    @Test
    void a_terminated_executor_that_drops_tasks_silently_rejects_them() throws InterruptedException {
        ThreadPoolExecutor pool = (ThreadPoolExecutor) Executors.newFixedThreadPool(1);
        pool.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
        pool.shutdown();
        assertThat(pool.awaitTermination(2, TimeUnit.MINUTES)).isTrue();
        try (GroupExecutor executor = executorOn(pool)) {
            assertRejectedByScheduler(executor.submit("g", "t", () -> 1));
            assertNothingIsHeld(executor);
        }
    }
}
