package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;

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

    /** Hears everything; names tasks by what they are called. */
    private class Recording implements PoolListener {
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

    private record Named(String name, Runnable body) implements Runnable {
        Named(String name) {
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

    private ThreadPool.Builder plan(Backlog backlog, int capacity) {
        return backlog.plan(1, 1, capacity)
                .timeSource(time)
                .threadFactory(this::reporting)
                .listener(new Recording());
    }

    // K8
    @EachQueue
    void every_task_is_accepted_started_and_ended_once(Backlog backlog) throws Exception {
        ThreadPool pool = pools.keep(plan(backlog, 10).build());
        Plug plug = pools.plug();
        pool.execute(new Named("first", plug));
        plug.awaitBegun();
        Wait.until(() -> events.size() == 2);
        pool.execute(new Named("second"));
        assertThat(events).containsExactlyInAnyOrder("accepted first", "started first", "accepted second");

        plug.letGo();
        pool.close();

        assertThat(events)
                .containsSubsequence("started first", "ended first", "started second", "ended second")
                .containsOnlyOnce("accepted first", "accepted second")
                .hasSize(6);
        assertThat(ends).extracting(PoolListener.Ended::failure).containsOnlyNulls();
        assertThat(uncaught).isEmpty();
    }

    // K8
    @ParameterizedTest
    @EnumSource(names = {"BUILT_IN", "BUILT_IN_PRIORITY"})
    void an_ended_task_has_its_time_in_the_queue_and_its_time_at_work(Backlog backlog) throws Exception {
        ThreadPool pool = pools.keep(plan(backlog, 10).build());
        Plug first = pools.plug();
        Plug second = pools.plug();
        pool.execute(first);
        first.awaitBegun();
        time.advance(Duration.ofSeconds(1));
        pool.execute(second);
        time.advance(Duration.ofSeconds(2));
        first.letGo();
        second.awaitBegun();
        time.advance(Duration.ofSeconds(5));
        second.letGo();
        pool.close();

        assertThat(ends)
                .containsExactly(
                        new PoolListener.Ended(first, first.thread(), Duration.ZERO, Duration.ofSeconds(3), null),
                        new PoolListener.Ended(
                                second, second.thread(), Duration.ofSeconds(2), Duration.ofSeconds(5), null));
    }

    // K8
    @ParameterizedTest
    @EnumSource(names = {"BUILT_IN", "BUILT_IN_PRIORITY"})
    void a_task_that_was_given_to_a_new_thread_has_not_waited_for_the_one_before(Backlog backlog) throws Exception {
        ThreadPool pool = pools.keep(backlog.plan(1, 2, 1)
                .timeSource(time)
                .threadFactory(this::reporting)
                .listener(new Recording())
                .build());
        Plug first = pools.plug();
        pool.execute(first);
        first.awaitBegun();
        Plug queued = pools.plug();
        pool.execute(queued);
        time.advance(Duration.ofSeconds(4));
        Plug direct = pools.plug();
        pool.execute(direct);
        direct.awaitBegun();
        direct.letGo();
        queued.awaitBegun();
        queued.letGo();
        first.letGo();
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

    // K8
    @ParameterizedTest
    @EnumSource(names = {"LINKED", "ARRAY"})
    void a_queue_from_outside_keeps_no_time(Backlog backlog) throws Exception {
        ThreadPool pool = pools.keep(plan(backlog, 10).build());
        Plug plug = pools.occupy(pool);
        pool.execute(new Named("waiting"));
        time.advance(Duration.ofSeconds(3));
        plug.letGo();
        pool.close();

        assertThat(ends).extracting(PoolListener.Ended::waited).containsExactly(Duration.ZERO, Duration.ZERO);
        assertThat(ends).extracting(PoolListener.Ended::ran).containsExactly(Duration.ofSeconds(3), Duration.ZERO);
    }

    // K8, K2
    @EachQueue
    void what_a_task_threw_is_in_its_end(Backlog backlog) throws Exception {
        ThreadPool pool = pools.keep(plan(backlog, 10).build());
        IllegalStateException thrown = new IllegalStateException("simulated");
        pool.execute(new Named("failing", TestPools.throwing(thrown)));
        pool.execute(new Named("behind"));
        Future<?> future = pool.submit(TestPools.throwing(thrown));
        Wait.until(() -> ends.size() == 3);
        pool.close();

        assertThat(ends).extracting(PoolListener.Ended::failure).containsExactly(thrown, null, null);
        assertThat(ends.getLast().task()).isSameAs(future);
        Wait.until(() -> !uncaught.isEmpty());
        assertThat(uncaught).containsExactly(thrown);
    }

    // K8
    @EachQueue
    void a_rejected_task_is_told_once_and_nothing_else(Backlog backlog) throws Exception {
        ThreadPool pool = pools.keep(plan(backlog, 1).build());
        pools.occupy(pool);
        pool.execute(new Named("waiting"));
        for (RejectionHandler handler : List.of(
                new ThreadPool.AbortPolicy(),
                new ThreadPool.DiscardPolicy(),
                new ThreadPool.CallerRunsPolicy(),
                (RejectionHandler) (task, full) -> {})) {
            events.clear();
            pool.setRejectionHandler(handler);
            try {
                pool.execute(new Named("rejected one"));
            } catch (RejectedExecutionException expected) {
                assertThat(handler).isInstanceOf(ThreadPool.AbortPolicy.class);
            }
            assertThat(events).containsExactly("rejected rejected one");
        }
        assertThat(pool.stats().rejected()).isEqualTo(4);
    }

    // K8
    @EachQueue
    void a_task_that_a_submitter_waited_for_is_accepted_and_not_rejected(Backlog backlog) throws Exception {
        ThreadPool pool = pools.keep(
                plan(backlog, 1).rejection(new ThreadPool.BlockPolicy()).build());
        Plug plug = pools.occupy(pool);
        pool.execute(new Named("waiting"));
        Thread submitter = TestPools.started(() -> pool.execute(new Named("late")));
        TestPools.awaitParkedIn(submitter, "rejected");
        assertThat(events).doesNotContain("accepted late", "rejected late");
        plug.letGo();
        submitter.join();
        pool.close();

        assertThat(events)
                .containsOnlyOnce("accepted late", "started late", "ended late")
                .doesNotContain("rejected late");
    }

    // K8, G3
    @EachQueue
    void tasks_that_never_started_are_told_when_they_are_handed_back(Backlog backlog) throws Exception {
        ThreadPool stopped = pools.keep(plan(backlog, 10).build());
        pools.occupy(stopped);
        stopped.execute(new Named("first"));
        stopped.execute(new Named("second"));
        stopped.shutdownNow();
        assertThat(events).containsSubsequence("handed back first", "handed back second");

        events.clear();
        ThreadPool drained = pools.keep(plan(backlog, 10).build());
        pools.occupy(drained);
        drained.execute(new Named("third"));
        drained.drain(Duration.ZERO);
        assertThat(events).containsOnlyOnce("handed back third").doesNotContain("started third", "ended third");
    }

    // K8, K3
    @Test
    void a_task_that_beforeExecute_kept_from_running_ends_with_the_cause() throws Exception {
        IllegalStateException thrown = new IllegalStateException("simulated");
        class Refusing extends ThreadPool {
            Refusing() {
                super(plan(Backlog.BUILT_IN, 10));
            }

            @Override
            protected void beforeExecute(Thread thread, Runnable task) {
                throw thrown;
            }
        }
        ThreadPool pool = pools.keep(new Refusing());
        pool.execute(new Named("refused"));
        Wait.until(() -> ends.size() == 1);

        assertThat(ends).extracting(PoolListener.Ended::failure).containsExactly(thrown);
    }

    // K8
    @EachQueue
    void what_a_listener_throws_changes_nothing_and_is_reported(Backlog backlog) throws Exception {
        RuntimeException thrown = new IllegalStateException("simulated");
        List<Throwable> submitters = new CopyOnWriteArrayList<>();
        Thread.currentThread().setUncaughtExceptionHandler((thread, failure) -> submitters.add(failure));
        class Throwing implements PoolListener {
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
        ThreadPool pool = pools.keep(backlog.plan(1, 1, 1)
                .threadFactory(this::reporting)
                .rejection(new ThreadPool.DiscardPolicy())
                .listener(new Throwing())
                .build());

        Thread first = pool.submit(Thread::currentThread).get();
        TestPools.awaitCompleted(pool, 1);
        Plug plug = pools.occupy(pool);
        Runnable waiting = new Named("waiting");
        pool.execute(waiting);
        pool.execute(new Named("rejected"));
        assertThat(pool.shutdownNow()).containsExactly(waiting);

        assertThat(pool.awaitTermination(1, TimeUnit.HOURS)).isTrue();
        assertThat(plug.thread()).as("it ends no thread").isSameAs(first);
        assertThat(submitters)
                .as("three accepted, one rejected, one handed back")
                .hasSize(5)
                .containsOnly(thrown);
        assertThat(uncaught).as("two started, two ended").hasSize(4).containsOnly(thrown);
        assertThat(pool.getCompletedTaskCount()).isEqualTo(2);
    }

    // K8
    @EachQueue
    void a_listener_may_call_the_pool(Backlog backlog) throws Exception {
        AtomicInteger calls = new AtomicInteger();
        ThreadPool[] own = new ThreadPool[1];
        class Curious implements PoolListener {
            private void look() {
                own[0].stats();
                assertThat(own[0].toString()).contains("pool size");
                own[0].purge();
                calls.incrementAndGet();
            }

            @Override
            public void accepted(Runnable task) {
                look();
            }

            @Override
            public void started(Runnable task, Thread thread) {
                look();
            }

            @Override
            public void ended(Ended event) {
                look();
            }
        }
        own[0] = pools.keep(backlog.plan(1, 1, 10).listener(new Curious()).build());
        own[0].submit(() -> {}).get();
        own[0].close();

        assertThat(calls).hasValue(3);
    }

    // K8, K7
    @EachQueue
    void the_events_of_many_tasks_add_up(Backlog backlog) throws Exception {
        ConcurrentHashMap<Runnable, AtomicInteger> balance = new ConcurrentHashMap<>();
        class Balancing implements PoolListener {
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
            ThreadPool pool = backlog.plan(1, 2, 10)
                    .rejection(new ThreadPool.DiscardPolicy())
                    .listener(new Balancing())
                    .build();
            TestPools.together(List.of(
                    () -> {
                        for (int i = 0; i < 100; i++) {
                            pool.execute(new Named("t" + i));
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
