package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.Wait;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ThreadPoolSizesTest {

    private final TestPools pools = new TestPools();

    @AfterEach
    void endAll() throws InterruptedException {
        pools.endAll();
    }

    @EachQueue
    void below_core_every_task_gets_a_new_thread_although_others_are_idle(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 2, 4, 10);

        Thread first = pool.submit(Thread::currentThread).get();
        TestPools.awaitCompleted(pool, 1);
        Thread second = pool.submit(Thread::currentThread).get();
        TestPools.awaitCompleted(pool, 2);
        Thread third = pool.submit(Thread::currentThread).get();

        assertThat(second).isNotSameAs(first);
        assertThat(third).isIn(first, second);
        assertThat(pool.getPoolSize()).isEqualTo(2);
    }

    @EachQueue
    void tasks_get_core_threads_then_are_queued_then_get_more_threads_then_are_rejected(QueueKind queueKind)
            throws Exception {
        List<String> order = new CopyOnWriteArrayList<>();
        ThreadPool pool = pools.of(queueKind, 1, 3, 2);

        BlockingTask core = pools.occupy(pool);
        pool.execute(() -> order.add("queued first"));
        pool.execute(() -> order.add("queued second"));
        assertThat(pool.getPoolSize()).isEqualTo(1);
        assertThat(pool.getQueue()).hasSize(2);
        pools.occupy(pool);
        assertThat(pool.getPoolSize()).isEqualTo(2);
        pools.occupy(pool);
        assertThat(pool.getPoolSize()).isEqualTo(3);
        assertThatThrownBy(() -> pool.execute(() -> order.add("rejected")))
                .isInstanceOf(RejectedExecutionException.class);
        assertThat(pool.getQueue()).hasSize(2);
        assertThat(order).as("newer tasks took the new threads").isEmpty();
        assertThat(pool.getTaskCount()).isEqualTo(5);

        core.release();
        Wait.until(() -> pool.getCompletedTaskCount() == 3);
        assertThat(order).containsExactly("queued first", "queued second");
    }

    @EachQueue
    void while_the_queue_has_capacity_there_are_never_more_than_core_threads(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 2, 8, 100);
        List<BlockingTask> blockers = pools.occupy(pool, 2);

        for (int i = 0; i < 100; i++) {
            pool.execute(() -> {});
        }

        assertThat(pool.getPoolSize()).isEqualTo(2);
        TestPools.release(blockers);
        TestPools.awaitCompleted(pool, 102);
        assertThat(pool.getLargestPoolSize()).isEqualTo(2);
        assertThat(pool.getCompletedTaskCount()).isEqualTo(102);
    }

    @EachQueue
    void with_core_0_one_thread_runs_the_queued_tasks(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 0, 4, 10);
        BlockingTask blocker = pools.occupy(pool);
        BlockingTask behind = pools.blocker();
        pool.execute(behind);

        assertThat(pool.getPoolSize()).isEqualTo(1);
        assertThat(pool.getQueue()).containsExactly(behind);
        blocker.release();

        assertThat(behind.awaitBegun().thread()).isSameAs(blocker.thread());
    }

    @EachQueue
    void with_core_0_more_threads_are_started_when_the_queue_is_full(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 0, 2, 1);
        pools.occupy(pool);
        pool.execute(() -> {});

        pools.occupy(pool);

        assertThat(pool.getPoolSize()).isEqualTo(2);
        assertThatThrownBy(() -> pool.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
    }

    @Test
    void with_a_direct_handoff_queue_threads_are_started_up_to_the_maximum_then_tasks_are_rejected() throws Exception {
        ThreadPool pool = pools.direct(0, 3);

        pools.occupy(pool, 3);

        assertThat(pool.getPoolSize()).isEqualTo(3);
        assertThatThrownBy(() -> pool.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
        assertThat(pool.getTaskCount()).isEqualTo(3);
    }

    @Test
    void a_direct_handoff_queue_passes_a_task_to_an_idle_thread() throws Exception {
        ThreadPool pool = pools.direct(0, 3);
        Thread thread = pool.submit(Thread::currentThread).get();
        TestPools.awaitParkedIn(thread, "take");

        assertThat(pool.submit(Thread::currentThread).get()).isSameAs(thread);
        assertThat(pool.getLargestPoolSize()).isEqualTo(1);
    }

    @EachQueue
    void core_threads_are_started_ahead_one_by_one(QueueKind queueKind) {
        ThreadPool pool = pools.of(queueKind, 2, 6, 10);

        assertThat(pool.prestartCoreThread()).isTrue();
        assertThat(pool.getPoolSize()).isEqualTo(1);
        assertThat(pool.prestartCoreThread()).isTrue();
        assertThat(pool.prestartCoreThread()).isFalse();
        assertThat(pool.getPoolSize()).isEqualTo(2);
        pool.setCorePoolSize(3);
        assertThat(pool.prestartCoreThread()).isTrue();
        assertThat(pool.prestartCoreThread()).isFalse();
        assertThat(pool.getPoolSize()).isEqualTo(3);
    }

    @EachQueue
    void core_threads_are_started_ahead_all_at_once(QueueKind queueKind) {
        ThreadPool pool = pools.of(queueKind, 2, 6, 10);

        assertThat(pool.prestartAllCoreThreads()).isEqualTo(2);
        assertThat(pool.prestartAllCoreThreads()).isZero();
        assertThat(pool.getPoolSize()).isEqualTo(2);
        pool.setCorePoolSize(5);
        assertThat(pool.prestartAllCoreThreads()).isEqualTo(3);
        assertThat(pool.getPoolSize()).isEqualTo(5);
        assertThat(pool.getLargestPoolSize()).isEqualTo(5);
    }

    @EachQueue
    void nothing_is_started_ahead_without_core_threads_or_after_shutdown(QueueKind queueKind) {
        ThreadPool coreless = pools.of(queueKind, 0, 6, 10);
        assertThat(coreless.prestartCoreThread()).isFalse();
        assertThat(coreless.prestartAllCoreThreads()).isZero();

        ThreadPool ended = pools.of(queueKind, 2, 6, 10);
        ended.shutdown();
        assertThat(ended.prestartCoreThread()).isFalse();
        assertThat(ended.prestartAllCoreThreads()).isZero();
        assertThat(ended.getLargestPoolSize()).isZero();
    }

    @EachQueue
    void threads_started_ahead_take_what_is_submitted(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 3, 6, 10);
        pool.prestartAllCoreThreads();

        pools.occupy(pool, 3);

        assertThat(pool.getPoolSize()).isEqualTo(3);
        assertThat(pool.getActiveCount()).isEqualTo(3);
    }

    @Test
    void the_largest_size_is_remembered() throws Exception {
        ThreadPool pool = pools.direct(0, 10);
        List<BlockingTask> blockers = pools.occupy(pool, 4);
        pool.setKeepAliveTime(0, TimeUnit.SECONDS);
        TestPools.release(blockers);
        Wait.until(() -> pool.getPoolSize() == 0);

        assertThat(pool.getLargestPoolSize()).isEqualTo(4);
        pools.occupy(pool);
        assertThat(pool.getLargestPoolSize()).isEqualTo(4);
        pool.shutdownNow();
        assertThat(pool.awaitTermination(1, TimeUnit.HOURS)).isTrue();
        assertThat(pool.getLargestPoolSize()).isEqualTo(4);
    }

    @EachQueue
    void illegal_sizes_are_rejected_and_change_nothing(QueueKind queueKind) {
        ThreadPool pool = pools.of(queueKind, 2, 3, 10);

        assertThatIllegalArgumentException().isThrownBy(() -> pool.setCorePoolSize(-1));
        assertThatIllegalArgumentException().isThrownBy(() -> pool.setCorePoolSize(4));
        assertThatIllegalArgumentException().isThrownBy(() -> pool.setMaximumPoolSize(1));
        assertThatIllegalArgumentException().isThrownBy(() -> pool.setMaximumPoolSize(0));
        assertThatIllegalArgumentException().isThrownBy(() -> pool.setMaximumPoolSize(-1));

        assertThat(pool.getCorePoolSize()).isEqualTo(2);
        assertThat(pool.getMaximumPoolSize()).isEqualTo(3);
        for (int size = 3; size < 6; size++) {
            int equal = size;
            pool.setMaximumPoolSize(equal);
            pool.setCorePoolSize(equal);
            assertThatIllegalArgumentException().isThrownBy(() -> pool.setMaximumPoolSize(equal - 1));
            assertThatIllegalArgumentException().isThrownBy(() -> pool.setCorePoolSize(equal + 1));
            assertThat(pool.getCorePoolSize()).isEqualTo(equal);
            assertThat(pool.getMaximumPoolSize()).isEqualTo(equal);
        }
        pool.setCorePoolSize(0);
        assertThat(pool.getCorePoolSize()).isZero();
        assertThatIllegalArgumentException().isThrownBy(() -> pool.setMaximumPoolSize(0));
        assertThat(pool.getPoolSize()).isZero();
    }

    @EachQueue
    void raising_core_starts_as_many_threads_as_there_are_waiting_tasks(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 9, 10);
        pools.occupy(pool);
        BlockingTask first = pools.blocker();
        BlockingTask second = pools.blocker();
        pool.execute(first);
        pool.execute(second);
        assertThat(pool.getPoolSize()).isEqualTo(1);

        pool.setCorePoolSize(8);

        first.awaitBegun();
        second.awaitBegun();
        assertThat(pool.getPoolSize()).isEqualTo(3);
        assertThat(pool.getQueue()).isEmpty();
    }

    @EachQueue
    void raising_core_starts_no_more_threads_than_core(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 9, 10);
        pools.occupy(pool);
        for (int i = 0; i < 5; i++) {
            pool.execute(pools.blocker());
        }

        pool.setCorePoolSize(3);

        Wait.until(() -> pool.getActiveCount() == 3); // a task leaves the queue before it runs
        assertThat(pool.getPoolSize()).isEqualTo(3);
        assertThat(pool.getQueue()).hasSize(3);
    }

    @EachQueue
    void raising_core_starts_no_thread_when_no_task_is_queued(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 9, 10);
        pools.occupy(pool);

        pool.setCorePoolSize(8);

        assertThat(pool.getPoolSize()).isEqualTo(1);
        pools.occupy(pool);
        assertThat(pool.getPoolSize()).isEqualTo(2);
    }

    @EachQueue
    void raising_core_from_0_adds_threads_to_the_one(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 0, 9, 10);
        pools.occupy(pool);
        BlockingTask waiting = pools.blocker();
        pool.execute(waiting);

        pool.setCorePoolSize(2);

        waiting.awaitBegun();
        assertThat(pool.getPoolSize()).isEqualTo(2);
    }

    @EachQueue
    void lowering_core_ends_idle_threads_when_their_keep_alive_elapses(QueueKind queueKind) {
        ThreadPool pool = pools.of(queueKind, 4, 4, 10);
        pool.setKeepAliveTime(0, TimeUnit.SECONDS);
        pool.prestartAllCoreThreads();

        pool.setCorePoolSize(1);

        Wait.until(() -> pool.getPoolSize() < 4);
        Wait.until(() -> pool.getPoolSize() == 1);
        assertThat(pool.getLargestPoolSize()).isEqualTo(4);
    }

    @EachQueue
    void lowering_the_sizes_interrupts_no_task(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 6, 6, 10);
        List<BlockingTask> blockers = pools.occupy(pool, 6);

        pool.setCorePoolSize(1);
        pool.setMaximumPoolSize(2);
        pool.setKeepAliveTime(0, TimeUnit.SECONDS);

        assertThat(pool.getPoolSize()).as("all are busy").isEqualTo(6);
        assertThat(pool.getActiveCount()).isEqualTo(6);
        assertThat(blockers).allSatisfy(blocker -> {
            assertThat(blocker.thread().isInterrupted()).isFalse();
            assertThat(blocker.interrupts()).isZero();
        });
        TestPools.release(blockers);
        Wait.until(() -> pool.getPoolSize() == 1);
        assertThat(blockers)
                .allSatisfy(blocker -> assertThat(blocker.interrupts()).isZero());
    }

    @Test
    void a_task_that_changes_the_size_of_its_own_pool_is_not_interrupted_by_it() throws Exception {
        List<String> seen = new CopyOnWriteArrayList<>();
        ThreadPool pool = pools.direct(2, 2);
        pool.setKeepAliveTime(1, TimeUnit.NANOSECONDS);
        BlockingTask other = pools.occupy(pool);
        pool.submit(() -> {
                    pool.setCorePoolSize(1);
                    seen.add("interrupted " + Thread.interrupted());
                    seen.add("threads " + pool.getPoolSize());
                    pool.allowCoreThreadTimeOut(true);
                    seen.add("interrupted " + Thread.interrupted());
                })
                .get();

        assertThat(seen).containsExactly("interrupted false", "threads 2", "interrupted false");
        assertThat(other.interrupts()).isZero();
    }

    @EachQueue
    void lowering_the_maximum_ends_idle_threads_at_once(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 4, 1);
        List<BlockingTask> blockers = pools.occupy(pool, 1);
        pool.execute(() -> {});
        blockers.addAll(pools.occupy(pool, 3));
        TestPools.release(blockers);
        TestPools.awaitCompleted(pool, 5);
        assertThat(pool.getPoolSize()).as("their keep-alive has not elapsed").isEqualTo(4);

        pool.setMaximumPoolSize(2);

        Wait.until(() -> pool.getPoolSize() == 2);
        assertThat(pool.getMaximumPoolSize()).isEqualTo(2);
        assertThat(pool.getLargestPoolSize()).isEqualTo(4);
    }

    @EachQueue
    void after_the_maximum_was_lowered_busy_threads_end_after_their_task(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 4, 1);
        List<BlockingTask> blockers = pools.occupy(pool, 1);
        BlockingTask waiting = pools.blocker();
        pool.execute(waiting);
        blockers.addAll(pools.occupy(pool, 3));

        pool.setMaximumPoolSize(1);
        blockers.subList(0, 3).forEach(BlockingTask::release);

        Wait.until(() -> pool.getPoolSize() == 1);
        assertThat(waiting.hasBegun()).as("the last one is busy").isFalse();
        blockers.getLast().release();
        assertThat(waiting.awaitBegun().thread()).isSameAs(blockers.getLast().thread());
    }

    @EachQueue
    void after_the_maximum_was_raised_the_next_task_that_finds_the_queue_full_gets_a_thread(QueueKind queueKind)
            throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 1);
        pools.occupy(pool);
        pool.execute(() -> {});
        assertThatThrownBy(() -> pool.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);

        pool.setMaximumPoolSize(2);

        pools.occupy(pool);
        assertThat(pool.getPoolSize()).isEqualTo(2);
        assertThatThrownBy(() -> pool.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
    }

    @EachQueue
    void concurrent_changes_of_all_sizes_lose_no_task(QueueKind queueKind) throws Exception {
        int n = 3;
        ThreadPool pool = pools.of(queueKind, n, 3 * n, 3 * n);
        List<BlockingTask> blockers = pools.occupy(pool, n);
        for (int i = 0; i < 3 * n; i++) {
            pool.execute(() -> {});
        }
        blockers.addAll(pools.occupy(pool, 2 * n));
        assertThat(pool.getActiveCount()).isEqualTo(3 * n);
        assertThat(pool.getTaskCount()).isEqualTo(6 * n);

        pool.setMaximumPoolSize(4 * n);
        blockers.addAll(pools.occupy(pool, n));
        assertThat(pool.getPoolSize()).isEqualTo(4 * n);
        assertThat(pool.getLargestPoolSize()).isEqualTo(4 * n);
        assertThat(pool.getTaskCount()).isEqualTo(7 * n);
        assertThat(pool.getCompletedTaskCount()).isZero();

        pool.setMaximumPoolSize(2 * n);
        TestPools.release(blockers);
        Wait.until(() -> pool.getPoolSize() == 2 * n);
        TestPools.awaitCompleted(pool, 7 * n);
        assertThat(pool.getCompletedTaskCount()).isEqualTo(7 * n);
        assertThat(pool.getPoolSize()).isEqualTo(2 * n);

        pool.setKeepAliveTime(7, TimeUnit.MILLISECONDS);
        Wait.until(() -> pool.getPoolSize() == n);
        pool.allowCoreThreadTimeOut(true);
        Wait.until(() -> pool.getPoolSize() == 0);
        assertThat(pool.getLargestPoolSize()).isEqualTo(4 * n);

        pool.shutdown();
        assertThat(pool.isTerminated()).isTrue();
        assertThat(pool.getTaskCount()).isEqualTo(7 * n);
        assertThat(pool.getCompletedTaskCount()).isEqualTo(7 * n);
    }

    @Test
    void a_thread_that_ends_while_a_task_is_queued_is_replaced() throws Exception {
        BlockingTask blocker = pools.blocker();
        ThreadPool[] pool = new ThreadPool[1];
        LinkedBlockingQueue<Runnable> queue = new LinkedBlockingQueue<>() {
            @Override
            public boolean offer(Runnable task) {
                blocker.release();
                Wait.until(() -> pool[0].getPoolSize() == 0); // the only thread has ended before the task is queued
                return super.offer(task);
            }
        };
        pool[0] = pools.keep(new ThreadPool(1, 1, 1, TimeUnit.NANOSECONDS, queue));
        pool[0].allowCoreThreadTimeOut(true);
        pool[0].execute(blocker);
        blocker.awaitBegun();

        assertThat(pool[0].submit(() -> "ran").get()).isEqualTo("ran");
    }

    @EachQueue
    void with_scaleBeforeQueueing_a_submitter_does_not_inspect_every_thread(QueueKind queueKind) throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch exit = new CountDownLatch(1);
        ThreadPool pool = pools.keep(queueKind
                .plan(1, 2, 10)
                .scaleBeforeQueueing(true)
                .threadFactory(worker -> new Thread(worker) {
                    @Override
                    public void interrupt() {
                        inside.countDown();
                        Wait.uninterruptibly(exit); // a thread that inspects the workers must wait
                        super.interrupt();
                    }
                })
                .build());
        List<BlockingTask> blockers = pools.occupy(pool, 2);
        blockers.getFirst().release();
        TestPools.awaitParkedIn(blockers.getFirst().thread(), "take");
        Thread setter = TestPools.started(() -> pool.setKeepAliveTime(2, TimeUnit.HOURS));
        inside.await();

        pool.execute(() -> {});
        pool.execute(() -> {});

        assertThat(pool.getQueue().size()).isBetween(0, 2);
        exit.countDown();
        setter.join();
        TestPools.awaitCompleted(pool, 3, 1);
    }
}
