package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The keep-alive of idle threads, in virtual time. */
class KeepAliveTest {

    private static final Duration KEEP_ALIVE = Duration.ofSeconds(10);
    private static final Duration ALMOST = KEEP_ALIVE.minusNanos(1);
    private static final Duration NANOSECOND = Duration.ofNanos(1);

    private final TestPools pools = new TestPools();
    private final VirtualTime time = new VirtualTime();

    @AfterEach
    void endAll() throws InterruptedException {
        pools.endAll();
    }

    private PoolBuilder plan(QueueKind queueKind, int core, int max) {
        return queueKind.plan(core, max, 1).keepAlive(KEEP_ALIVE).timeSource(time);
    }

    /** Starts a number of threads in a pool, and returns when all are idle. */
    private List<Thread> idle(ThreadPool pool, int threads) throws InterruptedException {
        List<BlockingTask> blockers = pools.occupy(pool, Math.max(1, pool.getCorePoolSize()));
        if (threads > blockers.size()) {
            pool.execute(() -> {}); // fills the queue
        }
        blockers.addAll(pools.occupy(pool, threads - blockers.size()));
        TestPools.release(blockers);
        List<Thread> idle = blockers.stream().map(BlockingTask::thread).toList();
        Wait.until(() -> pool.getQueue().isEmpty() && pool.getActiveCount() == 0);
        idle.forEach(KeepAliveTest::awaitIdle);
        return idle;
    }

    /** Waits until a thread waits for a task, not for a lock. */
    private static void awaitIdle(Thread thread) {
        TestPools.awaitParkedIn(thread, "take");
    }

    @EachQueue
    void threads_beyond_core_end_when_their_keep_alive_elapses_and_not_before(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.keep(plan(queueKind, 1, 4).build());
        idle(pool, 4);

        time.advance(ALMOST);
        assertThat(pool.getPoolSize()).isEqualTo(4);
        time.advance(NANOSECOND);

        Wait.until(() -> pool.getPoolSize() == 1);
        time.advance(Duration.ofDays(365));
        assertThat(pool.getPoolSize()).as("core stays").isEqualTo(1);
        assertThat(pool.submit(() -> "still there").get()).isEqualTo("still there");
        assertThat(pool.getLargestPoolSize()).isEqualTo(4);
    }

    @EachQueue
    void core_threads_end_when_their_keep_alive_elapses_if_allowed(QueueKind queueKind) throws Exception {
        ThreadPool pool =
                pools.keep(plan(queueKind, 2, 2).allowCoreTimeout(true).build());
        assertThat(pool.allowsCoreThreadTimeOut()).isTrue();
        idle(pool, 2);

        time.advance(ALMOST);
        assertThat(pool.getPoolSize()).isEqualTo(2);
        time.advance(NANOSECOND);

        Wait.until(() -> pool.getPoolSize() == 0);
        assertThat(pool.submit(() -> "a new one").get()).isEqualTo("a new one");
    }

    @EachQueue
    void idle_core_threads_end_one_keep_alive_time_after_they_are_allowed_to(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.keep(plan(queueKind, 2, 2).build());
        List<Thread> threads = idle(pool, 2);
        time.advance(Duration.ofDays(1));
        assertThat(pool.getPoolSize()).isEqualTo(2);

        pool.allowCoreThreadTimeOut(true);
        time.awaitAlarms(1);
        threads.forEach(KeepAliveTest::awaitIdle);
        Wait.until(() -> {
            time.advance(KEEP_ALIVE); // repeated until both have begun to wait again
            return pool.getPoolSize() == 0;
        });

        assertThat(pool.getLargestPoolSize()).isEqualTo(2);
    }

    @EachQueue
    void a_task_restarts_the_keep_alive_of_its_thread(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.keep(plan(queueKind, 0, 1).build());
        Thread thread = idle(pool, 1).getFirst();
        time.advance(Duration.ofSeconds(6));
        assertThat(pool.submit(Thread::currentThread).get()).isSameAs(thread);
        TestPools.awaitCompleted(pool, 2);
        awaitIdle(thread);

        time.advance(ALMOST);
        assertThat(pool.getPoolSize()).isEqualTo(1);
        time.advance(NANOSECOND);

        thread.join();
        assertThat(pool.getPoolSize()).isZero();
    }

    @EachQueue
    void a_shorter_keep_alive_applies_to_idle_threads(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.keep(plan(queueKind, 1, 3).build());
        List<Thread> threads = idle(pool, 3);
        pool.setKeepAliveTime(2, TimeUnit.SECONDS);
        threads.forEach(KeepAliveTest::awaitIdle);

        Wait.until(() -> {
            time.advance(Duration.ofSeconds(1));
            return pool.getPoolSize() == 1;
        });

        assertThat(time.nanoTime())
                .as("the former keep-alive no longer applies")
                .isGreaterThanOrEqualTo(Duration.ofSeconds(2).toNanos());
    }

    @EachQueue
    void a_shorter_keep_alive_counts_from_the_moment_at_which_it_is_set(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.keep(plan(queueKind, 0, 1).build());
        Thread thread = idle(pool, 1).getFirst();
        time.advance(Duration.ofSeconds(5));

        pool.setKeepAliveTime(2, TimeUnit.SECONDS);
        awaitIdle(thread);
        time.advance(Duration.ofSeconds(2).minusNanos(1));
        assertThat(pool.submit(Thread::currentThread).get()).isSameAs(thread);
    }

