package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Coincidences of two rare events. */
class PoolCornersTest {

    private final VirtualTime time = new VirtualTime();
    private final List<Throwable> uncaught = new CopyOnWriteArrayList<>();

    @Test
    void a_thread_continues_although_its_task_and_the_factory_throw_the_same_exception() throws Exception {
        IllegalStateException same = new IllegalStateException("the same");
        AtomicInteger made = new AtomicInteger();
        ThreadPool pool = ThreadPool.builder("pool")
                .threads(1)
                .threadFactory(task -> {
                    if (made.incrementAndGet() > 1) {
                        throw same;
                    }
                    return Thread.ofPlatform()
                            .uncaughtExceptionHandler((thread, failure) -> uncaught.add(failure))
                            .unstarted(task);
                })
                .build();
        CountDownLatch ran = new CountDownLatch(1);

        pool.execute(() -> {
            throw same;
        });
        pool.execute(ran::countDown);
        ran.await();
        pool.shutdown();

        assertThat(pool.awaitTermination(1, TimeUnit.HOURS)).isTrue();
        assertThat(uncaught).containsExactly(same);
        assertThat(same.getSuppressed()).isEmpty();
    }

    @Test
    void a_submitter_does_not_wait_if_no_thread_can_make_room() {
        for (PoolBuilder plan : List.of(
                ThreadPool.builder("pool"),
                ThreadPool.builder("pool").queueCapacity(1),
                ThreadPool.builder("pool").queue(new ArrayBlockingQueue<>(1)))) {
            ThreadPool pool = plan.coreThreads(0)
                    .rejection(new ThreadPool.BlockPolicy())
                    .threadFactory(task -> null)
                    .build();

            assertThatThrownBy(() -> pool.execute(() -> {}))
                    .isInstanceOf(RejectedExecutionException.class)
                    .hasMessageContaining("no thread was available");
            assertThat(pool.getQueue()).isEmpty();
            pool.shutdown();
            assertThat(pool.isTerminated()).isTrue();
        }
    }

    @Test
    void changes_of_the_keep_alive_keep_one_alarm_for_each_idle_thread_and_termination_leaves_none() throws Exception {
        ThreadPool pool = ThreadPool.builder("pool")
                .threads(2)
                .allowCoreTimeout(true)
                .keepAlive(Duration.ofNanos(Long.MAX_VALUE))
                .timeSource(time)
                .build();
        pool.prestartAllCoreThreads();
        time.awaitAlarms(2);

        for (int seconds = 100; seconds > 50; seconds--) {
            pool.setKeepAliveTime(seconds, TimeUnit.SECONDS);
            time.awaitAlarms(2);
        }
        Wait.until(() -> time.alarms() == 2); // the threads replace their alarms
        pool.shutdown();

        Wait.until(pool::isTerminated);
        assertThat(time.alarms()).isZero();
    }

    @Test
    void a_drain_reports_although_terminated_throws() {
        IllegalStateException failure = new IllegalStateException("from terminated()");
        Thread.UncaughtExceptionHandler before = Thread.currentThread().getUncaughtExceptionHandler();
        Thread.currentThread().setUncaughtExceptionHandler((thread, thrown) -> uncaught.add(thrown));
        try {
            ThreadPool pool = new ThreadPool(ThreadPool.builder("pool")) {
                @Override
                protected void terminated() {
                    throw failure;
                }
            };

            ShutdownReport report = pool.drain(Duration.ofSeconds(1));

            assertThat(report.terminated()).isTrue();
            assertThat(uncaught).containsExactly(failure);
        } finally {
            Thread.currentThread().setUncaughtExceptionHandler(before);
        }
    }
}
