package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** No task stays in the queue without a thread, whatever the factory does. */
class FailingFactoryTest {

    private static final IllegalStateException NO_MORE = new IllegalStateException("no more threads");

    private final TestPools pools = new TestPools();
    private final List<Throwable> uncaught = new CopyOnWriteArrayList<>();
    private final List<String> ran = new CopyOnWriteArrayList<>();

    @AfterEach
    void endAll() throws InterruptedException {
        pools.endAll();
    }

    /** The ways in which a factory fails. */
    enum Failure {
        NULL {
            @Override
            Thread fail() {
                return null;
            }
        },
        EXCEPTION {
            @Override
            Thread fail() {
                throw NO_MORE;
            }
        },
        ENDED_THREAD {
            @Override
            Thread fail() {
                Thread ended = TestPools.started(() -> {});
                Wait.until(() -> ended.getState() == Thread.State.TERMINATED);
                return ended;
            }
        };

        abstract Thread fail();
    }

    private Thread reporting(Runnable task) {
        Thread thread = new Thread(task);
        thread.setUncaughtExceptionHandler((dying, thrown) -> uncaught.add(thrown));
        return thread;
    }

    /** Returns a factory that makes a number of threads and then fails. */
    private ThreadFactory after(int threads, Failure failure) {
        AtomicInteger calls = new AtomicInteger();
        return task -> calls.incrementAndGet() <= threads ? reporting(task) : failure.fail();
    }

