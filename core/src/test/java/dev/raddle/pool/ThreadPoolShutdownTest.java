package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.testing.BlockingTask;
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

    @EachQueue
    void after_shutdown_accepted_tasks_run_and_no_more_are_accepted(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);
        BlockingTask blocker = pools.occupy(pool);
        pool.execute(task("first"));
        pool.execute(task("second"));

        pool.shutdown();

        assertThat(pool.isShutdown()).isTrue();
        assertThat(pool.isTerminating()).isTrue();
        assertThat(pool.isTerminated()).isFalse();
        assertThatThrownBy(() -> pool.execute(task("late"))).isInstanceOf(RejectedExecutionException.class);
        assertThat(blocker.interrupts()).isZero();
        blocker.release();
        awaitEnd(pool);
        assertThat(ran).containsExactly("first", "second");
        assertThat(blocker.interrupts()).isZero();
        assertThat(pool.getCompletedTaskCount()).isEqualTo(3);
    }

    @EachQueue
    void shutdown_ends_idle_threads_at_once_and_busy_ones_after_their_tasks(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 4, 4, 10);
        BlockingTask blocker = pools.occupy(pool);
        pool.prestartAllCoreThreads();
        assertThat(pool.getPoolSize()).isEqualTo(4);

        pool.shutdown();

        Wait.until(() -> pool.getPoolSize() == 1);
        assertThat(pool.getActiveCount()).isEqualTo(1);
        assertThat(blocker.interrupts()).isZero();
        blocker.release();
        awaitEnd(pool);
    }

    @EachQueue
    void after_shutdown_a_thread_that_its_task_ends_is_replaced_while_tasks_are_queued(QueueKind queueKind)
            throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);
        pool.setThreadFactory(task -> {
            Thread thread = new Thread(task);
            thread.setUncaughtExceptionHandler((dying, thrown) -> ran.add(thrown.getMessage()));
            return thread;
        });
        BlockingTask blocker = pools.occupy(pool);
        pool.execute(TestPools.throwing(new IllegalStateException("simulated")));
        pool.execute(task("behind"));

        pool.shutdown();
        blocker.release();

        awaitEnd(pool);
        Wait.until(() -> ran.size() == 2);
        assertThat(ran).containsExactlyInAnyOrder("simulated", "behind");
        assertThat(pool.getCompletedTaskCount()).isEqualTo(3);
    }

    @EachQueue
    void a_pool_without_threads_is_terminated_when_shutdown_returns(QueueKind queueKind) throws Exception {
        ThreadPool unused = pools.of(queueKind, 1, 1, 10);
        unused.shutdown();
        assertThat(unused.isTerminated()).isTrue();
        assertThat(unused.isTerminating()).isFalse();
        awaitEnd(unused);

        ThreadPool stopped = pools.of(queueKind, 1, 1, 10);
        assertThat(stopped.shutdownNow()).isEmpty();
        assertThat(stopped.isTerminated()).isTrue();
        awaitEnd(stopped);
    }

    @EachQueue
    void the_state_only_moves_forward(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);
        BlockingTask stubborn = pools.uninterruptible();
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
        stubborn.release();
        awaitEnd(pool);
        pool.shutdown();
        assertThat(pool.shutdownNow()).isEmpty();
        awaitEnd(pool);
        assertThat(ran).isEmpty();
    }

    @EachQueue
    void shutdownNow_returns_the_tasks_that_never_started_in_order_and_interrupts_running_ones(QueueKind queueKind)
            throws Exception {
        ThreadPool pool = pools.of(queueKind, 2, 2, 10);
        List<BlockingTask> running = pools.occupy(pool, 2);
        List<Runnable> waiting = List.of(task("1"), task("2"), task("3"), task("4"));
        waiting.forEach(pool::execute);
        assertThat(pool.getCompletedTaskCount()).isZero();

        List<Runnable> returned = pool.shutdownNow();

        assertThat(returned).containsExactlyElementsOf(waiting);
        assertThat(pool.getQueue()).isEmpty();
        assertThat(pool.isShutdown()).isTrue();
        awaitEnd(pool);
        assertThat(running)
                .allSatisfy(blocker -> assertThat(blocker.interrupts()).isEqualTo(1));
        assertThat(ran).isEmpty();
        assertThat(pool.getCompletedTaskCount()).isEqualTo(2);
        returned.add(task("the list is the caller's"));
        assertThat(returned).hasSize(5);
    }

    @EachQueue
    void shutdownNow_returns_the_futures_of_submitted_tasks(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);
        pools.occupy(pool);
        Future<?> future = pool.submit(task("never"));

        List<Runnable> returned = pool.shutdownNow();

        assertThat(returned).hasSize(1);
        assertThat(returned.getFirst()).isSameAs(future);
        assertThat(future.isCancelled()).as("as a builder's pool does").isEqualTo(queueKind.isFromBuilder());
        assertThat(future.cancel(false)).isNotEqualTo(queueKind.isFromBuilder());
    }

    @EachQueue
    void a_task_that_ignores_its_interrupt_keeps_the_pool_from_terminating(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);
        BlockingTask stubborn = pools.uninterruptible();
        pool.execute(stubborn);
        stubborn.awaitBegun();

        pool.shutdownNow();

        stubborn.awaitInterrupt();
        assertThat(pool.awaitTermination(1, TimeUnit.MILLISECONDS)).isFalse();
        assertThat(pool.isTerminating()).isTrue();
        assertThat(pool.getActiveCount()).isEqualTo(1);
        stubborn.release();
        awaitEnd(pool);
        assertThat(stubborn.interrupts()).isEqualTo(1);
    }

    @EachQueue
    void a_task_that_stops_its_own_pool_is_interrupted_itself(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);
        BlockingTask blocker = pools.occupy(pool);
        Runnable behind = task("behind");
        List<Object> seen = new CopyOnWriteArrayList<>();
        pool.execute(() -> {
            seen.addAll(pool.shutdownNow());
            seen.add(Thread.currentThread().isInterrupted());
            assertThatThrownBy(() -> pool.execute(task("late"))).isInstanceOf(RejectedExecutionException.class);
        });
        pool.execute(behind);
        blocker.release();
        awaitEnd(pool);

        assertThat(seen).containsExactly(behind, true);
        assertThat(pool.getCompletedTaskCount()).isEqualTo(2);
    }

    @EachQueue
    void a_task_may_shut_down_its_own_pool(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);
        BlockingTask blocker = pools.occupy(pool);
        pool.execute(() -> {
            pool.shutdown();
            ran.add("interrupted " + Thread.currentThread().isInterrupted());
        });
        pool.execute(task("behind"));
        blocker.release();
        awaitEnd(pool);

        assertThat(ran).containsExactly("interrupted false", "behind");
    }

    @EachQueue
    void an_interrupt_that_a_task_leaves_behind_does_not_reach_the_next(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);
        List<Thread> threads = new CopyOnWriteArrayList<>();
        BlockingTask blocker = pools.occupy(pool);
        for (int i = 0; i < 3; i++) {
            pool.execute(() -> {
                threads.add(Thread.currentThread());
                ran.add("interrupted " + Thread.currentThread().isInterrupted());
                Thread.currentThread().interrupt();
            });
        }
        blocker.release();
        TestPools.awaitCompleted(pool, 4);
        pool.submit(() -> ran.add("after a wait " + Thread.currentThread().isInterrupted()))
                .get();

        assertThat(ran)
                .containsExactly("interrupted false", "interrupted false", "interrupted false", "after a wait false");
        assertThat(threads).as("an interrupt ends no thread").containsOnly(blocker.thread());
        assertThat(pool.getLargestPoolSize()).isEqualTo(1);
    }

    @EachQueue
    void an_interrupt_of_an_idle_thread_does_not_end_it(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);
        Thread thread = pool.submit(Thread::currentThread).get();
        TestPools.awaitCompleted(pool, 1);
        thread.interrupt();

        assertThat(pool.submit(() -> Thread.currentThread().isInterrupted()).get())
                .isFalse();
        assertThat(pool.submit(Thread::currentThread).get()).isSameAs(thread);
    }

    @EachQueue
    void cancelling_a_future_interrupts_its_task_and_no_later_one(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);
        BlockingTask stubborn = pools.uninterruptible();
        Future<?> cancelled = pool.submit((Runnable) stubborn);
        Future<Boolean> next = pool.submit(() -> Thread.currentThread().isInterrupted());
        stubborn.awaitBegun();

        assertThat(cancelled.cancel(true)).isTrue();

        stubborn.awaitInterrupt();
        stubborn.release();
        assertThat(next.get()).isFalse();
        assertThat(stubborn.interrupts()).isEqualTo(1);
    }

    /** A queue that acts on the pool in the middle of an insertion or a removal. */
    private static class HookedQueue extends LinkedBlockingQueue<Runnable> {
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

    @Test
    void a_task_that_enters_the_queue_after_shutdown_is_taken_back_and_rejected() throws Exception {
        HookedQueue queue = new HookedQueue();
        ThreadPool pool = pools.on(queue, 1, 1);
        BlockingTask blocker = pools.occupy(pool);
        queue.beforeOffer = pool::shutdown;

        assertThatThrownBy(() -> pool.execute(task("late"))).isInstanceOf(RejectedExecutionException.class);

        assertThat(queue).isEmpty();
        blocker.release();
        awaitEnd(pool);
        assertThat(ran).isEmpty();
    }

    @Test
    void a_task_that_enters_the_queue_after_shutdownNow_is_taken_back_and_rejected() throws Exception {
        HookedQueue queue = new HookedQueue();
        ThreadPool pool = pools.on(queue, 1, 1);
        pools.occupy(pool);
        queue.beforeOffer = pool::shutdownNow;

        assertThatThrownBy(() -> pool.execute(task("late"))).isInstanceOf(RejectedExecutionException.class);

        awaitEnd(pool);
        assertThat(ran).isEmpty();
    }

    @Test
    void a_task_that_shutdownNow_has_returned_is_not_rejected_too() throws Exception {
        HookedQueue queue = new HookedQueue();
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

    @Test
    void a_task_taken_just_before_the_pool_was_stopped_runs_interrupted() throws Exception {
        HookedQueue queue = new HookedQueue();
        ThreadPool pool = pools.on(queue, 1, 1);
        BlockingTask blocker = pools.occupy(pool);
        List<Runnable> returned = new CopyOnWriteArrayList<>();
        queue.afterTake = () -> returned.addAll(pool.shutdownNow());
        pool.execute(() -> ran.add("interrupted " + Thread.currentThread().isInterrupted()));
        Runnable never = task("never");
        pool.execute(never);
        blocker.release();
        awaitEnd(pool);

        assertThat(ran).containsExactly("interrupted true");
        assertThat(returned).containsExactly(never);
    }

    @EachQueue
    void a_task_submitted_during_shutdownNow_runs_or_is_returned_or_is_rejected(QueueKind queueKind) throws Exception {
        submitDuringShutdown(queueKind, 300, true);
    }

    @EachQueue
    void a_task_submitted_during_shutdown_runs_or_is_rejected(QueueKind queueKind) throws Exception {
        submitDuringShutdown(queueKind, 300, false);
    }

    private static class CountedTask implements Runnable {
        final AtomicInteger runs = new AtomicInteger();
        final AtomicInteger rejections = new AtomicInteger();
        final AtomicInteger returns = new AtomicInteger();

        @Override
        public void run() {
            runs.incrementAndGet();
        }
    }

    private static void submitDuringShutdown(QueueKind queueKind, int rounds, boolean now) throws Exception {
        try (ExecutorService submitter = Executors.newSingleThreadExecutor()) {
            CyclicBarrier start = new CyclicBarrier(2);
            for (int round = 0; round < rounds; round++) {
                ThreadPool pool = queueKind.pool(round % 3, 2, 3);
                List<CountedTask> tasks = new ArrayList<>();
                for (int i = 0; i < 8; i++) {
                    tasks.add(new CountedTask());
                }
                Future<?> submitted = submitter.submit(() -> {
                    start.await();
                    for (CountedTask task : tasks) {
                        try {
                            pool.execute(task);
                        } catch (RejectedExecutionException rejected) {
                            task.rejections.incrementAndGet();
                        }
                    }
                    return null;
                });
                start.await();
                if (round % 2 == 0) {
                    Wait.until(() -> pool.getTaskCount() > 0);
                }
                if (now) {
                    pool.shutdownNow().forEach(task -> ((CountedTask) task).returns.incrementAndGet());
                } else {
                    pool.shutdown();
                }
                submitted.get();
                awaitEnd(pool);
                int runs = 0;
                for (CountedTask task : tasks) {
                    assertThat(task.runs.get() + task.rejections.get() + task.returns.get())
                            .isEqualTo(1);
                    runs += task.runs.get();
                }
                assertThat(pool.getCompletedTaskCount()).isEqualTo(runs);
            }
        }
    }

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

    private final long created = System.nanoTime();

    /** A task with a delay in real time, from the creation of the test on. */
    private class DelayedTask implements Delayed, Runnable {
        private final String name;
        private final long due;

        DelayedTask(String name, Duration delay) {
            this.name = name;
            this.due = created + delay.toNanos();
        }

        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(due - System.nanoTime(), TimeUnit.NANOSECONDS);
        }

        @Override
        public int compareTo(Delayed other) {
            return Long.compare(due - ((DelayedTask) other).due, 0);
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

    @Test
    void shutdownNow_returns_the_tasks_of_a_delay_queue_that_are_not_due() throws Exception {
        ThreadPool pool = pools.on(delayQueue(), 1, 1);
        List<Runnable> waiting = List.of(
                new DelayedTask("now", Duration.ZERO),
                new DelayedTask("in a day", Duration.ofDays(1)),
                new DelayedTask("in two days", Duration.ofDays(2)));
        pools.occupy(pool);
        waiting.forEach(pool::execute);

        assertThat(pool.shutdownNow()).containsExactlyInAnyOrderElementsOf(waiting);

        assertThat(pool.getQueue()).isEmpty();
        awaitEnd(pool);
        assertThat(ran).isEmpty();
    }

    @Test
    void after_shutdown_tasks_of_a_delay_queue_run_when_they_are_due() throws Exception {
        ThreadPool pool = pools.on(delayQueue(), 1, 1);
        BlockingTask blocker = pools.occupy(pool);
        pool.execute(new DelayedTask("second", Duration.ofMillis(10)));
        pool.execute(new DelayedTask("first", Duration.ofMillis(5)));
        blocker.release();

        pool.shutdown();

        awaitEnd(pool);
        assertThat(ran).containsExactly("first", "second");
    }

    @Test
    void after_shutdown_removing_the_last_waiting_task_terminates_the_pool() throws Exception {
        ThreadPool pool = pools.on(delayQueue(), 1, 1);
        BlockingTask blocker = pools.occupy(pool);
        Runnable delayed = new DelayedTask("in a day", Duration.ofDays(1));
        pool.execute(delayed);
        pool.shutdown();
        blocker.release();
        Wait.until(() -> pool.getActiveCount() == 0);
        assertThat(pool.isTerminated()).isFalse();

        assertThat(pool.remove(delayed)).isTrue();

        awaitEnd(pool);
    }

    @Test
    void after_shutdown_purging_the_last_waiting_task_terminates_the_pool() throws Exception {
        class DelayedFuture extends FutureTask<Object> implements Delayed {
            private final DelayedTask delayed = new DelayedTask("in a day", Duration.ofDays(1));

            DelayedFuture() {
                super(() -> null);
            }

            @Override
            public long getDelay(TimeUnit unit) {
                return delayed.getDelay(unit);
            }

            @Override
            public int compareTo(Delayed other) {
                return delayed.compareTo(other);
            }
        }
        ThreadPool pool = pools.on(delayQueue(), 1, 1);
        BlockingTask blocker = pools.occupy(pool);
        DelayedFuture future = new DelayedFuture();
        pool.execute(future);
        pool.shutdown();
        blocker.release();
        Wait.until(() -> pool.getActiveCount() == 0);
        future.cancel(false);

        pool.purge();

        awaitEnd(pool);
    }

    @EachQueue
    void awaitTermination_returns_false_when_the_timeout_elapses(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);

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

    @EachQueue
    void awaitTermination_of_a_terminated_pool_returns_true_for_any_timeout(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);
        pool.shutdown();

        assertThat(pool.awaitTermination(0, TimeUnit.SECONDS)).isTrue();
        assertThat(pool.awaitTermination(-1, TimeUnit.SECONDS)).isTrue();
        assertThat(pool.awaitTermination(Long.MIN_VALUE, TimeUnit.DAYS)).isTrue();
        assertThat(pool.awaitTermination(Long.MAX_VALUE, TimeUnit.DAYS)).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void awaitTermination_with_the_longest_timeout_waits_until_the_pool_has_terminated(TimeUnit unit) throws Exception {
        for (QueueKind queueKind : QueueKind.values()) {
            ThreadPool pool = pools.of(queueKind, 1, 1, 10);
            BlockingTask blocker = pools.occupy(pool);
            pool.shutdown();
            FutureTask<Boolean> awaited = new FutureTask<>(() -> pool.awaitTermination(Long.MAX_VALUE, unit));
            TestPools.awaitParked(TestPools.started(awaited));

            assertThat(awaited.isDone()).isFalse();
            blocker.release();

            assertThat(awaited.get()).isTrue();
        }
    }

    @EachQueue
    void all_threads_that_wait_for_termination_return(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);
        BlockingTask blocker = pools.occupy(pool);
        List<FutureTask<Boolean>> waits = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            FutureTask<Boolean> awaited = new FutureTask<>(() -> pool.awaitTermination(1, TimeUnit.HOURS));
            waits.add(awaited);
            TestPools.awaitParked(TestPools.started(awaited));
        }
        pool.shutdown();
        blocker.release();

        for (FutureTask<Boolean> awaited : waits) {
            assertThat(awaited.get()).isTrue();
        }
    }

    @EachQueue
    void an_interrupt_ends_the_wait_for_termination(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);
        BlockingTask blocker = pools.occupy(pool);
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> pool.awaitTermination(1, TimeUnit.HOURS)).isInstanceOf(InterruptedException.class);
        assertThat(Thread.currentThread().isInterrupted()).isFalse();

        FutureTask<Boolean> awaited = new FutureTask<>(() -> pool.awaitTermination(1, TimeUnit.HOURS));
        Thread waiter = TestPools.started(awaited);
        TestPools.awaitParked(waiter);
        waiter.interrupt();
        assertThatThrownBy(awaited::get).hasCauseInstanceOf(InterruptedException.class);

        assertThat(blocker.interrupts()).isZero();
        assertThat(pool.isShutdown()).isFalse();
    }

    @EachQueue
    void awaitTermination_that_need_not_wait_ignores_an_interrupt(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);
        Thread.currentThread().interrupt();

        assertThat(pool.awaitTermination(0, TimeUnit.SECONDS)).isFalse();
        pool.shutdown();
        assertThat(pool.awaitTermination(1, TimeUnit.HOURS)).isTrue();

        assertThat(Thread.interrupted()).isTrue();
    }

    @EachQueue
    void close_waits_for_all_tasks(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);
        BlockingTask blocker = pools.occupy(pool);
        pool.execute(task("behind"));
        Thread closer = TestPools.started(pool::close);
        Wait.until(pool::isShutdown);
        TestPools.awaitParked(closer);
        assertThat(pool.isTerminated()).isFalse();

        blocker.release();
        closer.join();

        assertThat(pool.isTerminated()).isTrue();
        assertThat(ran).containsExactly("behind");
        assertThat(blocker.interrupts()).isZero();
        pool.close();
        assertThat(pool.isTerminated()).isTrue();
    }

    @EachQueue
    void an_interrupted_close_stops_the_pool_and_continues_to_wait(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);
        BlockingTask stubborn = pools.uninterruptible();
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
        stubborn.release();

        assertThat(closed.get()).as("the interrupt is kept for the caller").isTrue();
        assertThat(pool.isTerminated()).isTrue();
        assertThat(ran).isEmpty();
    }

    /** A pool that records its state when terminated() is called. */
    private class StateRecordingPool extends ThreadPool {
        private final CountDownLatch entered = new CountDownLatch(1);
        private final CountDownLatch goOn = new CountDownLatch(1);
        private volatile RuntimeException thrown;

        StateRecordingPool() {
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

    @Test
    void terminated_is_called_once_when_no_thread_and_no_task_is_left() throws Exception {
        StateRecordingPool pool = pools.keep(new StateRecordingPool());
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

    @Test
    void the_pool_is_not_terminated_before_terminated_has_returned() throws Exception {
        StateRecordingPool pool = pools.keep(new StateRecordingPool());
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

    @Test
    void an_exception_of_terminated_propagates_to_its_caller_and_the_pool_is_terminated() throws Exception {
        StateRecordingPool pool = pools.keep(new StateRecordingPool());
        pool.goOn.countDown();
        pool.thrown = new IllegalStateException("simulated");

        assertThatThrownBy(pool::shutdown).isSameAs(pool.thrown);

        awaitEnd(pool);
    }

    @Test
    void an_exception_of_terminated_in_a_thread_of_the_pool_reaches_its_uncaught_exception_handler() throws Exception {
        AtomicReference<Throwable> uncaught = new AtomicReference<>();
        StateRecordingPool pool = pools.keep(new StateRecordingPool());
        pool.goOn.countDown();
        pool.thrown = new IllegalStateException("simulated");
        pool.setThreadFactory(task -> {
            Thread thread = new Thread(task);
            thread.setUncaughtExceptionHandler((dying, thrown) -> uncaught.set(thrown));
            return thread;
        });
        BlockingTask blocker = pools.occupy(pool);
        pool.shutdown();
        blocker.release();
        awaitEnd(pool);

        blocker.thread().join();
        assertThat(uncaught.get()).isSameAs(pool.thrown);
    }
}
