package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.Together;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ListenerTest {

    private final TestPools pools = new TestPools();
    private final VirtualTime time = new VirtualTime();
    private final List<String> events = new CopyOnWriteArrayList<>();
    private final List<PoolListener.Ended> ends = new CopyOnWriteArrayList<>();
    private final List<Throwable> uncaught = new CopyOnWriteArrayList<>();

    @AfterEach
    void endAll() throws InterruptedException {
        pools.endAll();
    }

    /** Records all events, with the tasks' names. */
    private class RecordingListener implements PoolListener {
        @Override
        public void accepted(Runnable task) {
            events.add("accepted " + task);
        }

        @Override
        public void started(Runnable task, Thread thread) {
            assertThat(thread).isSameAs(Thread.currentThread());
            events.add("started " + task);
        }

        @Override
        public void ended(Ended event) {
            assertThat(event.thread()).isSameAs(Thread.currentThread());
            ends.add(event);
            events.add("ended " + event.task());
        }

        @Override
        public void rejected(Runnable task) {
            events.add("rejected " + task);
        }

        @Override
        public void handedBack(Runnable task) {
            events.add("handed back " + task);
        }
    }

    private record NamedRunnable(String name, Runnable body) implements Runnable {
        NamedRunnable(String name) {
            this(name, () -> {});
        }

        @Override
        public void run() {
            body.run();
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private Thread reporting(Runnable task) {
        Thread thread = new Thread(task);
        thread.setUncaughtExceptionHandler((dying, thrown) -> uncaught.add(thrown));
        return thread;
    }

    private PoolBuilder plan(QueueKind queueKind, int capacity) {
        return queueKind
                .plan(1, 1, capacity)
                .timeSource(time)
                .threadFactory(this::reporting)
                .listener(new RecordingListener());
    }

    @EachQueue
    void every_task_is_accepted_started_and_ended_once(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.keep(plan(queueKind, 10).build());
        BlockingTask blocker = pools.blocker();
        pool.execute(new NamedRunnable("first", blocker));
        blocker.awaitBegun();
        Wait.until(() -> events.size() == 2);
        pool.execute(new NamedRunnable("second"));
        assertThat(events).containsExactlyInAnyOrder("accepted first", "started first", "accepted second");

        blocker.release();
        pool.close();

        assertThat(events)
                .containsSubsequence("started first", "ended first", "started second", "ended second")
                .containsOnlyOnce("accepted first", "accepted second")
                .hasSize(6);
        assertThat(ends).extracting(PoolListener.Ended::failure).containsOnlyNulls();
        assertThat(uncaught).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(names = {"BUILT_IN", "BUILT_IN_PRIORITY"})
    void an_ended_task_is_reported_with_its_wait_time_and_its_run_time(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.keep(plan(queueKind, 10).build());
        BlockingTask first = pools.blocker();
        BlockingTask second = pools.blocker();
        pool.execute(first);
        first.awaitBegun();
        time.advance(Duration.ofSeconds(1));
        pool.execute(second);
        time.advance(Duration.ofSeconds(2));
        first.release();
        second.awaitBegun();
        time.advance(Duration.ofSeconds(5));
        second.release();
        pool.close();

        assertThat(ends)
                .containsExactly(
                        new PoolListener.Ended(first, first.thread(), Duration.ZERO, Duration.ofSeconds(3), null),
                        new PoolListener.Ended(
                                second, second.thread(), Duration.ofSeconds(2), Duration.ofSeconds(5), null));
    }

    @ParameterizedTest
    @EnumSource(names = {"BUILT_IN", "BUILT_IN_PRIORITY"})
    void a_task_given_to_a_new_thread_has_no_wait_time(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.keep(queueKind
                .plan(1, 2, 1)
                .timeSource(time)
                .threadFactory(this::reporting)
                .listener(new RecordingListener())
                .build());
        BlockingTask first = pools.blocker();
        pool.execute(first);
        first.awaitBegun();
        BlockingTask queued = pools.blocker();
        pool.execute(queued);
        time.advance(Duration.ofSeconds(4));
        BlockingTask direct = pools.blocker();
        pool.execute(direct);
        direct.awaitBegun();
        direct.release();
        queued.awaitBegun();
        queued.release();
        first.release();
        pool.close();

        assertThat(ends)
                .filteredOn(end -> end.task() == direct)
                .extracting(PoolListener.Ended::waited)
                .containsExactly(Duration.ZERO);
        assertThat(ends)
                .filteredOn(end -> end.task() == queued)
                .extracting(PoolListener.Ended::waited)
                .containsExactly(Duration.ofSeconds(4));
    }

    @ParameterizedTest
    @EnumSource(names = {"LINKED", "ARRAY"})
    void a_user_supplied_queue_records_no_wait_time(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.keep(plan(queueKind, 10).build());
        BlockingTask blocker = pools.occupy(pool);
        pool.execute(new NamedRunnable("waiting"));
        time.advance(Duration.ofSeconds(3));
        blocker.release();
        pool.close();

        assertThat(ends).extracting(PoolListener.Ended::waited).containsExactly(Duration.ZERO, Duration.ZERO);
        assertThat(ends).extracting(PoolListener.Ended::ran).containsExactly(Duration.ofSeconds(3), Duration.ZERO);
    }

    @EachQueue
    void the_exception_of_a_task_is_in_its_end_event(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.keep(plan(queueKind, 10).build());
        IllegalStateException thrown = new IllegalStateException("simulated");
        pool.execute(new NamedRunnable("failing", TestPools.throwing(thrown)));
        pool.execute(new NamedRunnable("behind"));
        Future<?> future = pool.submit(TestPools.throwing(thrown));
        Wait.until(() -> ends.size() == 3);
        pool.close();

        assertThat(ends).extracting(PoolListener.Ended::failure).containsExactly(thrown, null, null);
        assertThat(ends.getLast().task()).isSameAs(future);
        Wait.until(() -> !uncaught.isEmpty());
        assertThat(uncaught).containsExactly(thrown);
    }

    @EachQueue
    void a_rejected_task_has_one_event(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.keep(plan(queueKind, 1).build());
        pools.occupy(pool);
        pool.execute(new NamedRunnable("waiting"));
        for (RejectionHandler handler : List.of(
                new ThreadPool.AbortPolicy(),
                new ThreadPool.DiscardPolicy(),
                new ThreadPool.CallerRunsPolicy(),
                (RejectionHandler) (task, full) -> {})) {
            events.clear();
            pool.setRejectionHandler(handler);
            try {
                pool.execute(new NamedRunnable("rejected one"));
            } catch (RejectedExecutionException expected) {
                assertThat(handler).isInstanceOf(ThreadPool.AbortPolicy.class);
            }
            assertThat(events).containsExactly("rejected rejected one");
        }
        assertThat(pool.stats().rejected()).isEqualTo(4);
    }

    @EachQueue
    void a_task_that_a_submitter_waited_for_is_accepted_and_not_rejected(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.keep(
                plan(queueKind, 1).rejection(new ThreadPool.BlockPolicy()).build());
        BlockingTask blocker = pools.occupy(pool);
        pool.execute(new NamedRunnable("waiting"));
        Thread submitter = TestPools.started(() -> pool.execute(new NamedRunnable("late")));
        TestPools.awaitParkedIn(submitter, "rejected");
        assertThat(events).doesNotContain("accepted late", "rejected late");
        blocker.release();
        submitter.join();
        pool.close();

        assertThat(events)
                .containsOnlyOnce("accepted late", "started late", "ended late")
                .doesNotContain("rejected late");
    }

    @Test
    void a_task_is_reported_as_handed_back_before_the_pool_terminates() throws Exception {
        List<Thread> threads = new CopyOnWriteArrayList<>();
        AtomicReference<ThreadPool> stopped = new AtomicReference<>();
        ThreadPool pool = pools.keep(ThreadPool.builder("p")
                .threads(1)
                .listener(new PoolListener() {
                    @Override
                    public void started(Runnable task, Thread thread) {
                        threads.add(thread);
                    }

                    @Override
                    public void handedBack(Runnable task) {
                        Wait.until(() -> threads.getFirst().getState() == Thread.State.TERMINATED);
                        events.add("terminated " + stopped.get().isTerminated());
                    }
                })
                .build());
        stopped.set(pool);
        pools.occupy(pool);
        pool.execute(() -> {});
        assertThat(pool.shutdownNow()).hasSize(1);

        assertThat(events).containsExactly("terminated false");
        assertThat(pool.isTerminated()).isTrue();
    }

    @EachQueue
    void tasks_that_never_started_are_reported_when_they_are_handed_back(QueueKind queueKind) throws Exception {
        ThreadPool stopped = pools.keep(plan(queueKind, 10).build());
        pools.occupy(stopped);
        stopped.execute(new NamedRunnable("first"));
        stopped.execute(new NamedRunnable("second"));
        stopped.shutdownNow();
        assertThat(events).containsSubsequence("handed back first", "handed back second");

        events.clear();
        ThreadPool drained = pools.keep(plan(queueKind, 10).build());
        pools.occupy(drained);
        drained.execute(new NamedRunnable("third"));
        drained.drain(Duration.ZERO);
        assertThat(events).containsOnlyOnce("handed back third").doesNotContain("started third", "ended third");
    }

    @Test
    void a_task_skipped_by_beforeExecute_ends_with_the_cause() throws Exception {
        IllegalStateException thrown = new IllegalStateException("simulated");
        class SkippingPool extends ThreadPool {
            SkippingPool() {
                super(plan(QueueKind.BUILT_IN, 10));
            }

            @Override
            protected void beforeExecute(Thread thread, Runnable task) {
                throw thrown;
            }
        }
        ThreadPool pool = pools.keep(new SkippingPool());
        pool.execute(new NamedRunnable("refused"));
        Wait.until(() -> ends.size() == 1);

        assertThat(ends).extracting(PoolListener.Ended::failure).containsExactly(thrown);
    }

    @EachQueue
    void an_exception_of_a_listener_changes_nothing_and_is_reported(QueueKind queueKind) throws Exception {
        RuntimeException thrown = new IllegalStateException("simulated");
        List<Throwable> submitters = new CopyOnWriteArrayList<>();
        Thread.currentThread().setUncaughtExceptionHandler((thread, failure) -> submitters.add(failure));
        class ThrowingListener implements PoolListener {
            @Override
            public void accepted(Runnable task) {
                throw thrown;
            }

            @Override
            public void started(Runnable task, Thread thread) {
                throw thrown;
            }

            @Override
            public void ended(Ended event) {
                throw thrown;
            }

            @Override
            public void rejected(Runnable task) {
                throw thrown;
            }

            @Override
            public void handedBack(Runnable task) {
                throw thrown;
            }
        }
        ThreadPool pool = pools.keep(queueKind
                .plan(1, 1, 1)
                .threadFactory(this::reporting)
                .rejection(new ThreadPool.DiscardPolicy())
                .listener(new ThrowingListener())
                .build());

        Thread first = pool.submit(Thread::currentThread).get();
        TestPools.awaitCompleted(pool, 1);
        BlockingTask blocker = pools.occupy(pool);
        Runnable waiting = new NamedRunnable("waiting");
        pool.execute(waiting);
        pool.execute(new NamedRunnable("rejected"));
        assertThat(pool.shutdownNow()).containsExactly(waiting);

        assertThat(pool.awaitTermination(1, TimeUnit.HOURS)).isTrue();
        assertThat(blocker.thread()).as("the exception ends no thread").isSameAs(first);
        assertThat(submitters)
                .as("three accepted, one rejected, one handed back")
                .hasSize(5)
                .containsOnly(thrown);
        assertThat(uncaught).as("two started, two ended").hasSize(4).containsOnly(thrown);
        assertThat(pool.getCompletedTaskCount()).isEqualTo(2);
    }

    @EachQueue
    void a_listener_may_call_the_pool(QueueKind queueKind) throws Exception {
        AtomicInteger calls = new AtomicInteger();
        ThreadPool[] own = new ThreadPool[1];
        class QueryingListener implements PoolListener {
            private void queryPool() {
                own[0].stats();
                assertThat(own[0].toString()).contains("pool size");
                own[0].purge();
                calls.incrementAndGet();
            }

            @Override
            public void accepted(Runnable task) {
                queryPool();
            }

            @Override
            public void started(Runnable task, Thread thread) {
                queryPool();
            }

            @Override
            public void ended(Ended event) {
                queryPool();
            }
        }
        own[0] = pools.keep(
                queueKind.plan(1, 1, 10).listener(new QueryingListener()).build());
        own[0].submit(() -> {}).get();
        own[0].close();

        assertThat(calls).hasValue(3);
    }

    @EachQueue
    void the_events_of_many_tasks_add_up(QueueKind queueKind) throws Exception {
        ConcurrentHashMap<Runnable, AtomicInteger> balance = new ConcurrentHashMap<>();
        class BalancingListener implements PoolListener {
            private void add(Runnable task, int amount) {
                balance.computeIfAbsent(task, none -> new AtomicInteger()).addAndGet(amount);
            }

            @Override
            public void accepted(Runnable task) {
                add(task, 1);
            }

            @Override
            public void started(Runnable task, Thread thread) {
                add(task, 10);
            }

            @Override
            public void ended(Ended event) {
                add(event.task(), 100);
            }

            @Override
            public void rejected(Runnable task) {
                add(task, 1_000);
            }

            @Override
            public void handedBack(Runnable task) {
                add(task, 10_000);
            }
        }
        for (int round = 0; round < 50; round++) {
            balance.clear();
            ThreadPool pool = queueKind
                    .plan(1, 2, 10)
                    .rejection(new ThreadPool.DiscardPolicy())
                    .listener(new BalancingListener())
                    .build();
            Together.together(List.of(
                    () -> {
                        for (int i = 0; i < 100; i++) {
                            pool.execute(new NamedRunnable("t" + i));
                        }
                        return null;
                    },
                    pool::shutdownNow));
            assertThat(pool.awaitTermination(1, TimeUnit.HOURS)).isTrue();

            assertThat(balance).hasSize(100);
            assertThat(balance.values())
                    .as("ran, rejected or handed back")
                    .allSatisfy(sum -> assertThat(sum.get()).isIn(111, 1_000, 10_001));
        }
    }
}