    private void assertRefused(ThreadPool pool, Failure failure) {
        assertThatThrownBy(() -> pool.execute(() -> ran.add("never")))
                .isInstanceOf(
                        switch (failure) {
                            case NULL -> RejectedExecutionException.class;
                            case EXCEPTION -> NO_MORE.getClass();
                            case ENDED_THREAD -> IllegalThreadStateException.class;
                        });
        assertThat(pool.getQueue()).isEmpty();
        assertThat(pool.getPoolSize()).isZero();
        assertThat(pool.getTaskCount()).isZero();
        assertThat(pool.stats().accepted()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void without_core_threads_a_task_that_gets_no_thread_is_taken_back_and_rejected(Failure failure) throws Exception {
        for (QueueKind queueKind : QueueKind.values()) {
            ThreadPool pool = pools.keep(
                    queueKind.plan(0, 4, 10).threadFactory(after(0, failure)).build());

            assertRefused(pool, failure);
            assertRefused(pool, failure);

            pool.setThreadFactory(Thread::new);
            assertThat(pool.submit(() -> "ran").get()).isEqualTo("ran");
            pool.close();
            assertThat(ran).isEmpty();
            assertThat(pool.getCompletedTaskCount()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_first_task_of_a_pool_that_gets_no_thread_is_rejected(Failure failure) throws Exception {
        for (QueueKind queueKind : QueueKind.values()) {
            ThreadPool pool = pools.keep(
                    queueKind.plan(2, 4, 10).threadFactory(after(0, failure)).build());

            assertRefused(pool, failure);

            pool.shutdown();
            assertThat(pool.isTerminated()).isTrue();
            assertThat(ran).isEmpty();
        }
    }

    @EachQueue
    void a_task_that_gets_no_thread_goes_to_the_rejection_handler_once(QueueKind queueKind) {
        List<Runnable> rejected = new CopyOnWriteArrayList<>();
        ThreadPool pool = pools.keep(queueKind
                .plan(0, 1, 10)
                .threadFactory(after(0, Failure.NULL))
                .rejection((task, rejecting) -> rejected.add(task))
                .build());
        Runnable task = () -> ran.add("never");

        pool.execute(task);

        assertThat(rejected).containsExactly(task);
        assertThat(pool.getQueue()).isEmpty();
        assertThat(pool.stats().rejected()).isEqualTo(1);
    }

    @EachQueue
    void a_pool_whose_threads_have_all_ended_rejects_a_task_that_gets_no_thread(QueueKind queueKind) throws Exception {
        VirtualTime time = new VirtualTime();
        ThreadPool pool = pools.keep(queueKind
                .plan(1, 1, 10)
                .allowCoreTimeout(true)
                .keepAlive(Duration.ofSeconds(1))
                .timeSource(time)
                .threadFactory(after(1, Failure.NULL))
                .build());
        Thread thread = pool.submit(Thread::currentThread).get();
        TestPools.awaitParkedIn(thread, "take");
        Wait.until(() -> {
            time.advance(Duration.ofSeconds(1));
            return pool.getPoolSize() == 0;
        });

        assertThatThrownBy(() -> pool.execute(() -> ran.add("never"))).isInstanceOf(RejectedExecutionException.class);

        assertThat(pool.getQueue()).isEmpty();
        assertThat(pool.getTaskCount()).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    void a_thread_that_cannot_be_replaced_reports_the_exception_of_its_task_and_continues(Failure failure)
            throws Exception {
        for (QueueKind queueKind : QueueKind.values()) {
            uncaught.clear();
            ran.clear();
            ThreadPool pool = pools.keep(
                    queueKind.plan(1, 1, 10).threadFactory(after(1, failure)).build());
            IllegalArgumentException thrown = new IllegalArgumentException("simulated");
            BlockingTask blocker = pools.occupy(pool);
            pool.execute(TestPools.throwing(thrown));
            pool.execute(() -> ran.add("behind"));
            blocker.release();
            TestPools.awaitCompleted(pool, 3);

            assertThat(ran).containsExactly("behind");
            assertThat(uncaught).containsExactly(thrown);
            assertThat(blocker.thread().isAlive()).isTrue();
            assertThat(pool.submit(Thread::currentThread).get()).isSameAs(blocker.thread());
            assertThat(pool.getPoolSize()).isEqualTo(1);
            assertThat(pool.getLargestPoolSize()).isEqualTo(1);
            pool.close();
            assertThat(pool.getCompletedTaskCount()).isEqualTo(4);
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_idle_thread_that_could_not_be_replaced_waits_for_tasks_as_before(Failure failure) throws Exception {
        for (QueueKind queueKind : QueueKind.values()) {
            uncaught.clear();
            ThreadPool pool = pools.keep(
                    queueKind.plan(1, 1, 10).threadFactory(after(1, failure)).build());
            pool.execute(TestPools.throwing(new IllegalArgumentException("simulated")));
            Wait.until(() -> uncaught.size() == 1);

            assertThat(pool.submit(() -> "ran").get()).isEqualTo("ran");
            pool.execute(TestPools.throwing(new IllegalArgumentException("again")));
            assertThat(pool.submit(() -> "ran").get()).isEqualTo("ran");

            assertThat(uncaught).extracting(Throwable::getMessage).containsExactly("simulated", "again");
            assertThat(pool.getPoolSize()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void after_shutdown_a_thread_that_cannot_be_replaced_runs_the_queued_tasks(Failure failure) throws Exception {
        for (QueueKind queueKind : QueueKind.values()) {
            ran.clear();
            ThreadPool pool = pools.keep(
                    queueKind.plan(1, 1, 10).threadFactory(after(1, failure)).build());
            BlockingTask blocker = pools.occupy(pool);
            for (int i = 0; i < 3; i++) {
                pool.execute(TestPools.throwing(new IllegalArgumentException("simulated")));
                pool.execute(() -> ran.add("behind"));
            }
            pool.shutdown();
            blocker.release();

            assertThat(pool.awaitTermination(1, TimeUnit.HOURS)).isTrue();
            assertThat(ran).hasSize(3);
            assertThat(pool.getCompletedTaskCount()).isEqualTo(7);
        }
    }

    @EachQueue
    void a_factory_that_recovers_replaces_the_thread_at_its_next_failure(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.keep(queueKind
                .plan(1, 1, 10)
                .threadFactory(after(1, Failure.EXCEPTION))
                .build());
        Thread first = pool.submit(Thread::currentThread).get();
        pool.execute(TestPools.throwing(new IllegalArgumentException("simulated")));
        Wait.until(() -> uncaught.size() == 1);
        assertThat(first.isAlive()).isTrue();
        pool.setThreadFactory(this::reporting);

        pool.execute(TestPools.throwing(new IllegalArgumentException("simulated")));

        first.join();
        assertThat(uncaught).hasSize(2);
        assertThat(pool.getPoolSize()).isEqualTo(1);
        assertThat(pool.submit(Thread::currentThread).get()).isNotSameAs(first);
        assertThat(pool.getCompletedTaskCount()).isGreaterThanOrEqualTo(3);
    }

    @EachQueue
    void an_uncaught_exception_handler_that_throws_ends_no_thread_that_cannot_be_replaced(QueueKind queueKind)
            throws Exception {
        CountDownLatch reported = new CountDownLatch(1);
        AtomicInteger calls = new AtomicInteger();
        ThreadPool pool = pools.keep(queueKind
                .plan(1, 1, 10)
                .threadFactory(task -> {
                    if (calls.incrementAndGet() > 1) {
                        return null;
                    }
                    Thread thread = new Thread(task);
                    thread.setUncaughtExceptionHandler((dying, thrown) -> {
                        reported.countDown();
                        throw NO_MORE;
                    });
                    return thread;
                })
                .build());
        pool.execute(TestPools.throwing(new IllegalArgumentException("simulated")));
        reported.await();

        assertThat(pool.submit(() -> "ran").get()).isEqualTo("ran");
    }

    @EachQueue
    void a_task_queued_for_a_thread_that_did_not_start_runs_when_a_thread_is_available(QueueKind queueKind)
            throws Exception {
        VirtualTime time = new VirtualTime();
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch answer = new CountDownLatch(1);
        AtomicInteger calls = new AtomicInteger();
        ThreadPool pool = pools.keep(queueKind
                .plan(1, 1, 10)
                .timeSource(time)
                .threadFactory(task -> {
                    asked.countDown();
                    Wait.uninterruptibly(answer);
                    return calls.incrementAndGet() <= 3 ? null : new Thread(task);
                })
                .build());
        FutureTask<Object> first = new FutureTask<>(() -> {
            pool.execute(() -> ran.add("first"));
            return null;
        });
        TestPools.started(first);
        asked.await();

        pool.execute(() -> ran.add("second")); // the one thread is already counted, so this task is queued
        assertThat(pool.getQueue()).hasSize(1);
        answer.countDown();

        assertThatThrownBy(first::get)
                .as("its submitter found that there is no thread")
                .hasCauseInstanceOf(RejectedExecutionException.class);
        Wait.until(() -> {
            time.advance(Duration.ofSeconds(1));
            return pool.getCompletedTaskCount() == 1;
        });
        assertThat(ran).containsExactly("second");
        assertThat(pool.getQueue()).isEmpty();
    }
}
