package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.testing.BlockingTask;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;

class ThreadPoolFuturesTest {

    private static final String VALUE = "value";
    private static final Callable<String> GOOD = () -> VALUE;
    private static final Callable<String> BAD = () -> {
        throw new IOException("simulated");
    };

    private final TestPools pools = new TestPools();

    @AfterEach
    void endAll() throws InterruptedException {
        pools.endAll();
    }

    private static Callable<String> inside(BlockingTask blocker) {
        return Executors.callable(blocker, VALUE);
    }

    @EachQueue
    void a_future_holds_what_the_task_returned(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 2, 2, 10);
        AtomicInteger runs = new AtomicInteger();

        assertThat(pool.submit(GOOD).get()).isSameAs(VALUE);
        assertThat(pool.submit(GOOD).get(1, TimeUnit.HOURS)).isSameAs(VALUE);
        assertThat(pool.submit(runs::incrementAndGet, VALUE).get()).isSameAs(VALUE);
        Runnable runnable = runs::incrementAndGet;
        Future<?> future = pool.submit(runnable);
        assertThat(future.get()).isNull();
        assertThat(future.isDone()).isTrue();
        assertThat(future.isCancelled()).isFalse();
        assertThat(future.cancel(true)).isFalse();
        assertThat(runs).hasValue(2);
    }

    @EachQueue
    void a_future_holds_what_the_task_threw(QueueKind queueKind) {
        ThreadPool pool = pools.of(queueKind, 2, 2, 10);

        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(pool.submit(BAD)::get)
                .havingCause()
                .isInstanceOf(IOException.class)
                .withMessage("simulated");
        Error error = new StackOverflowError("simulated");
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(pool.submit(TestPools.throwing(error), VALUE)::get)
                .havingCause()
                .isSameAs(error);
    }

    @EachQueue
    void waiting_for_a_future_ends_when_the_timeout_elapses_or_the_thread_is_interrupted(QueueKind queueKind)
            throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);
        BlockingTask blocker = pools.blocker();
        Future<?> future = pool.submit((Runnable) blocker);
        blocker.awaitBegun();

        assertThatThrownBy(() -> future.get(1, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
        Thread.currentThread().interrupt();
        assertThatThrownBy(future::get).isInstanceOf(InterruptedException.class);
        FutureTask<Object> wait = new FutureTask<>(future::get);
        Thread waiter = TestPools.started(wait);
        TestPools.awaitParked(waiter);
        waiter.interrupt();
        assertThatThrownBy(wait::get).hasCauseInstanceOf(InterruptedException.class);

        assertThat(future.isDone()).isFalse();
        assertThat(blocker.interrupts()).isZero();
    }

    @EachQueue
    void a_cancelled_future_is_cancelled_whether_its_task_ran_or_was_queued(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);
        BlockingTask running = pools.blocker();
        BlockingTask waiting = pools.blocker();
        List<Future<?>> futures = List.of(pool.submit((Runnable) running), pool.submit((Runnable) waiting));
        running.awaitBegun();

        assertThat(futures).allSatisfy(future -> {
            assertThat(future.cancel(false)).isTrue();
            assertThat(future.isCancelled()).isTrue();
            assertThat(future.isDone()).isTrue();
            assertThat(future.cancel(false)).isFalse();
            assertThatThrownBy(future::get).isInstanceOf(CancellationException.class);
            assertThatThrownBy(() -> future.get(1, TimeUnit.HOURS)).isInstanceOf(CancellationException.class);
        });
        assertThat(running.interrupts()).as("it was not to be interrupted").isZero();
        running.release();
        TestPools.awaitCompleted(pool, 2);
        assertThat(waiting.hasBegun()).isFalse();
        assertThat(pool.getCompletedTaskCount())
                .as("it was taken and had nothing to do")
                .isEqualTo(2);
    }

    @EachQueue
    void cancelling_with_an_interrupt_ends_the_task(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);
        BlockingTask blocker = pools.blocker();
        Future<?> future = pool.submit((Runnable) blocker);
        blocker.awaitBegun();

        future.cancel(true);

        blocker.awaitInterrupt();
        TestPools.awaitCompleted(pool, 1);
        assertThat(pool.submit(GOOD).get()).isEqualTo(VALUE);
        assertThat(pool.getLargestPoolSize()).isEqualTo(1);
    }

    @EachQueue
    void invokeAll_returns_when_all_have_ended_with_their_futures_in_order(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 2, 2, 10);
        List<Callable<Integer>> tasks = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            int number = i;
            tasks.add(() -> number);
        }

        List<Future<Integer>> futures = pool.invokeAll(tasks);
        List<Future<Integer>> timed = pool.invokeAll(tasks, 1, TimeUnit.HOURS);

        assertThat(futures).extracting(Future::resultNow).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
        assertThat(timed).extracting(Future::resultNow).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    }

    @EachQueue
    void invokeAll_keeps_failures_in_the_futures(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 2, 2, 10);

        assertThat(pool.invokeAll(List.of(BAD, GOOD)))
                .extracting(Future::state)
                .containsExactly(Future.State.FAILED, Future.State.SUCCESS);
        assertThat(pool.invokeAll(List.of(BAD, GOOD), 1, TimeUnit.HOURS))
                .extracting(Future::state)
                .containsExactly(Future.State.FAILED, Future.State.SUCCESS);
    }

    @EachQueue
    void invokeAll_of_no_tasks_returns_no_futures(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 2, 2, 10);

        assertThat(pool.invokeAll(List.<Callable<String>>of())).isEmpty();
        assertThat(pool.invokeAll(List.<Callable<String>>of(), 0, TimeUnit.SECONDS))
                .isEmpty();
        assertThat(pool.getPoolSize()).isZero();
    }

    @EachQueue
    void invokeAll_rejects_null_and_null_elements(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 2, 2, 10);
        List<Callable<String>> none = null;
        List<Callable<String>> withNull = Arrays.asList(GOOD, null);

        assertThatNullPointerException().isThrownBy(() -> pool.invokeAll(none));
        assertThatNullPointerException().isThrownBy(() -> pool.invokeAll(none, 1, TimeUnit.HOURS));
        assertThatNullPointerException().isThrownBy(() -> pool.invokeAll(withNull));
        assertThatNullPointerException().isThrownBy(() -> pool.invokeAll(withNull, 1, TimeUnit.HOURS));
        assertThatNullPointerException().isThrownBy(() -> pool.invokeAll(List.of(GOOD), 1, null));
    }

    @EachQueue
    void invokeAll_cancels_its_tasks_when_a_later_one_is_rejected(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 1);
        BlockingTask occupying = pools.occupy(pool);
        BlockingTask submitted = pools.blocker();

        assertThatThrownBy(() -> pool.invokeAll(List.of(inside(submitted), GOOD)))
                .isInstanceOf(RejectedExecutionException.class);

        occupying.release();
        TestPools.awaitCompleted(pool, 2);
        assertThat(submitted.hasBegun()).isFalse();
        assertThat(occupying.interrupts()).isZero();
    }

    @EachQueue
    void invokeAll_cancels_the_tasks_that_have_not_ended_when_the_timeout_elapses(QueueKind queueKind)
            throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);
        BlockingTask occupying = pools.occupy(pool);
        BlockingTask waiting = pools.blocker();

        long before = System.nanoTime();
        List<Future<String>> futures =
                pool.invokeAll(List.of(inside(waiting), inside(waiting)), 10, TimeUnit.MILLISECONDS);

        assertThat(System.nanoTime() - before).isGreaterThanOrEqualTo(10_000_000);
        assertThat(futures).hasSize(2).allMatch(Future::isCancelled);
        occupying.release();
        pool.close();
        assertThat(waiting.hasBegun()).isFalse();
        assertThat(occupying.interrupts()).isZero();
    }

    @EachQueue
    void invokeAll_keeps_the_tasks_that_have_ended_in_time(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 2, 2, 10);
        for (int millis = 20; ; millis *= 2) {
            List<Future<String>> futures =
                    pool.invokeAll(List.of(GOOD, inside(pools.blocker()), GOOD), millis, TimeUnit.MILLISECONDS);
            assertThat(futures).hasSize(3).allMatch(Future::isDone);
            assertThat(futures.get(1).isCancelled()).isTrue();
            if (!futures.get(0).isCancelled() && !futures.get(2).isCancelled()) {
                assertThat(futures.get(0).get()).isEqualTo(VALUE);
                assertThat(futures.get(2).get()).isEqualTo(VALUE);
                return; // otherwise this machine was too slow, and the next attempt has twice the time
            }
        }
    }

    @EachQueue
    void invokeAll_with_a_zero_timeout_cancels_all_tasks(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);

        assertThat(pool.invokeAll(List.of(GOOD, GOOD), 0, TimeUnit.SECONDS))
                .hasSize(2)
                .allMatch(Future::isCancelled);
        assertThat(pool.invokeAll(List.of(GOOD, GOOD), Long.MIN_VALUE, TimeUnit.DAYS))
                .hasSize(2)
                .allMatch(Future::isCancelled);
    }

    @EachQueue
    void an_interrupted_invokeAll_cancels_its_tasks(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);
        BlockingTask running = pools.uninterruptible();
        BlockingTask waiting = pools.blocker();
        FutureTask<Object> invoked = new FutureTask<>(() -> pool.invokeAll(List.of(inside(running), inside(waiting))));
        Thread invoker = TestPools.started(invoked);
        running.awaitBegun();

        invoker.interrupt();

        assertThatThrownBy(invoked::get).hasCauseInstanceOf(InterruptedException.class);
        running.awaitInterrupt();
        running.release();
        TestPools.awaitCompleted(pool, 2);
        assertThat(waiting.hasBegun()).isFalse();
    }

    @EachQueue
    void invokeAny_returns_the_value_of_one_that_succeeds(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 2, 2, 10);

        assertThat(pool.invokeAny(List.of(GOOD, GOOD))).isSameAs(VALUE);
        assertThat(pool.invokeAny(List.of(BAD, BAD, GOOD))).isSameAs(VALUE);
        assertThat(pool.invokeAny(List.of(GOOD, GOOD), 1, TimeUnit.HOURS)).isSameAs(VALUE);
        assertThat(pool.invokeAny(List.of(BAD, GOOD), 1, TimeUnit.HOURS)).isSameAs(VALUE);
    }

    @EachQueue
    void invokeAny_cancels_the_others(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 2, 2, 10);
        BlockingTask slow = pools.blocker();
        Callable<String> afterTheSlowOne = () -> {
            slow.awaitBegun();
            return VALUE;
        };

        assertThat(pool.invokeAny(List.of(inside(slow), afterTheSlowOne))).isEqualTo(VALUE);

        slow.awaitInterrupt();
        TestPools.awaitCompleted(pool, 2);
        assertThat(slow.interrupts()).isEqualTo(1);
    }

    @EachQueue
    void invokeAny_fails_when_all_fail(QueueKind queueKind) {
        ThreadPool pool = pools.of(queueKind, 2, 2, 10);

        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> pool.invokeAny(List.of(BAD, BAD)))
                .withCauseInstanceOf(IOException.class);
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> pool.invokeAny(List.of(BAD, BAD), 1, TimeUnit.HOURS))
                .withCauseInstanceOf(IOException.class);
    }

    @EachQueue
    void invokeAny_rejects_null_elements_and_an_empty_collection(QueueKind queueKind) {
        ThreadPool pool = pools.of(queueKind, 2, 2, 10);
        List<Callable<String>> none = null;
        BlockingTask blocker = pools.blocker();
        List<Callable<String>> withNull = Arrays.asList(inside(blocker), null);
        List<Callable<String>> onlyNull = Collections.singletonList(null);

        assertThatNullPointerException().isThrownBy(() -> pool.invokeAny(none));
        assertThatNullPointerException().isThrownBy(() -> pool.invokeAny(none, 1, TimeUnit.HOURS));
        assertThatNullPointerException().isThrownBy(() -> pool.invokeAny(List.of(GOOD), 1, null));
        assertThatIllegalArgumentException().isThrownBy(() -> pool.invokeAny(List.<Callable<String>>of()));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> pool.invokeAny(List.<Callable<String>>of(), 1, TimeUnit.HOURS));
        assertThatNullPointerException().isThrownBy(() -> pool.invokeAny(onlyNull));
        assertThatNullPointerException().isThrownBy(() -> pool.invokeAny(withNull));
        assertThatNullPointerException().isThrownBy(() -> pool.invokeAny(withNull, 1, TimeUnit.HOURS));
    }

    @EachQueue
    void invokeAny_ends_when_the_timeout_elapses(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);
        BlockingTask blocker = pools.occupy(pool);
        BlockingTask waiting = pools.blocker();

        assertThatThrownBy(() -> pool.invokeAny(List.of(inside(waiting)), 5, TimeUnit.MILLISECONDS))
                .isInstanceOf(TimeoutException.class);

        assertThat(blocker.interrupts()).isZero();
        blocker.release();
        TestPools.awaitCompleted(pool, 2);
        assertThat(waiting.hasBegun()).isFalse();
    }

    @EachQueue
    void an_interrupted_invokeAny_cancels_its_tasks(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 2, 2, 10);
        BlockingTask first = pools.blocker();
        BlockingTask second = pools.blocker();
        FutureTask<Object> invoked = new FutureTask<>(() -> pool.invokeAny(List.of(inside(first), inside(second))));
        Thread invoker = TestPools.started(invoked);
        first.awaitBegun();
        second.awaitBegun();

        invoker.interrupt();

        assertThatThrownBy(invoked::get).hasCauseInstanceOf(InterruptedException.class);
        first.awaitInterrupt();
        second.awaitInterrupt();
        TestPools.awaitCompleted(pool, 2);
        assertThat(pool.getCompletedTaskCount()).isEqualTo(2);
    }
}
