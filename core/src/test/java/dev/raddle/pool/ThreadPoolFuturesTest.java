package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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

    private static Callable<String> inside(Plug plug) {
        return Executors.callable(plug, VALUE);
    }

    @EachQueue
    void a_future_holds_what_the_task_returned(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 2, 2, 10);
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
    void a_future_holds_what_the_task_threw(Backlog backlog) {
        ThreadPool pool = pools.of(backlog, 2, 2, 10);

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
    void waiting_for_a_future_ends_when_the_time_is_up_or_the_thread_is_interrupted(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 10);
        Plug plug = pools.plug();
        Future<?> future = pool.submit(plug);
        plug.awaitBegun();

        assertThatThrownBy(() -> future.get(1, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
        Thread.currentThread().interrupt();
        assertThatThrownBy(future::get).isInstanceOf(InterruptedException.class);
        FutureTask<Object> wait = new FutureTask<>(future::get);
        Thread waiter = TestPools.started(wait);
        TestPools.awaitParked(waiter);
        waiter.interrupt();
        assertThatThrownBy(wait::get).hasCauseInstanceOf(InterruptedException.class);

        assertThat(future.isDone()).isFalse();
        assertThat(plug.interrupts()).isZero();
    }

    @EachQueue
    void a_cancelled_future_says_so_whether_its_task_ran_or_waited(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 10);
        Plug running = pools.plug();
        Plug waiting = pools.plug();
        List<Future<?>> futures = List.of(pool.submit(running), pool.submit(waiting));
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
        running.letGo();
        TestPools.awaitCompleted(pool, 2);
        assertThat(waiting.hasBegun()).isFalse();
        assertThat(pool.getCompletedTaskCount())
                .as("it was taken and had nothing to do")
                .isEqualTo(2);
    }

    @EachQueue
    void cancelling_with_an_interrupt_ends_the_task(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 10);
        Plug plug = pools.plug();
        Future<?> future = pool.submit(plug);
        plug.awaitBegun();

        future.cancel(true);

        plug.awaitInterrupt();
        TestPools.awaitCompleted(pool, 1);
        assertThat(pool.submit(GOOD).get()).isEqualTo(VALUE);
        assertThat(pool.getLargestPoolSize()).isEqualTo(1);
    }

    @EachQueue
    void invokeAll_returns_when_all_have_ended_with_their_futures_in_order(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 2, 2, 10);
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
    void invokeAll_keeps_failures_in_the_futures(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 2, 2, 10);

        assertThat(pool.invokeAll(List.of(BAD, GOOD)))
                .extracting(Future::state)
                .containsExactly(Future.State.FAILED, Future.State.SUCCESS);
        assertThat(pool.invokeAll(List.of(BAD, GOOD), 1, TimeUnit.HOURS))
                .extracting(Future::state)
                .containsExactly(Future.State.FAILED, Future.State.SUCCESS);
    }

    @EachQueue
    void invokeAll_of_nothing_is_nothing(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 2, 2, 10);

        assertThat(pool.invokeAll(List.<Callable<String>>of())).isEmpty();
        assertThat(pool.invokeAll(List.<Callable<String>>of(), 0, TimeUnit.SECONDS))
                .isEmpty();
        assertThat(pool.getPoolSize()).isZero();
    }

    @EachQueue
    void invokeAll_wants_neither_null_nor_nulls(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 2, 2, 10);
        List<Callable<String>> none = null;
        List<Callable<String>> withNull = Arrays.asList(GOOD, null);

        assertThatNullPointerException().isThrownBy(() -> pool.invokeAll(none));
        assertThatNullPointerException().isThrownBy(() -> pool.invokeAll(none, 1, TimeUnit.HOURS));
        assertThatNullPointerException().isThrownBy(() -> pool.invokeAll(withNull));
        assertThatNullPointerException().isThrownBy(() -> pool.invokeAll(withNull, 1, TimeUnit.HOURS));
        assertThatNullPointerException().isThrownBy(() -> pool.invokeAll(List.of(GOOD), 1, null));
    }

    @EachQueue
    void invokeAll_cancels_what_it_submitted_when_a_later_task_is_refused(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 1);
        Plug occupying = pools.occupy(pool);
        Plug submitted = pools.plug();

        assertThatThrownBy(() -> pool.invokeAll(List.of(inside(submitted), GOOD)))
                .isInstanceOf(RejectedExecutionException.class);

        occupying.letGo();
        TestPools.awaitCompleted(pool, 2);
        assertThat(submitted.hasBegun()).isFalse();
        assertThat(occupying.interrupts()).isZero();
    }

    @EachQueue
    void invokeAll_cancels_what_has_not_ended_when_the_time_is_up(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 10);
        Plug occupying = pools.occupy(pool);
        Plug waiting = pools.plug();

        long before = System.nanoTime();
        List<Future<String>> futures =
                pool.invokeAll(List.of(inside(waiting), inside(waiting)), 10, TimeUnit.MILLISECONDS);

        assertThat(System.nanoTime() - before).isGreaterThanOrEqualTo(10_000_000);
        assertThat(futures).hasSize(2).allMatch(Future::isCancelled);
        occupying.letGo();
        pool.close();
        assertThat(waiting.hasBegun()).isFalse();
        assertThat(occupying.interrupts()).isZero();
    }

    @EachQueue
    void invokeAll_keeps_what_has_ended_in_time(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 2, 2, 10);
        for (int millis = 20; ; millis *= 2) {
            List<Future<String>> futures =
                    pool.invokeAll(List.of(GOOD, inside(pools.plug()), GOOD), millis, TimeUnit.MILLISECONDS);
            assertThat(futures).hasSize(3).allMatch(Future::isDone);
            assertThat(futures.get(1).isCancelled()).isTrue();
            if (!futures.get(0).isCancelled() && !futures.get(2).isCancelled()) {
                assertThat(futures.get(0).get()).isEqualTo(VALUE);
                assertThat(futures.get(2).get()).isEqualTo(VALUE);
                return; // otherwise this machine was too slow, and gets twice the time
            }
        }
    }

    @EachQueue
    void invokeAll_without_time_cancels_everything(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 10);

        assertThat(pool.invokeAll(List.of(GOOD, GOOD), 0, TimeUnit.SECONDS))
                .hasSize(2)
                .allMatch(Future::isCancelled);
        assertThat(pool.invokeAll(List.of(GOOD, GOOD), Long.MIN_VALUE, TimeUnit.DAYS))
                .hasSize(2)
                .allMatch(Future::isCancelled);
    }

    @EachQueue
    void an_interrupted_invokeAll_cancels_its_tasks(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 10);
        Plug running = pools.stubborn();
        Plug waiting = pools.plug();
        FutureTask<Object> invoked = new FutureTask<>(() -> pool.invokeAll(List.of(inside(running), inside(waiting))));
        Thread invoker = TestPools.started(invoked);
        running.awaitBegun();

        invoker.interrupt();

        assertThatThrownBy(invoked::get).hasCauseInstanceOf(InterruptedException.class);
        running.awaitInterrupt();
        running.letGo();
        TestPools.awaitCompleted(pool, 2);
        assertThat(waiting.hasBegun()).isFalse();
    }

    @EachQueue
    void invokeAny_returns_the_value_of_one_that_succeeds(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 2, 2, 10);

        assertThat(pool.invokeAny(List.of(GOOD, GOOD))).isSameAs(VALUE);
        assertThat(pool.invokeAny(List.of(BAD, BAD, GOOD))).isSameAs(VALUE);
        assertThat(pool.invokeAny(List.of(GOOD, GOOD), 1, TimeUnit.HOURS)).isSameAs(VALUE);
        assertThat(pool.invokeAny(List.of(BAD, GOOD), 1, TimeUnit.HOURS)).isSameAs(VALUE);
    }

    @EachQueue
    void invokeAny_cancels_the_others(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 2, 2, 10);
        Plug slow = pools.plug();
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
    void invokeAny_fails_when_all_fail(Backlog backlog) {
        ThreadPool pool = pools.of(backlog, 2, 2, 10);

        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> pool.invokeAny(List.of(BAD, BAD)))
                .withCauseInstanceOf(IOException.class);
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> pool.invokeAny(List.of(BAD, BAD), 1, TimeUnit.HOURS))
                .withCauseInstanceOf(IOException.class);
    }

    @EachQueue
    void invokeAny_wants_one_task_at_least_and_no_null(Backlog backlog) {
        ThreadPool pool = pools.of(backlog, 2, 2, 10);
        List<Callable<String>> none = null;
        Plug plug = pools.plug();
        List<Callable<String>> withNull = Arrays.asList(inside(plug), null);
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
    void invokeAny_ends_when_the_time_is_up(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 10);
        Plug plug = pools.occupy(pool);
        Plug waiting = pools.plug();

        assertThatThrownBy(() -> pool.invokeAny(List.of(inside(waiting)), 5, TimeUnit.MILLISECONDS))
                .isInstanceOf(TimeoutException.class);

        assertThat(plug.interrupts()).isZero();
        plug.letGo();
        TestPools.awaitCompleted(pool, 2);
        assertThat(waiting.hasBegun()).isFalse();
    }

    @EachQueue
    void an_interrupted_invokeAny_cancels_its_tasks(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 2, 2, 10);
        Plug first = pools.plug();
        Plug second = pools.plug();
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