    @EachQueue
    void a_keep_alive_that_is_set_to_its_present_value_does_not_restart_the_wait(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.keep(plan(queueKind, 0, 1).build());
        Thread thread = idle(pool, 1).getFirst();
        time.advance(Duration.ofSeconds(9));

        pool.setKeepAliveTime(KEEP_ALIVE.toMillis(), TimeUnit.MILLISECONDS);
        awaitIdle(thread);
        time.advance(Duration.ofSeconds(1));

        Wait.until(() -> pool.getPoolSize() == 0);
    }

    @EachQueue
    void many_idle_core_threads_wait_anew_for_a_shorter_keep_alive(QueueKind queueKind) throws Exception {
        ThreadPool pool =
                pools.keep(plan(queueKind, 16, 16).allowCoreTimeout(true).build());
        idle(pool, 16);
        time.advance(Duration.ofSeconds(9));

        pool.setKeepAliveTime(2, TimeUnit.SECONDS);
        time.advance(Duration.ofSeconds(2).minusNanos(1));
        assertThat(pool.getPoolSize()).isEqualTo(16);

        Wait.until(() -> {
            time.advance(Duration.ofSeconds(1));
            return pool.getPoolSize() == 0;
        });
        assertThat(pool.getLargestPoolSize()).isEqualTo(16);
    }

    @EachQueue
    void a_longer_keep_alive_applies_to_idle_threads(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.keep(plan(queueKind, 0, 1).build());
        Thread thread = idle(pool, 1).getFirst();
        time.advance(Duration.ofSeconds(5));

        pool.setKeepAliveTime(20, TimeUnit.SECONDS);
        awaitIdle(thread);
        time.advance(Duration.ofSeconds(10));
        assertThat(pool.getPoolSize()).isEqualTo(1);
        assertThat(pool.submit(Thread::currentThread).get()).isSameAs(thread);
        TestPools.awaitCompleted(pool, 2);
        awaitIdle(thread);

        time.advance(Duration.ofSeconds(20));
        thread.join();
        assertThat(pool.getPoolSize()).isZero();
    }

    @EachQueue
    void with_zero_keep_alive_threads_beyond_core_end_although_no_time_passes(QueueKind queueKind) throws Exception {
        ThreadPool pool =
                pools.keep(plan(queueKind, 1, 3).keepAlive(Duration.ZERO).build());
        List<BlockingTask> blockers = pools.occupy(pool, 1);
        pool.execute(() -> {});
        blockers.addAll(pools.occupy(pool, 2));

        TestPools.release(blockers);

        Wait.until(() -> pool.getPoolSize() == 1);
        assertThat(time.nanoTime()).isZero();
    }

    @EachQueue
    void a_terminated_pool_leaves_no_alarm_behind(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.keep(
                plan(queueKind, 1, 3).stuckAfter(Duration.ofSeconds(1)).build());
        idle(pool, 3);

        pool.shutdown();

        assertThat(pool.awaitTermination(1, TimeUnit.HOURS)).isTrue();
        Wait.until(() -> time.alarms() == 0);
    }

    @EachQueue
    void tasks_submitted_while_threads_end_are_run(QueueKind queueKind) throws Exception {
        AtomicInteger runs = new AtomicInteger();
        ThreadPool pool = pools.keep(plan(queueKind, 0, 2).build());
        for (int i = 1; i <= 300; i++) {
            pool.execute(runs::incrementAndGet);
            time.advance(KEEP_ALIVE); // may reach the thread before, during or after its wait
            int expected = i;
            Wait.until(() -> runs.get() == expected);
        }

        assertThat(pool.getTaskCount()).isEqualTo(300);
    }

    private record DelayedTask(long due) implements Delayed, Runnable {
        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(due - System.nanoTime(), TimeUnit.NANOSECONDS);
        }

        @Override
        public int compareTo(Delayed other) {
            return 0;
        }

        @Override
        public void run() {}
    }

    @Test
    void the_last_thread_stays_while_a_delayed_task_is_queued() throws Exception {
        @SuppressWarnings({"unchecked", "rawtypes"})
        BlockingQueue<Runnable> queue = (BlockingQueue) new DelayQueue<>();
        AtomicInteger made = new AtomicInteger();
        ThreadPool pool = pools.keep(ThreadPool.builder("delayed")
                .coreThreads(0)
                .maxThreads(3)
                .keepAlive(KEEP_ALIVE)
                .queue(queue)
                .timeSource(time)
                .threadFactory(task -> {
                    made.incrementAndGet();
                    return new Thread(task);
                })
                .build());
        Runnable tomorrow = new DelayedTask(System.nanoTime() + TimeUnit.DAYS.toNanos(1));
        pool.execute(tomorrow);
        time.awaitAlarms(1);
        for (int i = 0; i < 20; i++) {
            time.advance(KEEP_ALIVE);
            assertThat(pool.getPoolSize()).isEqualTo(1);
        }

        assertThat(pool.remove(tomorrow)).isTrue();

        Wait.until(() -> {
            time.advance(KEEP_ALIVE);
            return pool.getPoolSize() == 0;
        });
        assertThat(made).as("no thread was started in the place of another").hasValue(1);
    }
}
