package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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

    // K1
    @EachQueue
    void below_core_every_task_gets_a_new_thread_although_others_are_idle(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 2, 4, 10);

        Thread first = pool.submit(Thread::currentThread).get();
        TestPools.awaitCompleted(pool, 1);
        Thread second = pool.submit(Thread::currentThread).get();
        TestPools.awaitCompleted(pool, 2);
        Thread third = pool.submit(Thread::currentThread).get();

        assertThat(second).isNotSameAs(first);
        assertThat(third).isIn(first, second);
        assertThat(pool.getPoolSize()).isEqualTo(2);
    }

    // K1
    @EachQueue
    void tasks_get_core_threads_then_places_in_the_queue_then_more_threads_and_are_rejected_last(Backlog backlog)
            throws Exception {
        List<String> order = new CopyOnWriteArrayList<>();
        ThreadPool pool = pools.of(backlog, 1, 3, 2);

        Plug core = pools.occupy(pool);
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

        core.letGo();
        Wait.until(() -> pool.getCompletedTaskCount() == 3);
        assertThat(order).containsExactly("queued first", "queued second");
    }

    // K1
    @EachQueue
    void with_room_in_the_queue_there_are_never_more_than_core_threads(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 2, 8, 100);
        List<Plug> plugs = pools.occupy(pool, 2);

        for (int i = 0; i < 100; i++) {
            pool.execute(() -> {});
        }

        assertThat(pool.getPoolSize()).isEqualTo(2);
        TestPools.letGo(plugs);
        TestPools.awaitCompleted(pool, 102);
        assertThat(pool.getLargestPoolSize()).isEqualTo(2);
        assertThat(pool.getCompletedTaskCount()).isEqualTo(102);
    }

    // G5
    @EachQueue
    void with_core_0_one_thread_works_through_the_queue(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 0, 4, 10);
        Plug plug = pools.occupy(pool);
        Plug behind = pools.plug();
        pool.execute(behind);

        assertThat(pool.getPoolSize()).isEqualTo(1);
        assertThat(pool.getQueue()).containsExactly(behind);
        plug.letGo();

        assertThat(behind.awaitBegun().thread()).isSameAs(plug.thread());
    }

    // G5
    @EachQueue
    void with_core_0_more_threads_come_when_the_queue_is_full(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 0, 2, 1);
        pools.occupy(pool);
        pool.execute(() -> {});

        pools.occupy(pool);

        assertThat(pool.getPoolSize()).isEqualTo(2);
        assertThatThrownBy(() -> pool.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
    }

    // K1
    @Test
    void a_queue_that_hands_over_makes_threads_up_to_the_maximum_and_then_rejects() throws Exception {
        ThreadPool pool = pools.direct(0, 3);

        pools.occupy(pool, 3);

        assertThat(pool.getPoolSize()).isEqualTo(3);
        assertThatThrownBy(() -> pool.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
        assertThat(pool.getTaskCount()).isEqualTo(3);
    }

    // K1
    @Test
    void a_queue_that_hands_over_gives_a_task_to_an_idle_thread() throws Exception {
        ThreadPool pool = pools.direct(0, 3);
        Thread thread = pool.submit(Thread::currentThread).get();
        TestPools.awaitParked(thread);

        assertThat(pool.submit(Thread::currentThread).get()).isSameAs(thread);
        assertThat(pool.getLargestPoolSize()).isEqualTo(1);
    }

    @EachQueue
    void core_threads_are_started_ahead_one_by_one(Backlog backlog) {
        ThreadPool pool = pools.of(backlog, 2, 6, 10);

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
    void core_threads_are_started_ahead_all_at_once(Backlog backlog) {
        ThreadPool pool = pools.of(backlog, 2, 6, 10);

        assertThat(pool.prestartAllCoreThreads()).isEqualTo(2);
        assertThat(pool.prestartAllCoreThreads()).isZero();
        assertThat(pool.getPoolSize()).isEqualTo(2);
        pool.setCorePoolSize(5);
        assertThat(pool.prestartAllCoreThreads()).isEqualTo(3);
        assertThat(pool.getPoolSize()).isEqualTo(5);
        assertThat(pool.getLargestPoolSize()).isEqualTo(5);
    }

    @EachQueue
    void nothing_is_started_ahead_without_core_threads_or_after_shutdown(Backlog backlog) {
        ThreadPool coreless = pools.of(backlog, 0, 6, 10);
        assertThat(coreless.prestartCoreThread()).isFalse();
        assertThat(coreless.prestartAllCoreThreads()).isZero();

        ThreadPool ended = pools.of(backlog, 2, 6, 10);
        ended.shutdown();
        assertThat(ended.prestartCoreThread()).isFalse();
        assertThat(ended.prestartAllCoreThreads()).isZero();
        assertThat(ended.getLargestPoolSize()).isZero();
    }

    @EachQueue
    void threads_started_ahead_take_what_is_submitted(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 3, 6, 10);
        pool.prestartAllCoreThreads();

        pools.occupy(pool, 3);

        assertThat(pool.getPoolSize()).isEqualTo(3);
        assertThat(pool.getActiveCount()).isEqualTo(3);
    }

    // K7
    @Test
    void the_largest_size_is_remembered() throws Exception {
        ThreadPool pool = pools.direct(0, 10);
        List<Plug> plugs = pools.occupy(pool, 4);
        pool.setKeepAliveTime(0, TimeUnit.SECONDS);
        TestPools.letGo(plugs);
        Wait.until(() -> pool.getPoolSize() == 0);

        assertThat(pool.getLargestPoolSize()).isEqualTo(4);
        pools.occupy(pool);
        assertThat(pool.getLargestPoolSize()).isEqualTo(4);
        pool.shutdownNow();
        assertThat(pool.awaitTermination(1, TimeUnit.HOURS)).isTrue();
        assertThat(pool.getLargestPoolSize()).isEqualTo(4);
    }

    // K1
    @EachQueue
    void sizes_that_make_no_sense_are_refused_and_change_nothing(Backlog backlog) {
        ThreadPool pool = pools.of(backlog, 2, 3, 10);

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

    // K1
    @EachQueue
    void raising_core_starts_as_many_threads_as_there_are_waiting_tasks(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 9, 10);
        pools.occupy(pool);
        Plug first = pools.plug();
        Plug second = pools.plug();
        pool.execute(first);
        pool.execute(second);
        assertThat(pool.getPoolSize()).isEqualTo(1);

        pool.setCorePoolSize(8);

        first.awaitBegun();
        second.awaitBegun();
        assertThat(pool.getPoolSize()).isEqualTo(3);
        assertThat(pool.getQueue()).isEmpty();
    }

    // K1
    @EachQueue
    void raising_core_starts_no_more_threads_than_core(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 9, 10);
        pools.occupy(pool);
        for (int i = 0; i < 5; i++) {
            pool.execute(pools.plug());
        }

        pool.setCorePoolSize(3);

        Wait.until(() -> pool.getActiveCount() == 3); // a task leaves the queue a moment before it runs
        assertThat(pool.getPoolSize()).isEqualTo(3);
        assertThat(pool.getQueue()).hasSize(3);
    }

    // K1
    @EachQueue
    void raising_core_starts_no_thread_when_nothing_waits(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 9, 10);
        pools.occupy(pool);

        pool.setCorePoolSize(8);

        assertThat(pool.getPoolSize()).isEqualTo(1);
        pools.occupy(pool);
        assertThat(pool.getPoolSize()).isEqualTo(2);
    }

    // G5
    @EachQueue
    void raising_core_from_0_helps_the_one_thread(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 0, 9, 10);
        pools.occupy(pool);
        Plug waiting = pools.plug();
        pool.execute(waiting);

        pool.setCorePoolSize(2);

        waiting.awaitBegun();
        assertThat(pool.getPoolSize()).isEqualTo(2);
    }

    // K1
    @EachQueue
    void lowering_core_sends_idle_threads_away_when_their_time_is_up(Backlog backlog) {
        ThreadPool pool = pools.of(backlog, 4, 4, 10);
        pool.setKeepAliveTime(0, TimeUnit.SECONDS);
        pool.prestartAllCoreThreads();

        pool.setCorePoolSize(1);

        Wait.until(() -> pool.getPoolSize() < 4);
        Wait.until(() -> pool.getPoolSize() == 1);
        assertThat(pool.getLargestPoolSize()).isEqualTo(4);
    }

    // K1, G8
    @EachQueue
    void lowering_the_sizes_interrupts_no_task(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 6, 6, 10);
        List<Plug> plugs = pools.occupy(pool, 6);

        pool.setCorePoolSize(1);
        pool.setMaximumPoolSize(2);
        pool.setKeepAliveTime(0, TimeUnit.SECONDS);

        assertThat(pool.getPoolSize()).as("all are busy").isEqualTo(6);
        assertThat(pool.getActiveCount()).isEqualTo(6);
        assertThat(plugs).allSatisfy(plug -> {
            assertThat(plug.thread().isInterrupted()).isFalse();
            assertThat(plug.interrupts()).isZero();
        });
        TestPools.letGo(plugs);
        Wait.until(() -> pool.getPoolSize() == 1);
        assertThat(plugs).allSatisfy(plug -> assertThat(plug.interrupts()).isZero());
    }

    // G8
    @Test
    void a_task_that_changes_the_size_of_its_own_pool_is_not_interrupted_by_it() throws Exception {
        List<String> seen = new CopyOnWriteArrayList<>();
        ThreadPool pool = pools.direct(2, 2);
        pool.setKeepAliveTime(1, TimeUnit.NANOSECONDS);
        Plug other = pools.occupy(pool);
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

    // K1
    @EachQueue
    void lowering_the_maximum_sends_idle_threads_away_at_once(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 4, 1);
        List<Plug> plugs = pools.occupy(pool, 1);
        pool.execute(() -> {});
        plugs.addAll(pools.occupy(pool, 3));
        TestPools.letGo(plugs);
        TestPools.awaitCompleted(pool, 5);
        assertThat(pool.getPoolSize()).as("their hour is not over").isEqualTo(4);

        pool.setMaximumPoolSize(2);

        Wait.until(() -> pool.getPoolSize() == 2);
        assertThat(pool.getMaximumPoolSize()).isEqualTo(2);
        assertThat(pool.getLargestPoolSize()).isEqualTo(4);
    }

    // K1
    @EachQueue
    void after_the_maximum_was_lowered_busy_threads_leave_when_their_task_has_ended(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 4, 1);
        List<Plug> plugs = pools.occupy(pool, 1);
        Plug waiting = pools.plug();
        pool.execute(waiting);
        plugs.addAll(pools.occupy(pool, 3));

        pool.setMaximumPoolSize(1);
        plugs.subList(0, 3).forEach(Plug::letGo);

        Wait.until(() -> pool.getPoolSize() == 1);
        assertThat(waiting.hasBegun()).as("the last one is busy").isFalse();
        plugs.getLast().letGo();
        assertThat(waiting.awaitBegun().thread()).isSameAs(plugs.getLast().thread());
    }

    // K1
    @EachQueue
    void after_the_maximum_was_raised_the_next_task_that_finds_the_queue_full_gets_a_thread(Backlog backlog)
            throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 1);
        pools.occupy(pool);
        pool.execute(() -> {});
        assertThatThrownBy(() -> pool.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);

        pool.setMaximumPoolSize(2);

        pools.occupy(pool);
        assertThat(pool.getPoolSize()).isEqualTo(2);
        assertThatThrownBy(() -> pool.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
    }

    // K1, K7
    @EachQueue
    void a_pool_lives_through_changes_of_all_its_sizes_without_losing_a_task(Backlog backlog) throws Exception {
        int n = 3;
        ThreadPool pool = pools.of(backlog, n, 3 * n, 3 * n);
        List<Plug> plugs = pools.occupy(pool, n);
        for (int i = 0; i < 3 * n; i++) {
            pool.execute(() -> {});
        }
        plugs.addAll(pools.occupy(pool, 2 * n));
        assertThat(pool.getActiveCount()).isEqualTo(3 * n);
        assertThat(pool.getTaskCount()).isEqualTo(6 * n);

        pool.setMaximumPoolSize(4 * n);
        plugs.addAll(pools.occupy(pool, n));
        assertThat(pool.getPoolSize()).isEqualTo(4 * n);
        assertThat(pool.getLargestPoolSize()).isEqualTo(4 * n);
        assertThat(pool.getTaskCount()).isEqualTo(7 * n);
        assertThat(pool.getCompletedTaskCount()).isZero();

        pool.setMaximumPoolSize(2 * n);
        TestPools.letGo(plugs);
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

    // G5
    @Test
    void a_thread_that_leaves_while_a_task_is_put_into_the_queue_is_replaced() throws Exception {
        Plug plug = pools.plug();
        ThreadPool[] pool = new ThreadPool[1];
        LinkedBlockingQueue<Runnable> queue = new LinkedBlockingQueue<>() {
            @Override
            public boolean offer(Runnable task) {
                plug.letGo();
                Wait.until(() -> pool[0].getPoolSize() == 0); // the only thread is gone before the task is in the queue
                return super.offer(task);
            }
        };
        pool[0] = pools.keep(new ThreadPool(1, 1, 1, TimeUnit.NANOSECONDS, queue));
        pool[0].allowCoreThreadTimeOut(true);
        pool[0].execute(plug);
        plug.awaitBegun();

        assertThat(pool[0].submit(() -> "ran").get()).isEqualTo("ran");
    }

    // K1
    @EachQueue
    void a_submitter_to_a_pool_that_scales_first_does_not_look_at_every_thread(Backlog backlog) throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch exit = new CountDownLatch(1);
        ThreadPool pool = pools.keep(backlog.plan(1, 2, 10)
                .scaleBeforeQueueing(true)
                .threadFactory(worker -> new Thread(worker) {
                    @Override
                    public void interrupt() {
                        inside.countDown();
                        Wait.uninterruptibly(exit); // whoever looks at the threads must wait
                        super.interrupt();
                    }
                })
                .build());
        List<Plug> plugs = pools.occupy(pool, 2);
        plugs.getFirst().letGo();
        TestPools.awaitParkedIn(plugs.getFirst().thread(), "take");
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
