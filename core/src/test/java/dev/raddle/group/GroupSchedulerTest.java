package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.pool.ThreadPool;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Scheduler;
import dev.raddle.task.Task;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class GroupSchedulerTest {

    private final StepScheduler steps = new StepScheduler();
    private final List<String> events = new ArrayList<>();
    private final List<String> swallowed = new ArrayList<>();

    private GroupPolicy.Builder stepped() {
        return TestTasks.stepped(steps)
                .exceptionSink(ExceptionSink.to((source, error) -> swallowed.add(source + ": " + error.getMessage())));
    }

    /** A task of another API. */
    private class Placed implements Scheduler.Placeable {
        private final String name;
        private int priority;
        private Runnable body = () -> {};

        Placed(String name) {
            this.name = name;
        }

        @Override
        public void run() {
            events.add(name + " ran");
            body.run();
        }

        @Override
        public void reject(RejectedExecutionException reason) {
            String kind = reason instanceof RejectedTaskException rejected ? rejected.reason() : reason.getMessage();
            events.add(name + " rejected, " + kind);
        }

        @Override
        public int priority() {
            return priority;
        }

        @Override
        public String toString() {
            return name;
        }
    }

    @Test
    void placed_tasks_obey_the_limits_of_the_group_and_wait_in_its_queue() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                stepped().defaultMaxConcurrencyPerGroup(2).build())) {
            Scheduler scheduler = executor.scheduler("a");
            executor.submit("a", "own", () -> events.add("own ran"));
            scheduler.place(new Placed("p1"));
            scheduler.execute(() -> events.add("p2 ran"));
            executor.submit("a", "own too", () -> events.add("own too ran"));

            assertThat(executor.groupStats("a")).contains(new GroupStats("a", 2, 2, 2, Integer.MAX_VALUE));
            assertThat(steps.size()).isEqualTo(2);
            steps.runAll();

            assertThat(events).containsExactly("own ran", "p1 ran", "p2 ran", "own too ran");
            assertThat(executor.stats().totalActiveCount()).isZero();
            assertThat(scheduler).hasToString("scheduler through group \"a\"");
        }
    }

    @Test
    void a_placed_task_keeps_its_priority_in_the_queue_of_the_group() {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(stepped().build())) {
            Scheduler scheduler = executor.scheduler("a");
            scheduler.place(new Placed("holder"));
            scheduler.place(new Placed("plain"));
            Placed urgent = new Placed("urgent");
            urgent.priority = 1;
            scheduler.place(urgent);
            steps.runAll();

            assertThat(events).containsExactly("holder ran", "urgent ran", "plain ran");
        }
    }

    @Test
    void a_placed_task_that_is_withdrawn_leaves_the_queue_at_once_and_is_not_rejected() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                stepped().defaultQueueThresholdPerGroup(1).build())) {
            Scheduler scheduler = executor.scheduler("a");
            Scheduler.Placement granted = scheduler.place(new Placed("granted"));
            Scheduler.Placement waits = scheduler.place(new Placed("waits"));

            assertThat(waits.withdraw()).isTrue();
            assertThat(waits.withdraw()).isFalse();
            assertThat(executor.groupStats("a").orElseThrow().queuedCount()).isZero();
            Scheduler.Placement inItsPlace = scheduler.place(new Placed("in its place"));
            assertThat(granted.withdraw()).as("granted and not begun").isTrue();
            steps.runAll();

            assertThat(events).containsExactly("in its place ran");
            assertThat(inItsPlace.withdraw()).as("it has run").isFalse();
            assertThat(executor.stats().totalActiveCount()).isZero();
        }
    }

    @Test
    void a_placed_task_that_runs_cannot_be_withdrawn() {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(stepped().build())) {
            List<Scheduler.Placement> place = new ArrayList<>();
            Placed task = new Placed("p");
            task.body = () -> events.add("withdrawn " + place.getFirst().withdraw());
            place.add(executor.scheduler("a").place(task));

            steps.runAll();

            assertThat(events).containsExactly("p ran", "withdrawn false");
        }
    }

    @Test
    void placing_a_task_in_a_full_group_throws_and_does_not_call_reject() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                stepped().defaultQueueThresholdPerGroup(0).build())) {
            Scheduler scheduler = executor.scheduler("a");
            scheduler.execute(() -> {});

            assertThatThrownBy(() -> scheduler.place(new Placed("p")))
                    .isInstanceOfSatisfying(
                            RejectedTaskException.class,
                            rejected -> assertThat(rejected.reason()).startsWith("group-queue: "));
            assertThatThrownBy(() -> scheduler.execute(() -> events.add("never")))
                    .isInstanceOf(RejectedExecutionException.class);

            steps.runAll();
            assertThat(events).isEmpty();
        }
    }

    @Test
    void a_placed_task_that_is_rejected_after_it_was_accepted_is_notified_once() {
        GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(stepped().build());
        Scheduler scheduler = executor.scheduler("a");
        scheduler.place(new Placed("granted"));
        scheduler.place(new Placed("waits"));
        scheduler.execute(() -> events.add("never"));

        executor.shutdown();
        steps.runAll();

        assertThat(events)
                .containsExactlyInAnyOrder(
                        "granted rejected, shutdown: the executor was shut down",
                        "waits rejected, shutdown: the executor was shut down");
    }

    @Test
    void a_placed_task_of_an_evicted_group_is_rejected_once() {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(stepped().build())) {
            Scheduler scheduler = executor.scheduler("a");
            scheduler.place(new Placed("granted"));
            Scheduler.Placement place = scheduler.place(new Placed("waits"));

            executor.evictGroup("a");
            assertThat(place.withdraw()).isFalse();
            steps.runAll();

            assertThat(events).containsExactly("waits rejected, evicted: the group was evicted", "granted ran");
        }
    }

    @Test
    void a_placed_task_that_waits_too_long_is_rejected_once_and_leaves_the_queue() throws InterruptedException {
        VirtualTime time = new VirtualTime();
        CountDownLatch rejectCalled = new CountDownLatch(1);
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                stepped().timeSource(time).queueTimeout(Duration.ofSeconds(2)).build())) {
            executor.scheduler("a").place(new Placed("granted"));
            executor.scheduler("a").place(new Placed("waits") {
                @Override
                public void reject(RejectedExecutionException reason) {
                    super.reject(reason);
                    rejectCalled.countDown();
                }
            });
            Scheduler.Placement withdrawn = executor.scheduler("a").place(new Placed("withdrawn"));
            assertThat(withdrawn.withdraw()).isTrue();
            assertThat(time.alarms()).isEqualTo(1);

            time.advance(Duration.ofSeconds(2));
            rejectCalled.await();
            steps.runAll();

            assertThat(executor.stats().totalQueuedCount()).isZero();
            assertThat(events)
                    .containsExactly(
                            "waits rejected, queue-timeout: queue timeout after 2000 ms, 1 of 1 running,"
                                    + " 0 of unlimited waiting",
                            "granted ran");
        }
    }

    @Test
    void the_exception_of_a_placed_task_that_its_caller_runs_goes_to_the_sink_and_the_task_is_not_rejected() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(stepped()
                .defaultQueueThresholdPerGroup(0)
                .rejectionPolicy(RejectionPolicy.CALLER_RUNS)
                .build())) {
            executor.submit("a", "holder", () -> "");
            Placed throwing = new Placed("p");
            throwing.body = () -> {
                throw new IllegalStateException("from the task");
            };

            Scheduler.Placement place = executor.scheduler("a").place(throwing);

            assertThat(place.withdraw()).isFalse();
            assertThat(events).containsExactly("p ran");
            assertThat(swallowed).containsExactly("task p, placed in a group: from the task");
        }
    }

    @Test
    void a_placed_task_that_is_shut_down_while_a_listener_is_notified_of_its_start_is_rejected() {
        List<GroupExecutor> itself = new ArrayList<>();
        TaskLifecycleListener listener = new TaskLifecycleListener() {
            @Override
            public void onStarted(String key, String id) {
                itself.getFirst().shutdown();
            }
        };
        itself.add(GroupExecutor.newVirtualThreadExecutor(
                stepped().taskLifecycleListener(listener).build()));
        itself.getFirst().scheduler("a").place(new Placed("p"));

        steps.runAll();

        assertThat(events).hasSize(1);
        assertThat(events.getFirst()).startsWith("p rejected, ").contains("the executor was shut down");
    }

    @Test
    void a_placed_task_whose_thread_cannot_be_started_is_rejected() {
        OutOfMemoryError noThread = new OutOfMemoryError("no thread");
        Scheduler refuses = task -> {
            throw noThread;
        };
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                stepped().scheduler(key -> refuses).build())) {
            executor.scheduler("a").place(new Placed("p"));
            executor.scheduler("a").execute(() -> events.add("never"));

            assertThat(events).hasSize(1);
            assertThat(events.getFirst()).startsWith("p rejected, ").contains("no thread");
            assertThat(swallowed).hasSize(2).allMatch(report -> report.endsWith(": no thread"));
            assertThat(executor.stats().totalActiveCount()).isZero();
        }
    }

    @Test
    void a_placed_task_that_throws_when_it_is_rejected_does_not_keep_the_others_from_ending() {
        GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(stepped().build());
        executor.submit("a", "holder", () -> "");
        executor.scheduler("a").place(new Scheduler.Placeable() {
            @Override
            public void run() {}

            @Override
            public void reject(RejectedExecutionException reason) {
                throw new IllegalStateException("from reject");
            }
        });
        TaskHandle<String> waits = executor.submit("a", "waits", () -> "never");

        executor.shutdown();

        assertThat(waits.isDone()).isTrue();
        assertThat(swallowed).hasSize(1);
        assertThat(swallowed.getFirst()).endsWith(": from reject");
        assertThat(executor.shutdown(Duration.ofDays(1))).isTrue();
    }

    @Test
    void the_exception_of_a_placed_task_goes_to_the_sink_and_no_permit_is_lost() {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(stepped().build())) {
            executor.scheduler("a").execute(() -> {
                throw new StackOverflowError("from a runnable");
            });
            executor.scheduler("a").execute(() -> events.add("next"));
            steps.runAll();

            assertThat(events).containsExactly("next");
            assertThat(swallowed).hasSize(1);
            assertThat(swallowed.getFirst()).endsWith(": from a runnable");
            assertThat(executor.stats().totalActiveCount()).isZero();
        }
    }

    @Test
    void a_placed_task_has_the_same_name_in_the_group_as_in_its_own_api() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                        stepped().defaultQueueThresholdPerGroup(0).build());
                ThreadScope scope = ThreadScope.open("page").withScheduler(executor.scheduler("a"))) {
            scope.submit("first", () -> "one");
            Task<String> second = scope.submit("second", () -> "two");

            assertThatThrownBy(second::await)
                    .isInstanceOf(RejectedTaskException.class)
                    .hasMessageStartingWith("task \"second\" in group \"a\" was rejected, group-queue: ");
            steps.runAll();
        }
    }

    @Test
    void a_scheduler_of_an_executor_that_is_shut_down_throws() {
        GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(stepped().build());
        Scheduler scheduler = executor.scheduler("a");
        executor.shutdown();

        assertThatThrownBy(() -> scheduler.execute(() -> {}))
                .isInstanceOfSatisfying(RejectedTaskException.class, rejected -> {
                    assertThat(rejected.groupKey()).isEqualTo("a");
                    assertThat(rejected.reason()).isEqualTo("shutdown: the executor is shut down");
                });
        assertThatNullPointerException().isThrownBy(() -> executor.scheduler(null));
        assertThatNullPointerException().isThrownBy(() -> scheduler.execute(null));
    }

    @Test
    void blocked_platform_threads_of_a_groups_pool_do_not_delay_other_groups() throws Exception {
        CountDownLatch letGo = new CountDownLatch(1);
        BlockingQueue<Thread> threads = new LinkedBlockingQueue<>();
        try (ThreadPool pool = ThreadPool.builder("reports").threads(2).build();
                GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                        .scheduler(key -> key.equals("reports") ? Scheduler.from(pool) : Scheduler.virtualThreads())
                        .defaultMaxConcurrencyPerGroup(8)
                        .build())) {
            List<TaskHandle<Boolean>> reports = new ArrayList<>();
            for (int i = 0; i < 8; i++) { // more than the pool has threads, so all of them are blocked
                reports.add(executor.submit("reports", "r" + i, () -> {
                    threads.add(Thread.currentThread());
                    letGo.await();
                    return true;
                }));
            }
            Thread one = threads.take();
            Thread other = threads.take();

            GroupResult<Thread> elsewhere =
                    executor.submit("web", "w", Thread::currentThread).await();

            assertThat(one.isVirtual()).isFalse();
            assertThat(List.of(one.getName(), other.getName())).containsExactlyInAnyOrder("reports-1", "reports-2");
            assertThat(elsewhere.value().isVirtual()).isTrue();
            assertThat(reports).noneMatch(TaskHandle::isDone);
            letGo.countDown();
            for (TaskHandle<Boolean> report : reports) {
                assertThat(report.await().value()).isTrue();
            }
            assertThat(executor.stats().totalActiveCount()).isZero();
        }
    }

    @Test
    void the_scheduler_function_is_called_once_in_the_lifetime_of_a_group() throws InterruptedException {
        List<String> asked = new ArrayList<>();
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        try (ExecutorService pool = Executors.newSingleThreadExecutor();
                GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                        .scheduler(key -> {
                            asked.add(key);
                            return pool::execute;
                        })
                        .build())) {
            for (int i = 0; i < 5; i++) {
                executor.submit("a", "t" + i, () -> threads.add(Thread.currentThread()))
                        .await();
            }
            executor.evictGroup("a");
            executor.submit("a", "again", () -> threads.add(Thread.currentThread()))
                    .await();
        }
        assertThat(asked).containsExactly("a", "a");
        assertThat(threads).hasSize(1);
    }

    @Test
    void a_group_that_is_evicted_between_the_grant_and_the_start_still_finds_its_scheduler()
            throws InterruptedException {
        List<GroupExecutor> itself = new ArrayList<>();
        List<String> asked = new ArrayList<>();
        Scheduler evicts = task -> {
            itself.getFirst().evictGroup("a"); // the run that was granted with this one finds no limits now
            steps.execute(task);
        };
        itself.add(GroupExecutor.newVirtualThreadExecutor(stepped()
                .defaultMaxConcurrencyPerGroup(2)
                .scheduler(key -> {
                    asked.add(key);
                    return evicts;
                })
                .build()));
        try (GroupExecutor executor = itself.getFirst()) {
            executor.pauseGroup("a");
            TaskHandle<Boolean> first = executor.submit("a", "first", () -> events.add("first"));
            TaskHandle<Boolean> second = executor.submit("a", "second", () -> events.add("second"));

            executor.resumeGroup("a");
            steps.runAll();

            assertThat(first.await().value()).isTrue();
            assertThat(second.await().value()).isTrue();
            assertThat(events).containsExactly("first", "second");
            assertThat(asked).hasSize(2);
        }
    }
}
