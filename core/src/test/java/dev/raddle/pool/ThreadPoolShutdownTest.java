package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ThreadPoolShutdownTest {

    private final TestPools pools = new TestPools();
    private final List<String> ran = new CopyOnWriteArrayList<>();

    @AfterEach
    void endAll() throws InterruptedException {
        pools.endAll();
    }

    private Runnable task(String name) {
        return new Runnable() {
            @Override
            public void run() {
                ran.add(name);
            }

            @Override
            public String toString() {
                return name;
            }
        };
    }

    private static void awaitEnd(ThreadPool pool) throws InterruptedException {
        assertThat(pool.awaitTermination(1, TimeUnit.HOURS)).isTrue();
        assertThat(pool.isTerminated()).isTrue();
        assertThat(pool.isTerminating()).isFalse();
        assertThat(pool.isShutdown()).isTrue();
        assertThat(pool.getQueue()).isEmpty();
        assertThat(pool.getPoolSize()).isZero();
        assertThat(pool.getActiveCount()).isZero();
        assertThat(pool.getTaskCount()).isEqualTo(pool.getCompletedTaskCount());
    }

    // G2
    @EachQueue
    void after_shutdown_what_was_accepted_runs_and_nothing_more_is_accepted(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 10);
        Plug plug = pools.occupy(pool);
        pool.execute(task("first"));
        pool.execute(task("second"));

        pool.shutdown();

        assertThat(pool.isShutdown()).isTrue();
        assertThat(pool.isTerminating()).isTrue();
        assertThat(pool.isTerminated()).isFalse();
        assertThatThrownBy(() -> pool.execute(task("late"))).isInstanceOf(RejectedExecutionException.class);
        assertThat(plug.interrupts()).isZero();
        plug.letGo();
        awaitEnd(pool);
        assertThat(ran).containsExactly("first", "second");
        assertThat(plug.interrupts()).isZero();
        assertThat(pool.getCompletedTaskCount()).isEqualTo(3);
    }

    // G2
    @EachQueue
    void shutdown_sends_idle_threads_away_at_once_and_lets_busy_ones_finish(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 4, 4, 10);
        Plug plug = pools.occupy(pool);
        pool.prestartAllCoreThreads();
        assertThat(pool.getPoolSize()).isEqualTo(4);

        pool.shutdown();

        Wait.until(() -> pool.getPoolSize() == 1);
        assertThat(pool.getActiveCount()).isEqualTo(1);
        assertThat(plug.interrupts()).isZero();
        plug.letGo();
        awaitEnd(pool);
    }

    // G5, G2
    @EachQueue
    void after_shutdown_a_thread_that_dies_of_a_task_is_replaced_as_long_as_tasks_wait(Backlog backlog)
            throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 10);
        pool.setThreadFactory(task -> {
            Thread thread = new Thread(task);
            thread.setUncaughtExceptionHandler((dying, thrown) -> ran.add(thrown.getMessage()));
            return thread;
        });
        Plug plug = pools.occupy(pool);
        pool.execute(TestPools.throwing(new IllegalStateException("simulated")));
        pool.execute(task("behind"));

        pool.shutdown();
        plug.letGo();

        awaitEnd(pool);
        Wait.until(() -> ran.size() == 2);
        assertThat(ran).containsExactlyInAnyOrder("simulated", "behind");
        assertThat(pool.getCompletedTaskCount()).isEqualTo(3);
    }

    // G6
    @EachQueue
    void a_pool_without_threads_is_terminated_when_shutdown_returns(Backlog backlog) throws Exception {
        ThreadPool unused = pools.of(backlog, 1, 1, 10);
        unused.shutdown();
        assertThat(unused.isTerminated()).isTrue();
        assertThat(unused.isTerminating()).isFalse();
        awaitEnd(unused);

        ThreadPool stopped = pools.of(backlog, 1, 1, 10);
        assertThat(stopped.shutdownNow()).isEmpty();
        assertThat(stopped.isTerminated()).isTrue();
        awaitEnd(stopped);
    }

    // G1
    @EachQueue
    void the_state_only_moves_forward(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 10);
        Plug stubborn = pools.stubborn();
        pool.execute(stubborn);
        stubborn.awaitBegun();
        Runnable waiting = task("waiting");
        pool.execute(waiting);

        pool.shutdown();
        pool.shutdown();
        assertThat(pool.shutdownNow()).containsExactly(waiting);
        stubborn.awaitInterrupt();
        pool.shutdown();
        assertThat(pool.shutdownNow()).as("there is nothing left to return").isEmpty();
        assertThat(pool.isTerminating()).isTrue();
        stubborn.letGo();
        awaitEnd(pool);
        pool.shutdown();
        assertThat(pool.shutdownNow()).isEmpty();
        awaitEnd(pool);
        assertThat(ran).isEmpty();
    }

    // G3
    @EachQueue
    void shutdownNow_returns_what_never_started_in_order_and_interrupts_what_runs(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 2, 2, 10);
        List<Plug> running = pools.occupy(pool, 2);
        List<Runnable> waiting = List.of(task("1"), task("2"), task("3"), task("4"));
        waiting.forEach(pool::execute);
        assertThat(pool.getCompletedTaskCount()).isZero();

        List<Runnable> returned = pool.shutdownNow();

        assertThat(returned).containsExactlyElementsOf(waiting);
        assertThat(pool.getQueue()).isEmpty();
        assertThat(pool.isShutdown()).isTrue();
        awaitEnd(pool);
        assertThat(running).allSatisfy(plug -> assertThat(plug.interrupts()).isEqualTo(1));
        assertThat(ran).isEmpty();
        assertThat(pool.getCompletedTaskCount()).isEqualTo(2);
        returned.add(task("the list is the caller's"));
        assertThat(returned).hasSize(5);
    }

    // G3
    @EachQueue
    void shutdownNow_returns_the_futures_of_what_was_submitted(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 10);
        pools.occupy(pool);
        Future<?> future = pool.submit(task("never"));

        List<Runnable> returned = pool.shutdownNow();

        assertThat(returned).hasSize(1);
        assertThat(returned.getFirst()).isSameAs(future);
        assertThat(future.isCancelled()).as("as a builder's pool does").isEqualTo(backlog.isFromBuilder());
        assertThat(future.cancel(false)).isNotEqualTo(backlog.isFromBuilder());
    }

    // G9
    @EachQueue
    void a_task_that_ignores_its_interrupt_keeps_the_pool_from_terminating(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 10);
        Plug stubborn = pools.stubborn();
        pool.execute(stubborn);
        stubborn.awaitBegun();

        pool.shutdownNow();

        stubborn.awaitInterrupt();
        assertThat(pool.awaitTermination(1, TimeUnit.MILLISECONDS)).isFalse();
        assertThat(pool.isTerminating()).isTrue();
        assertThat(pool.getActiveCount()).isEqualTo(1);
        stubborn.letGo();
        awaitEnd(pool);
        assertThat(stubborn.interrupts()).isEqualTo(1);
    }

    // G3
    @EachQueue
    void a_task_that_stops_its_own_pool_is_interrupted_itself(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 10);
        Plug plug = pools.occupy(pool);
        Runnable behind = task("behind");
        List<Object> seen = new CopyOnWriteArrayList<>();
        pool.execute(() -> {
            seen.addAll(pool.shutdownNow());
            seen.add(Thread.currentThread().isInterrupted());
            assertThatThrownBy(() -> pool.execute(task("late"))).isInstanceOf(RejectedExecutionException.class);
        });
        pool.execute(behind);
        plug.letGo();
        awaitEnd(pool);

        assertThat(seen).containsExactly(behind, true);
        assertThat(pool.getCompletedTaskCount()).isEqualTo(2);
    }

    // G2
    @EachQueue
    void a_task_may_shut_down_its_own_pool(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 10);
        Plug plug = pools.occupy(pool);
        pool.execute(() -> {
            pool.shutdown();
            ran.add("interrupted " + Thread.currentThread().isInterrupted());
        });
        pool.execute(task("behind"));
        plug.letGo();
        awaitEnd(pool);

        assertThat(ran).containsExactly("interrupted false", "behind");
    }

    // G8
    @EachQueue
    void an_interrupt_that_a_task_leaves_behind_does_not_reach_the_next(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 10);
        List<Thread> threads = new CopyOnWriteArrayList<>();
        Plug plug = pools.occupy(pool);
        for (int i = 0; i < 3; i++) {
            pool.execute(() -> {
                threads.add(Thread.currentThread());
                ran.add("interrupted " + Thread.currentThread().isInterrupted());
                Thread.currentThread().interrupt();
            });
        }
        plug.letGo();
        TestPools.awaitCompleted(pool, 4);
        pool.submit(() -> ran.add("after a wait " + Thread.currentThread().isInterrupted()))
                .get();

        assertThat(ran)
                .containsExactly("interrupted false", "interrupted false", "interrupted false", "after a wait false");
        assertThat(threads).as("an interrupt ends no thread").containsOnly(plug.thread());
        assertThat(pool.getLargestPoolSize()).isEqualTo(1);
    }

    // G8
    @EachQueue
    void an_interrupt_of_an_idle_thread_does_not_end_it(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 10);
        Thread thread = pool.submit(Thread::currentThread).get();
        TestPools.awaitCompleted(pool, 1);
        thread.interrupt();

        assertThat(pool.submit(() -> Thread.currentThread().isInterrupted()).get())
                .isFalse();
        assertThat(pool.submit(Thread::currentThread).get()).isSameAs(thread);
    }

    // G8
    @EachQueue
    void cancelling_a_future_interrupts_its_task_and_no_later_one(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 10);
        Plug stubborn = pools.stubborn();
        Future<?> cancelled = pool.submit(stubborn);
        Future<Boolean> next = pool.submit(() -> Thread.currentThread().isInterrupted());
        stubborn.awaitBegun();

        assertThat(cancelled.cancel(true)).isTrue();

        stubborn.awaitInterrupt();
        stubborn.letGo();
        assertThat(next.get()).isFalse();
        assertThat(stubborn.interrupts()).isEqualTo(1);
    }

    /** A queue in which something happens to the pool in the middle of a submission or of a hand-over. */
    private static class Meddling extends LinkedBlockingQueue<Runnable> {
        private static final long serialVersionUID = 1;
        transient Runnable beforeOffer = () -> {};
        transient Runnable afterOffer = () -> {};
        transient Runnable afterTake = () -> {};

        @Override
        public boolean offer(Runnable task) {
            beforeOffer.run();
            boolean offered = super.offer(task);
            afterOffer.run();
            return offered;
        }

        @Override
        public Runnable take() throws InterruptedException {
            return taken(super.take());
        }

        @Override
        public Runnable poll(long timeout, TimeUnit unit) throws InterruptedException {
            return taken(super.poll(timeout, unit));
        }

        @Override
        public Runnable poll() {
            return taken(super.poll());
        }

        private Runnable taken(Runnable task) {
            if (task != null) {
                afterTake.run();
            }
            return task;
        }
    }

    // G4
    @Test
    void a_task_that_enters_the_queue_after_shutdown_is_taken_back_and_rejected() throws Exception {
        Meddling queue = new Meddling();
        ThreadPool pool = pools.on(queue, 1, 1);
        Plug plug = pools.occupy(pool);
        queue.beforeOffer = pool::shutdown;

        assertThatThrownBy(() -> pool.execute(task("late"))).isInstanceOf(RejectedExecutionException.class);

        assertThat(queue).isEmpty();
        plug.letGo();
        awaitEnd(pool);
        assertThat(ran).isEmpty();
    }

    // G4
    @Test
    void a_task_that_enters_the_queue_after_shutdownNow_is_taken_back_and_rejected() throws Exception {
        Meddling queue = new Meddling();
        ThreadPool pool = pools.on(queue, 1, 1);
        pools.occupy(pool);
        queue.beforeOffer = pool::shutdownNow;

        assertThatThrownBy(() -> pool.execute(task("late"))).isInstanceOf(RejectedExecutionException.class);

        awaitEnd(pool);
        assertThat(ran).isEmpty();
    }

    // G4
    @Test
    void a_task_that_shutdownNow_has_returned_is_not_rejected_too() throws Exception {
        Meddling queue = new Meddling();
        ThreadPool pool = pools.on(queue, 1, 1);
        pools.occupy(pool);
        List<Runnable> returned = new ArrayList<>();
        queue.afterOffer = () -> returned.addAll(pool.shutdownNow());
        Runnable late = task("late");

        pool.execute(late);

        assertThat(returned).containsExactly(late);
        awaitEnd(pool);
        assertThat(ran).isEmpty();
    }

    // G4
    @Test
    void a_pool_that_is_shut_down_while_it_makes_a_thread_rejects_the_task() throws Exception {
        ThreadPool pool = pools.single();
        pool.setThreadFactory(task -> {
            pool.shutdown();
            return new Thread(task);
        });

        assertThatThrownBy(() -> pool.execute(task("late"))).isInstanceOf(RejectedExecutionException.class);

        awaitEnd(pool);
        assertThat(ran).isEmpty();
        assertThat(pool.getLargestPoolSize()).isZero();
    }

    // G3, G8
    @Test
    void a_task_that_was_in_a_threads_hand_when_the_pool_stopped_runs_interrupted() throws Exception {
        Meddling queue = new Meddling();
        ThreadPool pool = pools.on(queue, 1, 1);
        Plug plug = pools.occupy(pool);
        List<Runnable> returned = new CopyOnWriteArrayList<>();
        queue.afterTake = () -> returned.addAll(pool.shutdownNow());
        pool.execute(() -> ran.add("interrupted " + Thread.currentThread().isInterrupted()));
        Runnable never = task("never");
        pool.execute(never);
        plug.letGo();
        awaitEnd(pool);

        assertThat(ran).containsExactly("interrupted true");
        assertThat(returned).containsExactly(never);
    }

    // G4
    @EachQueue
    void a_task_that_meets_shutdownNow_runs_or_is_returned_or_is_rejected(Backlog backlog) throws Exception {
        meet(backlog, 300, true);
    }

    // G4, G2
    @EachQueue
    void a_task_that_meets_shutdown_runs_or_is_rejected(Backlog backlog) throws Exception {
        meet(backlog, 300, false);
    }

    private static class Fate implements Runnable {
        final AtomicInteger runs = new AtomicInteger();
        final AtomicInteger rejections = new AtomicInteger();
        final AtomicInteger returns = new AtomicInteger();

        @Override
        public void run() {
            runs.incrementAndGet();
        }
    }

    private static void meet(Backlog backlog, int rounds, boolean now) throws Exception {
        try (ExecutorService submitter = Executors.newSingleThreadExecutor()) {
            CyclicBarrier start = new CyclicBarrier(2);
            for (int round = 0; round < rounds; round++) {
                ThreadPool pool = backlog.pool(round % 3, 2, 3);
                List<Fate> fates = new ArrayList<>();
                for (int i = 0; i < 8; i++) {
                    fates.add(new Fate());
                }
                Future<?> submitted = submitter.submit(() -> {
                    start.await();
                    for (Fate fate : fates) {
                        try {
                            pool.execute(fate);
                        } catch (RejectedExecutionException rejected) {
                            fate.rejections.incrementAndGet();
                        }
                    }
                    return null;
                });
                start.await();
                if (round % 2 == 0) {
                    Wait.until(() -> pool.getTaskCount() > 0);
                }
                if (now) {
                    pool.shutdownNow().forEach(task -> ((Fate) task).returns.incrementAndGet());
                } else {
                    pool.shutdown();
                }
                submitted.get();
                awaitEnd(pool);
                int runs = 0;
                for (Fate fate : fates) {
                    assertThat(fate.runs.get() + fate.rejections.get() + fate.returns.get())
                            .isEqualTo(1);
                    runs += fate.runs.get();
                }
                assertThat(pool.getCompletedTaskCount()).isEqualTo(runs);
            }
        }
    }

    // G3
    @Test
    void shutdownNow_returns_the_tasks_of_a_priority_queue_by_priority() throws Exception {
        BlockingQueue<Runnable> queue = new PriorityBlockingQueue<>(4, Comparator.comparing(Runnable::toString));
        ThreadPool pool = pools.on(queue, 1, 1);
        pools.occupy(pool);
        for (String name : List.of("3", "1", "5", "2", "4")) {
            pool.execute(task(name));
        }

        assertThat(pool.shutdownNow()).extracting(Runnable::toString).containsExactly("1", "2", "3", "4", "5");
    }

    /** A task that may be taken out of a queue after a delay, in real time. */
    private class Later implements Delayed, Runnable {
        private final String name;
        private final long due;

        Later(String name, Duration delay) {
            this.name = name;
            this.due = System.nanoTime() + delay.toNanos();
        }

        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(due - System.nanoTime(), TimeUnit.NANOSECONDS);
        }

        @Override
        public int compareTo(Delayed other) {
            return Long.compare(getDelay(TimeUnit.NANOSECONDS), other.getDelay(TimeUnit.NANOSECONDS));
        }

        @Override
        public void run() {
            ran.add(name);
        }
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static BlockingQueue<Runnable> delayQueue() {
        return (BlockingQueue) new DelayQueue<>();
    }

    // G3
    @Test
    void shutdownNow_returns_the_tasks_of_a_delay_queue_that_are_not_due() throws Exception {
        ThreadPool pool = pools.on(delayQueue(), 1, 1);
        List<Runnable> waiting = List.of(
                new Later("now", Duration.ZERO),
                new Later("in a day", Duration.ofDays(1)),
                new Later("in two days", Duration.ofDays(2)));
        pools.occupy(pool);
        waiting.forEach(pool::execute);

        assertThat(pool.shutdownNow()).containsExactlyInAnyOrderElementsOf(waiting);

        assertThat(pool.getQueue()).isEmpty();
        awaitEnd(pool);
        assertThat(ran).isEmpty();
    }

    // G2, K5
    @Test
    void after_shutdown_tasks_of_a_delay_queue_run_when_they_are_due() throws Exception {
        ThreadPool pool = pools.on(delayQueue(), 1, 1);
        Plug plug = pools.occupy(pool);
        pool.execute(new Later("second", Duration.ofMillis(10)));
        pool.execute(new Later("first", Duration.ofMillis(5)));
        plug.letGo();

        pool.shutdown();

        awaitEnd(pool);
        assertThat(ran).containsExactly("first", "second");
    }

    // G6, K4
    @Test
    void after_shutdown_removing_the_last_waiting_task_terminates_the_pool() throws Exception {
        ThreadPool pool = pools.on(delayQueue(), 1, 1);
        Plug plug = pools.occupy(pool);
        Runnable later = new Later("in a day", Duration.ofDays(1));
        pool.execute(later);
        pool.shutdown();
        plug.letGo();
        Wait.until(() -> pool.getActiveCount() == 0);
        assertThat(pool.isTerminated()).isFalse();

        assertThat(pool.remove(later)).isTrue();

        awaitEnd(pool);
    }

    // G6, K4
    @Test
    void after_shutdown_purging_the_last_waiting_task_terminates_the_pool() throws Exception {
        class LaterFuture extends FutureTask<Object> implements Delayed {
            private final Later later = new Later("in a day", Duration.ofDays(1));

            LaterFuture() {
                super(() -> null);
            }

            @Override
            public long getDelay(TimeUnit unit) {
                return later.getDelay(unit);
            }

            @Override
            public int compareTo(Delayed other) {
                return later.compareTo(other);
            }
        }
        ThreadPool pool = pools.on(delayQueue(), 1, 1);
        Plug plug = pools.occupy(pool);
        LaterFuture future = new LaterFuture();
        pool.execute(future);
        pool.shutdown();
        plug.letGo();
        Wait.until(() -> pool.getActiveCount() == 0);
        future.cancel(false);

        pool.purge();

        awaitEnd(pool);
    }

    // G7
    @EachQueue
    void awaitTermination_says_false_when_the_time_is_up(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 10);

        for (TimeUnit unit : TimeUnit.values()) {
            assertThat(pool.awaitTermination(0, unit)).isFalse();
            assertThat(pool.awaitTermination(-1, unit)).isFalse();
            assertThat(pool.awaitTermination(Long.MIN_VALUE, unit)).isFalse();
        }
        long before = System.nanoTime();
        assertThat(pool.awaitTermination(2_000_001, TimeUnit.NANOSECONDS)).isFalse();
        assertThat(System.nanoTime() - before).isGreaterThanOrEqualTo(2_000_001);
        before = System.nanoTime();
        assertThat(pool.awaitTermination(12, TimeUnit.MILLISECONDS)).isFalse();
        assertThat(System.nanoTime() - before).isGreaterThanOrEqualTo(12_000_000);
        assertThat(pool.isTerminated()).isFalse();
        assertThatNullPointerException().isThrownBy(() -> pool.awaitTermination(1, null));
    }

    // G7
    @EachQueue
    void awaitTermination_of_a_terminated_pool_says_true_whatever_the_timeout(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 10);
        pool.shutdown();

        assertThat(pool.awaitTermination(0, TimeUnit.SECONDS)).isTrue();
        assertThat(pool.awaitTermination(-1, TimeUnit.SECONDS)).isTrue();
        assertThat(pool.awaitTermination(Long.MIN_VALUE, TimeUnit.DAYS)).isTrue();
        assertThat(pool.awaitTermination(Long.MAX_VALUE, TimeUnit.DAYS)).isTrue();
    }

    // G7
    @ParameterizedTest
    @EnumSource
    void a_wait_as_long_as_possible_lasts_until_the_pool_has_terminated(TimeUnit unit) throws Exception {
        for (Backlog backlog : Backlog.values()) {
            ThreadPool pool = pools.of(backlog, 1, 1, 10);
            Plug plug = pools.occupy(pool);
            pool.shutdown();
            FutureTask<Boolean> awaited = new FutureTask<>(() -> pool.awaitTermination(Long.MAX_VALUE, unit));
            TestPools.awaitParked(TestPools.started(awaited));

            assertThat(awaited.isDone()).isFalse();
            plug.letGo();

            assertThat(awaited.get()).isTrue();
        }
    }

    // G7
    @EachQueue
    void everybody_who_waits_for_termination_is_told(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 10);
        Plug plug = pools.occupy(pool);
        List<FutureTask<Boolean>> waits = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            FutureTask<Boolean> awaited = new FutureTask<>(() -> pool.awaitTermination(1, TimeUnit.HOURS));
            waits.add(awaited);
            TestPools.awaitParked(TestPools.started(awaited));
        }
        pool.shutdown();
        plug.letGo();

        for (FutureTask<Boolean> awaited : waits) {
            assertThat(awaited.get()).isTrue();
        }
    }

    // G7
    @EachQueue
    void an_interrupt_ends_the_wait_for_termination(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 10);
        Plug plug = pools.occupy(pool);
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> pool.awaitTermination(1, TimeUnit.HOURS)).isInstanceOf(InterruptedException.class);
        assertThat(Thread.currentThread().isInterrupted()).isFalse();

        FutureTask<Boolean> awaited = new FutureTask<>(() -> pool.awaitTermination(1, TimeUnit.HOURS));
        Thread waiter = TestPools.started(awaited);
        TestPools.awaitParked(waiter);
        waiter.interrupt();
        assertThatThrownBy(awaited::get).hasCauseInstanceOf(InterruptedException.class);

        assertThat(plug.interrupts()).isZero();
        assertThat(pool.isShutdown()).isFalse();
    }

    // G7
    @EachQueue
    void an_interrupted_thread_that_need_not_wait_for_termination_is_answered(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 10);
        Thread.currentThread().interrupt();

        assertThat(pool.awaitTermination(0, TimeUnit.SECONDS)).isFalse();
        pool.shutdown();
        assertThat(pool.awaitTermination(1, TimeUnit.HOURS)).isTrue();

        assertThat(Thread.interrupted()).isTrue();
    }

    // G7
    @EachQueue
    void close_waits_for_all_tasks(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 10);
        Plug plug = pools.occupy(pool);
        pool.execute(task("behind"));
        Thread closer = TestPools.started(pool::close);
        Wait.until(pool::isShutdown);
        TestPools.awaitParked(closer);
        assertThat(pool.isTerminated()).isFalse();

        plug.letGo();
        closer.join();

        assertThat(pool.isTerminated()).isTrue();
        assertThat(ran).containsExactly("behind");
        assertThat(plug.interrupts()).isZero();
        pool.close();
        assertThat(pool.isTerminated()).isTrue();
    }

    // G7
    @EachQueue
    void an_interrupted_close_stops_the_pool_and_goes_on_waiting(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 10);
        Plug stubborn = pools.stubborn();
        pool.execute(stubborn);
        stubborn.awaitBegun();
        pool.execute(task("never"));
        FutureTask<Boolean> closed = new FutureTask<>(() -> {
            pool.close();
            return Thread.currentThread().isInterrupted();
        });
        Thread closer = TestPools.started(closed);
        Wait.until(pool::isShutdown);

        closer.interrupt();
        stubborn.awaitInterrupt();
        assertThat(closed.isDone()).isFalse();
        stubborn.letGo();

        assertThat(closed.get()).as("the interrupt is kept for the caller").isTrue();
        assertThat(pool.isTerminated()).isTrue();
        assertThat(ran).isEmpty();
    }

    /** A pool that tells what its state is when terminated() is called. */
    private class Watched extends ThreadPool {
        private final CountDownLatch entered = new CountDownLatch(1);
        private final CountDownLatch goOn = new CountDownLatch(1);
        private volatile RuntimeException thrown;

        Watched() {
            super(1, 1, 1, TimeUnit.HOURS, new LinkedBlockingQueue<>());
        }

        @Override
        protected void terminated() {
            super.terminated();
            ran.add("shut down " + isShutdown()
                    + ", terminating " + isTerminating()
                    + ", terminated " + isTerminated()
                    + ", threads " + getPoolSize()
                    + ", waiting " + getQueue().size());
            try {
                ran.add("awaited " + awaitTermination(0, TimeUnit.SECONDS));
                entered.countDown();
                if (goOn.getCount() > 0) {
                    goOn.await();
                }
            } catch (InterruptedException interrupt) {
                ran.add(interrupt.toString());
            }
            if (thrown != null) {
                throw thrown;
            }
        }
    }

    // G6
    @Test
    void terminated_is_called_once_when_no_thread_and_no_task_is_left() throws Exception {
        Watched pool = pools.keep(new Watched());
        pool.goOn.countDown();
        pool.execute(() -> {});
        TestPools.awaitCompleted(pool, 1);
        assertThat(ran).isEmpty();

        pool.shutdown();
        awaitEnd(pool);

        assertThat(ran)
                .containsExactly(
                        "shut down true, terminating true, terminated false, threads 0, waiting 0", "awaited false");
        pool.shutdown();
        pool.shutdownNow();
        pool.close();
        assertThat(ran).hasSize(2);
    }

    // G6
    @Test
    void the_pool_is_not_terminated_before_terminated_has_returned() throws Exception {
        Watched pool = pools.keep(new Watched());
        Thread caller = TestPools.started(pool::shutdown);
        pool.entered.await();

        assertThat(pool.isTerminated()).isFalse();
        assertThat(pool.isTerminating()).isTrue();
        FutureTask<Boolean> awaited = new FutureTask<>(() -> pool.awaitTermination(1, TimeUnit.HOURS));
        TestPools.awaitParked(TestPools.started(awaited));
        assertThat(awaited.isDone()).isFalse();
        pool.goOn.countDown();

        assertThat(awaited.get()).isTrue();
        caller.join();
        awaitEnd(pool);
    }

    // G6
    @Test
    void what_terminated_throws_reaches_its_caller_and_the_pool_is_terminated() throws Exception {
        Watched pool = pools.keep(new Watched());
        pool.goOn.countDown();
        pool.thrown = new IllegalStateException("simulated");

        assertThatThrownBy(pool::shutdown).isSameAs(pool.thrown);

        awaitEnd(pool);
    }

    // G6
    @Test
    void what_terminated_throws_in_a_thread_of_the_pool_reaches_its_uncaught_exception_handler() throws Exception {
        AtomicReference<Throwable> uncaught = new AtomicReference<>();
        Watched pool = pools.keep(new Watched());
        pool.goOn.countDown();
        pool.thrown = new IllegalStateException("simulated");
        pool.setThreadFactory(task -> {
            Thread thread = new Thread(task);
            thread.setUncaughtExceptionHandler((dying, thrown) -> uncaught.set(thrown));
            return thread;
        });
        Plug plug = pools.occupy(pool);
        pool.shutdown();
        plug.letGo();
        awaitEnd(pool);

        plug.thread().join();
        assertThat(uncaught.get()).isSameAs(pool.thrown);
    }
}
