package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.Together;
import dev.raddle.testing.Wait;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The settings that ThreadPoolExecutor does not have: the queue's capacity, and threads before queueing. */
class LiveResizeTest {

    private final TestPools pools = new TestPools();
    private final List<String> ran = new CopyOnWriteArrayList<>();

    @AfterEach
    void endAll() throws InterruptedException {
        pools.endAll();
    }

    private static void assertFull(ThreadPool pool) {
        assertThatThrownBy(() -> pool.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
    }

    @ParameterizedTest
    @EnumSource(names = {"BUILT_IN", "BUILT_IN_PRIORITY"})
    void a_larger_capacity_takes_effect_at_once(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 1);
        assertThat(pool.getQueueCapacity()).isEqualTo(1);
        pools.occupy(pool);
        pool.execute(() -> {});
        assertFull(pool);

        pool.setQueueCapacity(3);

        assertThat(pool.getQueueCapacity()).isEqualTo(3);
        assertThat(pool.getQueue().remainingCapacity()).isEqualTo(2);
        pool.execute(() -> {});
        pool.execute(() -> {});
        assertFull(pool);
        pool.setQueueCapacity(Integer.MAX_VALUE);
        for (int i = 0; i < 1_000; i++) {
            pool.execute(() -> {});
        }
        assertThat(pool.getQueue()).hasSize(1_003);
        assertThat(pool.getQueue().remainingCapacity()).isEqualTo(Integer.MAX_VALUE);
    }

