package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.Wait;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The keep-alive of idle threads, in real time. */
class ThreadPoolTimeoutTest {

    private final TestPools pools = new TestPools();

    @AfterEach
    void endAll() throws InterruptedException {
        pools.endAll();
    }

    @Test
    void threads_beyond_core_end_after_the_keep_alive_time_and_core_threads_stay() throws Exception {
        ThreadPool pool = pools.direct(3, 6);
        pool.setKeepAliveTime(12, TimeUnit.MILLISECONDS);
        List<BlockingTask> blockers = pools.occupy(pool, 6);
        assertThat(pool.getPoolSize()).isEqualTo(6);

        long before = System.nanoTime();
        TestPools.release(blockers);
        Wait.until(() -> pool.getPoolSize() < 6);
        assertThat(System.nanoTime() - before).isGreaterThanOrEqualTo(12_000_000);
        Wait.until(() -> pool.getPoolSize() == 3);

        assertThat(pool.awaitTermination(15, TimeUnit.MILLISECONDS)).isFalse();
        assertThat(pool.getPoolSize()).as("core stays").isEqualTo(3);
        assertThat(pool.getCorePoolSize()).isEqualTo(3);
        assertThat(pool.getMaximumPoolSize()).isEqualTo(6);
    }

    @EachQueue
    void with_zero_keep_alive_threads_beyond_core_end_when_no_task_is_queued(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 3, 1);
        pool.setKeepAliveTime(0, TimeUnit.SECONDS);
        List<BlockingTask> blockers = pools.occupy(pool, 1);
        pool.execute(() -> {});
        blockers.addAll(pools.occupy(pool, 2));
        assertThat(pool.getPoolSize()).isEqualTo(3);

        TestPools.release(blockers);

