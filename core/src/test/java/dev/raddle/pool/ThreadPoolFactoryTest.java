package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.testing.BlockingTask;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ThreadPoolFactoryTest {

    private final TestPools pools = new TestPools();

    @AfterEach
    void endAll() throws InterruptedException {
        pools.endAll();
    }

    /** Returns a factory that makes a number of threads and then delegates to another one. */
    private static ThreadFactory after(int threads, ThreadFactory then) {
        AtomicInteger calls = new AtomicInteger();
        return task -> calls.incrementAndGet() <= threads ? new Thread(task) : then.newThread(task);
    }

    private static ThreadFactory throwing(Throwable thrown) {
        return task -> {
            TestPools.<RuntimeException>sneaky(thrown);
            return null;
        };
    }

    static Stream<Throwable> throwables() {
        return Stream.of(new IllegalStateException("simulated"), new OutOfMemoryError("simulated"));
    }

    @EachQueue
    void a_pool_continues_with_its_threads_when_the_factory_makes_no_more(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 50, 50, 200);
        pool.setThreadFactory(after(1, task -> null));
        CountDownLatch runs = new CountDownLatch(100);

        for (int i = 0; i < 100; i++) {
            pool.execute(runs::countDown);
        }

        runs.await();
        TestPools.awaitCompleted(pool, 100);
        assertThat(pool.getPoolSize()).isEqualTo(1);
        assertThat(pool.getLargestPoolSize()).isEqualTo(1);
        assertThat(pool.getCompletedTaskCount()).isEqualTo(100);
        assertThat(pool.prestartCoreThread()).isFalse();
        assertThat(pool.prestartAllCoreThreads()).isZero();
    }

    @ParameterizedTest
    @MethodSource("throwables")
    void an_exception_of_the_factory_propagates_to_the_submitter_whose_task_is_not_accepted(Throwable thrown)
            throws Exception {
        for (QueueKind queueKind : QueueKind.values()) {
            AtomicInteger runs = new AtomicInteger();
            ThreadPool pool = pools.of(queueKind, 4, 4, 10);
            pool.setThreadFactory(after(2, throwing(thrown)));
            pools.occupy(pool, 2);

            assertThatThrownBy(() -> pool.execute(runs::incrementAndGet)).isSameAs(thrown);
            assertThatThrownBy(() -> pool.submit(runs::incrementAndGet)).isSameAs(thrown);
            assertThatThrownBy(pool::prestartCoreThread).isSameAs(thrown);

            assertThat(pool.getPoolSize()).isEqualTo(2);
            assertThat(pool.getTaskCount()).isEqualTo(2);
            assertThat(pool.getQueue()).isEmpty();
            pools.endAll();
            assertThat(pool.isTerminated()).isTrue();
            assertThat(runs).hasValue(0);
        }
    }

    @ParameterizedTest
    @MethodSource("throwables")
    void a_pool_that_never_got_a_thread_can_be_shut_down(Throwable thrown) throws Exception {
        for (QueueKind queueKind : QueueKind.values()) {
            ThreadPool pool = pools.of(queueKind, 4, 4, 10);
            pool.setThreadFactory(throwing(thrown));
            assertThatThrownBy(() -> pool.execute(() -> {})).isSameAs(thrown);
            assertThat(pool.getPoolSize()).isZero();
            assertThat(pool.getLargestPoolSize()).isZero();
            assertThat(pool.getTaskCount()).isZero();

            pool.shutdown();

            assertThat(pool.isTerminated()).isTrue();
        }
    }

    @EachQueue
    void a_factory_that_recovers_is_called_again(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);
        pool.setThreadFactory(throwing(new IllegalStateException("simulated")));
        assertThatThrownBy(() -> pool.execute(() -> {})).hasMessage("simulated");

        pool.setThreadFactory(Thread::new);

        assertThat(pool.submit(() -> "ran").get()).isEqualTo("ran");
        assertThat(pool.getTaskCount()).isEqualTo(1);
    }

    @EachQueue
    void a_factory_that_returns_a_started_or_ended_thread_causes_an_IllegalThreadStateException(QueueKind queueKind)
            throws Exception {
        BlockingTask blocker = pools.blocker();
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);
        pool.setThreadFactory(task -> TestPools.started(blocker));
        assertThatThrownBy(() -> pool.execute(() -> {})).isInstanceOf(IllegalThreadStateException.class);

        Thread ended = TestPools.started(() -> {});
        ended.join();
        pool.setThreadFactory(task -> ended);
        assertThatThrownBy(() -> pool.execute(() -> {})).isInstanceOf(IllegalThreadStateException.class);

        assertThat(pool.getPoolSize()).isZero();
        pool.shutdown();
        assertThat(pool.isTerminated()).isTrue();
    }

    @EachQueue
    void threads_may_be_virtual(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 2, 2, 10);
        pool.setThreadFactory(Thread.ofVirtual().factory());
        BlockingTask blocker = pools.occupy(pool);

        Future<Boolean> virtual = pool.submit(() -> Thread.currentThread().isVirtual());

        assertThat(virtual.get()).isTrue();
        pool.shutdownNow();
        blocker.awaitInterrupt();
        assertThat(pool.awaitTermination(1, TimeUnit.HOURS)).isTrue();
    }

    @Test
    void a_factory_may_query_the_pool() throws Exception {
        ThreadPool pool = pools.single();
        AtomicInteger seen = new AtomicInteger(-1);
        pool.setThreadFactory(task -> {
            seen.set(pool.getPoolSize());
            assertThat(pool.toString()).contains("Running");
            return new Thread(task);
        });

        assertThat(pool.submit(() -> "ran").get()).isEqualTo("ran");

        assertThat(seen).hasValue(0);
    }
}