    @ParameterizedTest
    @EnumSource(names = {"BUILT_IN", "BUILT_IN_PRIORITY"})
    void a_smaller_capacity_takes_effect_at_once_and_drops_no_task(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, Integer.MAX_VALUE);
        assertThat(pool.getQueueCapacity()).isEqualTo(Integer.MAX_VALUE);
        BlockingTask blocker = pools.occupy(pool);
        List<Runnable> tasks = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            String name = "t" + i;
            tasks.add(() -> ran.add(name));
        }
        tasks.forEach(pool::execute);

        pool.setQueueCapacity(2);

        assertThat(pool.getQueue()).containsExactlyElementsOf(tasks);
        assertThat(pool.getQueue().remainingCapacity()).isZero();
        assertFull(pool);
        pool.remove(tasks.get(1));
        assertFull(pool);
        pool.remove(tasks.get(2));
        assertFull(pool);
        pool.remove(tasks.get(3));
        pool.execute(() -> ran.add("new"));
        assertFull(pool);
        blocker.release();
        TestPools.awaitCompleted(pool, 3);
        assertThat(ran).containsExactly("t0", "new");
    }

    @ParameterizedTest
    @EnumSource(names = {"BUILT_IN", "BUILT_IN_PRIORITY"})
    void a_larger_capacity_admits_waiting_putters(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 1);
        pools.occupy(pool);
        pool.execute(() -> {});
        List<FutureTask<Object>> puts = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            FutureTask<Object> put = new FutureTask<>(() -> {
                pool.getQueue().put(() -> {});
                return null;
            });
            puts.add(put);
            TestPools.awaitParkedIn(TestPools.started(put), "put");
        }

        pool.setQueueCapacity(4);

        for (FutureTask<Object> put : puts) {
            put.get();
        }
        assertThat(pool.getQueue()).hasSize(4);
    }

    @Test
    void an_illegal_capacity_is_rejected() {
        ThreadPool pool = pools.of(QueueKind.BUILT_IN, 1, 1, 7);

        assertThatIllegalArgumentException().isThrownBy(() -> pool.setQueueCapacity(0));
        assertThatIllegalArgumentException().isThrownBy(() -> pool.setQueueCapacity(-1));

        assertThat(pool.getQueueCapacity()).isEqualTo(7);
    }

    @ParameterizedTest
    @EnumSource(names = {"LINKED", "ARRAY"})
    void the_capacity_of_a_user_supplied_queue_cannot_be_set(QueueKind queueKind) {
        ThreadPool pool = pools.of(queueKind, 1, 1, 7);

        assertThatIllegalStateException().isThrownBy(pool::getQueueCapacity);
        assertThatIllegalStateException().isThrownBy(() -> pool.setQueueCapacity(8));
    }

    @ParameterizedTest
    @EnumSource(names = {"BUILT_IN", "BUILT_IN_PRIORITY"})
    void concurrent_changes_of_the_capacity_lose_no_task(QueueKind queueKind) throws Exception {
        AtomicInteger runs = new AtomicInteger();
        ThreadPool pool = pools.keep(
                queueKind.plan(2, 2, 4).rejection(new ThreadPool.BlockPolicy()).build());
        Callable<Object> submitter = () -> {
            for (int i = 0; i < 5_000; i++) {
                pool.execute(runs::incrementAndGet);
            }
            return null;
        };
        Callable<Object> resizer = () -> {
            for (int i = 0; runs.get() < 10_000; i++) {
                pool.setQueueCapacity(1 + i % 7);
            }
            return null;
        };

        Together.together(List.of(submitter, submitter, resizer));
        pool.close();

        assertThat(runs).hasValue(10_000);
    }

    @EachQueue
    void threads_are_started_before_tasks_are_queued_on_request(QueueKind queueKind) throws Exception {
        ThreadPool pool =
                pools.keep(queueKind.plan(1, 3, 2).scaleBeforeQueueing(true).build());

        List<BlockingTask> blockers = pools.occupy(pool, 3);
        assertThat(pool.getPoolSize()).isEqualTo(3);
        assertThat(pool.getQueue()).isEmpty();
        pool.execute(() -> ran.add("first"));
        pool.execute(() -> ran.add("second"));
        assertThat(pool.getPoolSize()).isEqualTo(3);
        assertThat(pool.getQueue()).hasSize(2);
        assertFull(pool);

        blockers.getFirst().release();
        Wait.until(() -> pool.getCompletedTaskCount() == 3);
        assertThat(ran).containsExactly("first", "second");
    }

    @EachQueue
    void no_thread_is_started_for_a_task_that_an_idle_one_can_take(QueueKind queueKind) throws Exception {
        ThreadPool pool =
                pools.keep(queueKind.plan(1, 4, 10).scaleBeforeQueueing(true).build());
        Thread thread = pool.submit(Thread::currentThread).get();
        for (int i = 0; i < 100; i++) {
            TestPools.awaitParkedIn(thread, "take");
            assertThat(pool.submit(Thread::currentThread).get()).isSameAs(thread);
        }

        assertThat(pool.getLargestPoolSize()).isEqualTo(1);
    }

    @EachQueue
    void threads_started_before_queueing_time_out_as_others_do(QueueKind queueKind) throws Exception {
        ThreadPool pool =
                pools.keep(queueKind.plan(1, 3, 2).scaleBeforeQueueing(true).build());
        List<BlockingTask> blockers = pools.occupy(pool, 3);
        pool.setKeepAliveTime(1, TimeUnit.MILLISECONDS);

        TestPools.release(blockers);

        Wait.until(() -> pool.getPoolSize() == 1);
        assertThat(pool.getLargestPoolSize()).isEqualTo(3);
    }

    @Test
    void with_scaleBeforeQueueing_a_task_is_not_queued_behind_the_idle_thread_that_another_task_has_taken()
            throws Exception {
        BlockingTask other = pools.blocker();
        BlockingTask queued = pools.blocker();
        AtomicReference<ThreadPool> pool = new AtomicReference<>();
        pool.set(pools.keep(ThreadPool.builder("p")
                .coreThreads(1)
                .maxThreads(2)
                .scaleBeforeQueueing(true)
                .priority(task -> {
                    if (task == queued) { // its submitter has seen the idle thread
                        pool.get().execute(other);
                        awaitBegun(other);
                    }
                    return 0;
                })
                .build()));
        FutureTask<Thread> first = new FutureTask<>(Thread::currentThread);
        pool.get().execute(first);
        TestPools.awaitParkedIn(first.get(), "take");

        pool.get().execute(queued);

        queued.awaitBegun();
        assertThat(pool.get().getPoolSize()).isEqualTo(2);
    }

    private static void awaitBegun(BlockingTask task) {
        try {
            task.awaitBegun();
        } catch (InterruptedException impossible) {
            throw new AssertionError(impossible);
        }
    }

    @EachQueue
    void with_scaleBeforeQueueing_a_raised_maximum_is_used_at_once(QueueKind queueKind) throws Exception {
        ThreadPool pool =
                pools.keep(queueKind.plan(0, 1, 10).scaleBeforeQueueing(true).build());
        pools.occupy(pool);
        pool.execute(() -> {});
        assertThat(pool.getPoolSize()).isEqualTo(1);

        pool.setMaximumPoolSize(2);
        pool.execute(pools.blocker()); // a new thread runs this task, or the previous one first

        assertThat(pool.getPoolSize()).isEqualTo(2);
    }

    @EachQueue
    void with_scaleBeforeQueueing_no_task_is_accepted_after_shutdown(QueueKind queueKind) throws Exception {
        ThreadPool pool =
                pools.keep(queueKind.plan(1, 3, 2).scaleBeforeQueueing(true).build());
        BlockingTask blocker = pools.occupy(pool);
        pool.shutdown();

        assertFull(pool);

        assertThat(pool.getPoolSize()).isEqualTo(1);
        blocker.release();
        pool.close();
        assertThat(pool.getLargestPoolSize()).isEqualTo(1);
    }

    @Test
    void a_pool_that_is_resized_in_every_way_loses_no_task() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        ThreadPool pool = pools.keep(ThreadPool.builder("resized")
                .threads(2)
                .queue(new LinkedBlockingQueue<>())
                .build());
        Callable<Object> submitter = () -> {
            for (int i = 0; i < 5_000; i++) {
                pool.execute(runs::incrementAndGet);
            }
            return null;
        };
        Callable<Object> resizer = () -> {
            for (int i = 0; runs.get() < 10_000; i++) {
                int size = i % 4;
                if (size >= pool.getMaximumPoolSize()) {
                    pool.setMaximumPoolSize(size + 1);
                    pool.setCorePoolSize(size);
                } else {
                    pool.setCorePoolSize(size);
                    pool.setMaximumPoolSize(size + 1);
                }
            }
            return null;
        };

        Together.together(List.of(submitter, submitter, resizer));

        assertThat(runs).hasValue(10_000);
        assertThat(pool.getLargestPoolSize()).isLessThanOrEqualTo(4);
    }
}
