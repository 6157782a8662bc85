package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.Together;
import dev.raddle.testing.Wait;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ThreadPoolCountsTest {

    private final TestPools pools = new TestPools();

    @AfterEach
    void endAll() throws InterruptedException {
        pools.endAll();
    }

    @EachQueue
    void every_count_follows_the_tasks(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 2, 4, 10);
        assertCounts(pool, 0, 0, 0, 0, 0);

        BlockingTask first = pools.occupy(pool);
        assertCounts(pool, 1, 1, 1, 0, 1);
        BlockingTask second = pools.occupy(pool);
        assertCounts(pool, 2, 2, 2, 0, 2);
        BlockingTask third = pools.blocker();
        pool.execute(third);
        pool.execute(() -> {});
        pool.execute(() -> {});
        assertCounts(pool, 2, 2, 5, 0, 2);

        first.release();
        third.awaitBegun();
        assertCounts(pool, 2, 2, 5, 1, 2);
        second.release();
        Wait.until(() -> pool.getCompletedTaskCount() == 4);
        third.release();
        TestPools.awaitCompleted(pool, 5);
        assertCounts(pool, 2, 0, 5, 5, 2);

        pool.shutdown();
        assertThat(pool.awaitTermination(1, TimeUnit.HOURS)).isTrue();
        assertCounts(pool, 0, 0, 5, 5, 2);
    }

    private static void assertCounts(
            ThreadPool pool, int threads, int active, long tasks, long completed, int largest) {
        assertThat(pool.getPoolSize()).as("pool size").isEqualTo(threads);
        assertThat(pool.getActiveCount()).as("active").isEqualTo(active);
        assertThat(pool.getTaskCount()).as("tasks").isEqualTo(tasks);
        assertThat(pool.getCompletedTaskCount()).as("completed").isEqualTo(completed);
        assertThat(pool.getLargestPoolSize()).as("largest").isEqualTo(largest);
    }

    @EachQueue
    void a_task_sees_itself_counted_as_active_and_not_as_completed(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);

        Callable<List<Long>> counts = () -> List.of(
                (long) pool.getActiveCount(),
                (long) pool.getPoolSize(),
                pool.getTaskCount(),
                pool.getCompletedTaskCount());
        assertThat(pool.submit(counts).get()).containsExactly(1L, 1L, 1L, 0L);
        TestPools.awaitCompleted(pool, 1);
        assertThat(pool.submit(counts).get()).containsExactly(1L, 1L, 2L, 1L);
    }

    @Test
    void the_tasks_of_ended_threads_stay_counted() throws Exception {
        ThreadPool pool = pools.direct(0, 4);
        TestPools.release(pools.occupy(pool, 4));
        pool.setKeepAliveTime(0, TimeUnit.SECONDS);
        Wait.until(() -> pool.getPoolSize() == 0);

        assertCounts(pool, 0, 0, 4, 4, 4);
    }

    @EachQueue
    void counts_are_exact_when_many_have_submitted_at_once(QueueKind queueKind) throws Exception {
        LongAdder runs = new LongAdder();
        ThreadPool pool = pools.of(queueKind, 2, 4, 10_000);
        List<Callable<Object>> submitters = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            submitters.add(() -> {
                for (int task = 0; task < 2_000; task++) {
                    pool.execute(runs::increment);
                }
                return null;
            });
        }

        Together.together(submitters);
        Wait.until(() -> pool.getCompletedTaskCount() == 8_000);

        assertThat(runs.sum()).isEqualTo(8_000);
        assertThat(pool.getTaskCount()).isEqualTo(8_000);
        assertThat(pool.getQueue()).isEmpty();
        assertThat(pool.getLargestPoolSize()).isLessThanOrEqualTo(4);
    }

    @EachQueue
    void counts_never_decrease_while_tasks_run(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 2, 2, 10_000);
        Callable<Object> submitter = () -> {
            for (int task = 0; task < 5_000; task++) {
                pool.execute(() -> {});
            }
            return null;
        };
        Callable<Object> observer = () -> {
            long before = 0;
            while (before < 5_000) {
                long completed = pool.getCompletedTaskCount();
                assertThat(completed).isBetween(before, 5_000L);
                assertThat(pool.getActiveCount()).isBetween(0, 2);
                assertThat(pool.getPoolSize()).isBetween(0, 2);
                before = completed;
            }
            return null;
        };

        Together.together(List.of(submitter, observer));

        assertThat(pool.getCompletedTaskCount()).isEqualTo(5_000);
    }

    @EachQueue
    void toString_shows_the_state_and_the_counts(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 2, 4, 10);
        assertThat(pool.toString())
                .endsWith("[Running, pool size = 0, active threads = 0, queued tasks = 0, completed tasks = 0]");
        pool.submit(() -> {}).get();
        TestPools.awaitCompleted(pool, 1);
        pool.prestartAllCoreThreads();
        List<BlockingTask> running = pools.occupy(pool, 2);
        pool.execute(() -> {});
        pool.execute(() -> {});
        assertThat(pool.toString())
                .endsWith("[Running, pool size = 2, active threads = 2, queued tasks = 2, completed tasks = 1]");
        pool.shutdown();
        assertThat(pool.toString())
                .endsWith("[Shutting down, pool size = 2, active threads = 2, queued tasks = 2, completed tasks = 1]");
        pool.shutdownNow();
        for (BlockingTask blocker : running) {
            blocker.thread().join();
        }
        assertThat(pool.awaitTermination(1, TimeUnit.HOURS)).isTrue();
        assertThat(pool.toString())
                .endsWith("[Terminated, pool size = 0, active threads = 0, queued tasks = 0, completed tasks = 3]");
    }

    @Test
    void toString_begins_with_the_class_and_the_identity_hash_of_the_pool() {
        ThreadPool pool = pools.on(new LinkedBlockingQueue<>(), 1, 1);
        assertThat(pool.toString())
                .startsWith(
                        ThreadPool.class.getName() + "@" + Integer.toHexString(System.identityHashCode(pool)) + "[");

        class NamedPool extends ThreadPool {
            NamedPool() {
                super(1, 1, 1, TimeUnit.HOURS, new ArrayBlockingQueue<>(1));
            }
        }
        assertThat(pools.keep(new NamedPool()).toString()).startsWith(NamedPool.class.getName() + "@");
    }
}