        Wait.until(() -> pool.getPoolSize() == 1);
        TestPools.awaitCompleted(pool, 4);
        assertThat(pool.getPoolSize()).isEqualTo(1);
    }

    @EachQueue
    void core_threads_time_out_when_allowed_to_and_are_started_again(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 3, 3, 10);
        pool.setKeepAliveTime(3, TimeUnit.MILLISECONDS);
        pool.allowCoreThreadTimeOut(true);
        assertThat(pool.allowsCoreThreadTimeOut()).isTrue();

        long before = System.nanoTime();
        for (int i = 0; i < 3; i++) {
            pool.submit(() -> {}).get();
        }
        Wait.until(() -> pool.getPoolSize() == 0);

        assertThat(System.nanoTime() - before).isGreaterThanOrEqualTo(3_000_000);
        assertThat(pool.submit(() -> "again").get()).isEqualTo("again");
        pool.shutdown();
        assertThat(pool.awaitTermination(1, TimeUnit.HOURS)).isTrue();
        assertThat(pool.allowsCoreThreadTimeOut()).isTrue();
    }

    @EachQueue
    void idle_core_threads_end_when_they_become_allowed_to(QueueKind queueKind) {
        ThreadPool pool = pools.of(queueKind, 3, 3, 10);
        pool.setKeepAliveTime(1, TimeUnit.MILLISECONDS);
        pool.prestartAllCoreThreads();

        pool.allowCoreThreadTimeOut(true);

        Wait.until(() -> pool.getPoolSize() == 0);
        assertThat(pool.getLargestPoolSize()).isEqualTo(3);
    }

    @EachQueue
    void core_threads_stay_when_they_are_not_allowed_to_time_out(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 2, 4, 10);
        pool.setKeepAliveTime(1, TimeUnit.MILLISECONDS);
        pool.allowCoreThreadTimeOut(false);
        pool.prestartAllCoreThreads();

        assertThat(pool.awaitTermination(10, TimeUnit.MILLISECONDS)).isFalse();

        assertThat(pool.getPoolSize()).isEqualTo(2);
        pool.allowCoreThreadTimeOut(true);
        Wait.until(() -> pool.getPoolSize() == 0);
        pool.allowCoreThreadTimeOut(false);
        assertThat(pool.allowsCoreThreadTimeOut()).isFalse();
        Thread thread = pool.submit(Thread::currentThread).get();
        assertThat(pool.awaitTermination(10, TimeUnit.MILLISECONDS)).isFalse();
        assertThat(thread.isAlive()).isTrue();
    }

    @Test
    void a_shorter_keep_alive_time_applies_to_idle_threads() throws Exception {
        ThreadPool pool = pools.direct(1, 4);
        List<BlockingTask> blockers = pools.occupy(pool, 4);
        TestPools.release(blockers);
        blockers.forEach(blocker -> TestPools.awaitParked(blocker.thread()));
        assertThat(pool.getPoolSize()).isEqualTo(4);

        pool.setKeepAliveTime(1, TimeUnit.MILLISECONDS);

        Wait.until(() -> pool.getPoolSize() == 1);
        assertThat(pool.getKeepAliveTime(TimeUnit.MICROSECONDS)).isEqualTo(1000);
    }

    @Test
    void a_shorter_keep_alive_time_interrupts_no_task() throws Exception {
        ThreadPool pool = pools.direct(0, 2);
        BlockingTask blocker = pools.occupy(pool);

        pool.setKeepAliveTime(1, TimeUnit.NANOSECONDS);
        pool.allowCoreThreadTimeOut(true);

        assertThat(blocker.thread().isInterrupted()).isFalse();
        assertThat(blocker.interrupts()).isZero();
    }

    @EachQueue
    void an_illegal_keep_alive_time_is_rejected(QueueKind queueKind) {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);

        assertThatIllegalArgumentException().isThrownBy(() -> pool.setKeepAliveTime(-1, TimeUnit.SECONDS));
        assertThatNullPointerException().isThrownBy(() -> pool.setKeepAliveTime(1, null));
        assertThatNullPointerException().isThrownBy(() -> pool.getKeepAliveTime(null));
        assertThat(pool.getKeepAliveTime(TimeUnit.MINUTES)).isEqualTo(60);
    }

    @EachQueue
    void core_threads_that_may_time_out_need_a_keep_alive_time(QueueKind queueKind) {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);
        pool.setKeepAliveTime(0, TimeUnit.SECONDS);

        assertThatIllegalArgumentException().isThrownBy(() -> pool.allowCoreThreadTimeOut(true));
        assertThat(pool.allowsCoreThreadTimeOut()).isFalse();
        pool.allowCoreThreadTimeOut(false);

        pool.setKeepAliveTime(1, TimeUnit.HOURS);
        pool.allowCoreThreadTimeOut(true);
        assertThatIllegalArgumentException().isThrownBy(() -> pool.setKeepAliveTime(0, TimeUnit.SECONDS));
        assertThat(pool.getKeepAliveTime(TimeUnit.HOURS)).isEqualTo(1);
        assertThat(pool.allowsCoreThreadTimeOut()).isTrue();
    }

    @Test
    void one_thread_stays_for_a_task_that_is_not_due_and_no_other_is_started() {
        record DelayedTask(long due) implements Delayed, Runnable {
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
        @SuppressWarnings({"unchecked", "rawtypes"})
        BlockingQueue<Runnable> queue = (BlockingQueue) new DelayQueue<>();
        AtomicInteger made = new AtomicInteger();
        ThreadPool pool = pools.on(queue, 5, 5);
        pool.setThreadFactory(task -> {
            made.incrementAndGet();
            return new Thread(task);
        });
        Runnable tomorrow = new DelayedTask(System.nanoTime() + TimeUnit.DAYS.toNanos(1));
        pool.setKeepAliveTime(1, TimeUnit.MILLISECONDS);
        queue.add(tomorrow);
        pool.prestartAllCoreThreads();

        pool.allowCoreThreadTimeOut(true);

        Wait.until(() -> pool.getPoolSize() == 1);
        assertThat(made).hasValue(5);
        assertThat(pool.shutdownNow()).containsExactly(tomorrow);
        assertThat(made).hasValue(5);
    }
}
