package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.kernel.Locks;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskStatus;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.Together;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class GroupLifeCycleTest {

    private static final Duration FOREVER = Duration.ofSeconds(Long.MAX_VALUE);
    private static final Duration LONG_AGO = Duration.ofSeconds(Long.MIN_VALUE);

    private final VirtualTime time = new VirtualTime();
    private final StepScheduler steps = new StepScheduler();
    private final AtomicInteger lookups = new AtomicInteger();

    private GroupPolicy.Builder closesAtOnce() {
        return GroupPolicy.builder().timeSource(time).closeTimeout(Duration.ZERO);
    }

    private GroupPolicy.Builder countsLookups() {
        return closesAtOnce().concurrencyResolver(key -> {
            lookups.incrementAndGet();
            return 1;
        });
    }

    private static <T> FutureTask<T> inThread(Callable<T> body) {
        FutureTask<T> task = new FutureTask<>(body);
        Thread.ofPlatform().daemon().start(task);
        return task;
    }

    private static String reasonOf(TaskHandle<?> handle) {
        assertThat(handle.isDone()).isTrue();
        List<String> reasons = new ArrayList<>();
        assertThatThrownBy(handle::join)
                .as("%s: %s", handle, handle.toCompletableFuture())
                .isInstanceOfSatisfying(RejectedTaskException.class, rejected -> reasons.add(rejected.reason()));
        return reasons.getFirst();
    }

    // Ending a group.

    @Test
    void shutting_a_group_down_rejects_waiting_tasks_interrupts_running_ones_and_affects_no_other_group()
            throws Exception {
        BlockingTask running = new BlockingTask();
        BlockingTask other = new BlockingTask();
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(closesAtOnce().build())) {
            TaskHandle<String> runs = executor.submit("a", "runs", running);
            TaskHandle<String> waits = executor.submit("a", "waits", () -> "never");
            TaskHandle<String> otherRuns = executor.submit("b", "runs", other);
            TaskHandle<String> otherWaits = executor.submit("b", "waits", () -> "its turn");
            running.awaitBegun();

            executor.shutdownGroup("a");

            assertThat(reasonOf(waits)).isEqualTo("shutdown: the group was shut down");
            assertThat(runs.await().status()).isEqualTo(TaskStatus.CANCELLED);
            assertThat(running.interrupts()).isEqualTo(1);
            assertThat(executor.submit("a", "again", () -> "used again").await().value())
                    .isEqualTo("used again");
            other.release();
            assertThat(otherRuns.await().value()).isEqualTo("value");
            assertThat(otherWaits.await().value()).isEqualTo("its turn");
            executor.shutdownGroup("unknown");
            assertThatNullPointerException().isThrownBy(() -> executor.shutdownGroup(null));
        }
    }

    @Test
    void after_a_group_was_shut_down_new_tasks_start_as_the_interrupted_ones_end() throws Exception {
        BlockingTask stubborn = BlockingTask.uninterruptible();
        BlockingTask next = new BlockingTask();
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(closesAtOnce().build())) {
            executor.submit("a", "stubborn", stubborn);
            stubborn.awaitBegun();
            executor.shutdownGroup("a");
            stubborn.awaitInterrupt();

            executor.submit("a", "next", next);
            assertThat(executor.groupStats("a").orElseThrow().queuedCount()).isEqualTo(1);
            stubborn.release();

            next.awaitBegun();
            assertThat(stubborn.interrupts()).isEqualTo(1);
            assertThat(next.interrupts()).isZero();
        }
    }

    @Test
    void a_task_that_was_granted_and_has_not_begun_is_rejected_by_a_shutdown() {
        List<String> ran = new ArrayList<>();
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(TestTasks.stepped(steps).build())) {
            TaskHandle<Boolean> granted = executor.submit("a", "t1", () -> ran.add("t1"));

            executor.shutdownGroup("a");

            assertThat(reasonOf(granted)).isEqualTo("shutdown: the group was shut down");
            assertThat(executor.stats().totalActiveCount()).isZero();
            executor.submit("a", "t2", () -> ran.add("t2"));
            steps.runAll();
        }
        assertThat(ran).containsExactly("t2");
    }

    @Test
    void a_group_that_is_shut_down_with_a_timeout_refuses_new_tasks_until_its_accepted_ones_have_ended()
            throws Exception {
        BlockingTask blocker = new BlockingTask();
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(closesAtOnce().build())) {
            TaskHandle<String> runs = executor.submit("a", "runs", blocker);
            TaskHandle<String> waits = executor.submit("a", "waits", () -> "its turn");
            FutureTask<Boolean> end = inThread(() -> executor.shutdownGroup("a", Duration.ofSeconds(5)));
            time.awaitAlarms(1);

            assertThat(reasonOf(executor.submit("a", "late", () -> "never"))).startsWith("shutdown: ");
            assertThat(executor.submit("b", "elsewhere", () -> "value").await().value())
                    .isEqualTo("value");
            blocker.release();

            assertThat(end.get()).isTrue();
            assertThat(runs.await().value()).isEqualTo("value");
            assertThat(waits.await().value()).isEqualTo("its turn");
            assertThat(executor.submit("a", "again", () -> "used again").await().value())
                    .isEqualTo("used again");
        }
    }

    @Test
    void at_the_deadline_the_remaining_tasks_of_a_group_are_ended_and_the_shutdown_returns_false() throws Exception {
        BlockingTask blocker = new BlockingTask();
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(closesAtOnce().build())) {
            TaskHandle<String> runs = executor.submit("a", "runs", blocker);
            TaskHandle<String> waits = executor.submit("a", "waits", () -> "never");
            blocker.awaitBegun();
            FutureTask<Boolean> end = inThread(() -> executor.shutdownGroup("a", Duration.ofSeconds(5)));
            time.awaitAlarms(1);

            time.advance(Duration.ofSeconds(5));

            assertThat(end.get()).isFalse();
            assertThat(reasonOf(waits)).isEqualTo("shutdown: the group was shut down after 5000 ms");
            assertThat(runs.await().status()).isEqualTo(TaskStatus.CANCELLED);
            assertThat(blocker.interrupts()).isEqualTo(1);
            assertThat(executor.submit("a", "again", () -> "used again").await().value())
                    .isEqualTo("used again");
        }
    }

    @Test
    void a_thread_that_is_interrupted_while_it_shuts_a_group_down_ends_the_remaining_tasks_and_stays_interrupted()
            throws Exception {
        for (Duration timeout : List.of(Duration.ofDays(1), FOREVER)) {
            BlockingTask blocker = new BlockingTask();
            try (GroupExecutor executor =
                    GroupExecutor.newVirtualThreadExecutor(closesAtOnce().build())) {
                TaskHandle<String> runs = executor.submit("a", "runs", blocker);
                TaskHandle<String> waits = executor.submit("a", "waits", () -> "never");
                blocker.awaitBegun();

                Thread.currentThread().interrupt();
                assertThat(executor.shutdownGroup("a", timeout)).isFalse();

                assertThat(Thread.interrupted()).isTrue();
                assertThat(reasonOf(waits)).startsWith("shutdown: the group was shut down after ");
                assertThat(runs.await().status()).isEqualTo(TaskStatus.CANCELLED);
            }
        }
    }

    @Test
    void a_group_without_tasks_is_shut_down_at_once_with_every_timeout() throws Exception {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(countsLookups().build())) {
            assertThat(executor.shutdownGroup("unknown", FOREVER)).isTrue();
            executor.submit("a", "t1", () -> "").await();

            assertThat(executor.shutdownGroup("a", LONG_AGO)).isTrue();
            assertThat(executor.groupStats("a")).isEmpty();
            executor.submit("a", "t2", () -> "").await();
            assertThat(lookups).as("its limits were discarded").hasValue(2);

            assertThatNullPointerException().isThrownBy(() -> executor.shutdownGroup(null, FOREVER));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE})
    void a_timeout_that_has_passed_ends_a_busy_group_at_once(long seconds) throws Exception {
        BlockingTask blocker = new BlockingTask();
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(closesAtOnce().build())) {
            TaskHandle<String> runs = executor.submit("a", "runs", blocker);
            blocker.awaitBegun();

            assertThat(executor.shutdownGroup("a", Duration.ofSeconds(seconds))).isFalse();

            assertThat(runs.await().status()).isEqualTo(TaskStatus.CANCELLED);
        }
    }

    // Eviction.

    @Test
    void an_evicted_group_looks_its_limits_up_again_and_rejects_its_waiting_tasks() throws Exception {
        AtomicInteger limit = new AtomicInteger(1);
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                TestTasks.stepped(steps).concurrencyResolver(key -> limit.get()).build())) {
            TaskHandle<String> runs = executor.submit("a", "runs", () -> "goes on");
            TaskHandle<String> waits = executor.submit("a", "waits", () -> "never");
            TaskHandle<String> elsewhere = executor.submit("b", "t", () -> "value");
            limit.set(3);

            executor.evictGroup("a");

            assertThat(reasonOf(waits)).isEqualTo("evicted: the group was evicted");
            assertThat(executor.groupStats("a")).isEmpty();
            executor.submit("a", "next", () -> "");
            assertThat(executor.groupStats("a")).contains(new GroupStats("a", 2, 0, 3, Integer.MAX_VALUE));
            steps.runAll();
            assertThat(runs.await().value()).isEqualTo("goes on");
            assertThat(elsewhere.await().value()).isEqualTo("value");
        }
    }

    @Test
    void evicting_an_unknown_group_has_no_effect_and_a_null_key_throws() {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(countsLookups().build())) {
            executor.evictGroup("unknown");

            assertThat(executor.activeGroupKeys()).isEmpty();
            assertThat(lookups).hasValue(0);
            assertThatNullPointerException().isThrownBy(() -> executor.evictGroup(null));
        }
    }

    @Test
    void a_group_that_is_evicted_while_its_limits_are_looked_up_drops_the_result() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch answer = new CountDownLatch(1);
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(TestTasks.stepped(steps)
                .concurrencyResolver(key -> {
                    if (lookups.incrementAndGet() == 1) {
                        asked.countDown();
                        Wait.uninterrupted(answer);
                        return 7;
                    }
                    return 2;
                })
                .build())) {
            FutureTask<TaskHandle<String>> old = inThread(() -> executor.submit("a", "old", () -> "never"));
            asked.await();

            executor.evictGroup("a");
            TaskHandle<String> fresh = executor.submit("a", "new", () -> "value");
            answer.countDown();

            assertThat(reasonOf(old.get())).isEqualTo("evicted: the group was evicted");
            assertThat(executor.groupStats("a")).contains(new GroupStats("a", 1, 0, 2, Integer.MAX_VALUE));
            assertThat(lookups).hasValue(2);
            steps.runAll();
            assertThat(fresh.await().value()).isEqualTo("value");
        }
    }

    @Test
    void tasks_submitted_before_the_limits_are_known_are_rejected_for_the_same_reasons_as_later_ones()
            throws Exception {
        for (String reason : List.of("group-queue: ", "bulkhead: ", "global-queue: ")) {
            CountDownLatch asked = new CountDownLatch(1);
            CountDownLatch answer = new CountDownLatch(1);
            GroupPolicy policy = TestTasks.stepped(steps)
                    .concurrencyResolver(key -> {
                        asked.countDown();
                        Wait.uninterrupted(answer);
                        return 2;
                    })
                    .defaultMaxInFlightPerGroup(reason.startsWith("bulkhead") ? 1 : 9)
                    .defaultQueueThresholdPerGroup(reason.startsWith("global") ? 9 : 0)
                    .globalQueueThreshold(0)
                    .build();
            try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
                FutureTask<TaskHandle<String>> first = inThread(() -> executor.submit("a", "t1", () -> "value"));
                asked.await();
                TaskHandle<String> second = executor.submit("a", "t2", () -> "value");
                TaskHandle<String> third = executor.submit("a", "t3", () -> "never");
                answer.countDown();
                first.get();
                steps.runAll();

                assertThat(first.get().await().value()).isEqualTo("value");
                assertThat(reasonOf(third)).startsWith(reason);
                if (reason.startsWith("bulkhead")) {
                    assertThat(reasonOf(second)).startsWith(reason);
                } else {
                    assertThat(second.await().value()).isEqualTo("value");
                }
            }
        }
    }

    @Test
    void a_retired_group_does_not_look_its_limits_up() throws Exception {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(countsLookups().build())) {
            TaskHandle<String> handle = executor.submit("a", "t", () -> "");
            handle.await();
            Group group = ((GroupRun<?>) handle).group;

            executor.evictGroup("a");

            assertThat(group.isRetired()).isTrue();
            assertThat(group.beginLookup()).isNull();
        }
    }

    @Test
    void an_eviction_discards_changed_limits_and_a_pause() throws Exception {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(closesAtOnce().build())) {
            executor.setMaxConcurrency("a", 5);
            executor.pauseGroup("a");
            TaskHandle<String> waits = executor.submit("a", "waits", () -> "never");

            executor.evictGroup("a");

            assertThat(reasonOf(waits)).startsWith("evicted: ");
            assertThat(executor.submit("a", "next", () -> "value").await().value())
                    .isEqualTo("value");
            assertThat(executor.groupStats("a").orElseThrow().maxConcurrency()).isEqualTo(1);
        }
    }

    @Test
    void a_task_that_is_submitted_while_its_group_is_evicted_runs_once_or_is_rejected_as_evicted() throws Exception {
        int rounds = 5_000;
        AtomicInteger ran = new AtomicInteger();
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger peak = new AtomicInteger();
        List<TaskHandle<Integer>> handles = new ArrayList<>();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                .concurrencyResolver(key -> {
                    lookups.incrementAndGet();
                    return 2;
                })
                .globalMaxInFlight(3)
                .build())) {
            Together.together(List.of(
                    () -> {
                        for (int i = 0; i < rounds; i++) {
                            handles.add(executor.submit("a", "t" + i, () -> {
                                peak.accumulateAndGet(inside.incrementAndGet(), Math::max);
                                inside.decrementAndGet();
                                return ran.incrementAndGet();
                            }));
                        }
                        return null;
                    },
                    () -> {
                        for (int i = 0; i < rounds; i++) {
                            executor.evictGroup("a");
                        }
                        return null;
                    }));
            int succeeded = 0;
            for (TaskHandle<Integer> handle : handles) {
                try {
                    succeeded += handle.await().status() == TaskStatus.SUCCESS ? 1 : 0;
                } catch (RejectedTaskException rejected) {
                    assertThat(rejected.reason()).isEqualTo("evicted: the group was evicted");
                }
            }
            assertThat(ran).hasValue(succeeded);
            assertThat(peak.get()).isBetween(1, 2);
            assertThat(lookups.get()).isBetween(1, rounds + 1);
            assertThat(executor.awaitIdle("a", FOREVER)).isTrue();
            assertThat(executor.stats().globalInFlightUsed()).isZero();
        }
    }

    /** The operations that race with the end of a group. */
    enum Operation {
        SUBMIT {
            @Override
            void apply(GroupExecutor executor) {
                executor.submit("a", "t2", () -> "");
            }
        },
        PAUSE {
            @Override
            void apply(GroupExecutor executor) {
                executor.pauseGroup("a");
            }
        },
        LIMIT {
            @Override
            void apply(GroupExecutor executor) {
                executor.setMaxConcurrency("a", 7);
            }
        },
        WEIGHT {
            @Override
            void apply(GroupExecutor executor) {
                executor.setWeight("a", 7);
            }
        };

        abstract void apply(GroupExecutor executor);
    }

    @ParameterizedTest
    @EnumSource
    void an_operation_that_races_with_an_eviction_applies_to_the_next_group_completely(Operation operation)
            throws Exception {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(countsLookups().build())) {
            TaskHandle<String> handle = executor.submit("a", "t1", () -> "");
            handle.await();
            Group old = ((GroupRun<?>) handle).group;
            executor.evictGroup("a");
            executor.engine.groups.put("a", old); // as a thread sees it that has read the group before the eviction

            operation.apply(executor);

            assertThat(executor.groupStats("a")).isPresent();
            assertThat(lookups).hasValue(2);
            assertThat(executor.groupStats("a").orElseThrow().maxConcurrency())
                    .isEqualTo(operation == Operation.LIMIT ? 7 : 1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_operation_that_races_with_a_shutdown_is_refused(Operation operation) throws Exception {
        GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(countsLookups().build());
        TaskHandle<String> handle = executor.submit("a", "t1", () -> "");
        handle.await();
        FutureTask<TaskHandle<?>> meets = new FutureTask<>(() -> {
            operation.apply(executor);
            return null;
        });
        FutureTask<Boolean> shutdown = new FutureTask<>(() -> executor.shutdown(FOREVER));
        Locks.holding(((GroupRun<?>) handle).group, () -> {
            Thread thread = Thread.ofPlatform().start(meets);
            Wait.until(() -> Locks.waits(thread));
            Thread.ofPlatform().start(shutdown);
            Wait.until(executor::isShutdown);
        });

        if (operation == Operation.SUBMIT) {
            meets.get(); // submit throws nothing; its handle has the rejection
        } else {
            assertThatThrownBy(meets::get).hasCauseInstanceOf(IllegalStateException.class);
        }
        assertThat(shutdown.get()).isTrue();
        assertThat(executor.activeGroupKeys()).isEmpty();
        assertThat(lookups).hasValue(1);
    }

    @Test
    void the_running_tasks_of_an_evicted_group_count_against_the_limit_that_is_looked_up_next() throws Exception {
        AtomicInteger limit = new AtomicInteger(2);
        List<BlockingTask> old = List.of(BlockingTask.uninterruptible(), BlockingTask.uninterruptible());
        List<BlockingTask> fresh = List.of(new BlockingTask(), new BlockingTask(), new BlockingTask());
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                closesAtOnce().concurrencyResolver(key -> limit.get()).build())) {
            for (BlockingTask blocker : old) {
                executor.submit("a", "old", blocker);
                blocker.awaitBegun();
            }
            limit.set(3);
            executor.evictGroup("a");
            for (BlockingTask blocker : fresh) {
                executor.submit("a", "new", blocker);
            }

            fresh.get(0).awaitBegun();
            assertThat(executor.groupStats("a")).contains(new GroupStats("a", 3, 2, 3, Integer.MAX_VALUE));
            old.get(0).release();
            fresh.get(1).awaitBegun();
            assertThat(executor.groupStats("a")).contains(new GroupStats("a", 3, 1, 3, Integer.MAX_VALUE));

            limit.set(1);
            executor.evictGroup("a");
            BlockingTask last = new BlockingTask();
            executor.submit("a", "last", last);
            old.get(1).release();
            fresh.get(0).release();
            assertThat(last.hasBegun())
                    .as("one task still runs under a limit of one")
                    .isFalse();
            fresh.get(1).release();
            last.awaitBegun();
            assertThat(fresh.get(2).hasBegun())
                    .as("it was rejected by the second eviction")
                    .isFalse();
        }
    }

    // Ending the executor.

    @Test
    void after_a_shutdown_no_task_starts_and_every_submission_is_refused() {
        List<String> ran = new ArrayList<>();
        GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(TestTasks.stepped(steps).build());
        TaskHandle<Boolean> granted = executor.submit("a", "granted", () -> ran.add("granted"));
        TaskHandle<Boolean> waits = executor.submit("a", "waits", () -> ran.add("waits"));

        executor.shutdown();
        steps.runAll();

        assertThat(ran).isEmpty();
        assertThat(reasonOf(granted)).isEqualTo("shutdown: the executor was shut down");
        assertThat(reasonOf(waits)).isEqualTo("shutdown: the executor was shut down");
        assertThat(executor.isShutdown()).isTrue();
        assertThatIllegalStateException().isThrownBy(() -> executor.submit("a", "t", () -> ""));
        assertThatIllegalStateException().isThrownBy(() -> executor.call("a", () -> ""));
        assertThatIllegalStateException().isThrownBy(() -> executor.pauseGroup("a"));
        assertThatIllegalStateException().isThrownBy(() -> executor.setMaxConcurrency("a", 2));
        assertThatIllegalStateException().isThrownBy(() -> executor.setWeight("a", 2));
        assertThat(executor.stats()).isEqualTo(new GroupExecutorStats(0, 0, 0, 0, Integer.MAX_VALUE));
    }

    @Test
    void a_second_shutdown_has_no_effect() throws Exception {
        BlockingTask stubborn = BlockingTask.uninterruptible();
        GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(closesAtOnce().build());
        TaskHandle<String> handle = executor.submit("a", "t1", stubborn);
        stubborn.awaitBegun();

        executor.shutdown();
        stubborn.awaitInterrupt();
        executor.shutdown();
        executor.close();
        executor.close();
        stubborn.release();

        assertThat(handle.await().value()).isEqualTo("value");
        assertThat(stubborn.interrupts()).as("interrupted once").isEqualTo(1);
        assertThat(executor.shutdown(FOREVER)).isTrue();
        executor.close();
    }

    @Test
    void no_task_starts_after_a_second_shutdown_has_returned_although_the_first_is_still_busy() throws Exception {
        List<String> ran = new CopyOnWriteArrayList<>();
        CountDownLatch busy = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        TaskLifecycleListener slow = new TaskLifecycleListener() {
            @Override
            public void onRejected(String key, String id, String reason) {
                if (busy.getCount() == 1) {
                    busy.countDown();
                    Wait.uninterrupted(goOn);
                }
            }
        };
        GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                TestTasks.stepped(steps).taskLifecycleListener(slow).build());
        List<TaskHandle<Boolean>> handles = new ArrayList<>();
        for (String key : List.of("a", "b", "c")) {
            handles.add(executor.submit(key, "granted", () -> ran.add(key)));
        }
        FutureTask<Boolean> first = inThread(() -> {
            executor.shutdown();
            return true;
        });
        busy.await();

        executor.shutdown();
        steps.runAll();

        assertThat(ran).isEmpty();
        goOn.countDown();
        first.get();
        for (TaskHandle<Boolean> handle : handles) {
            assertThat(handle.isDone()).isTrue();
        }
        assertThat(executor.shutdown(FOREVER)).isTrue();
    }

    @Test
    void a_task_that_is_shut_down_while_a_listener_is_notified_of_its_start_is_not_called() {
        List<String> ran = new ArrayList<>();
        List<GroupExecutor> itself = new ArrayList<>();
        TaskLifecycleListener listener = new TaskLifecycleListener() {
            @Override
            public void onStarted(String key, String id) {
                itself.getFirst().shutdown();
            }
        };
        GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                TestTasks.stepped(steps).taskLifecycleListener(listener).build());
        itself.add(executor);
        TaskHandle<Boolean> handle = executor.submit("a", "t1", () -> ran.add("t1"));

        steps.runAll();

        assertThat(ran).isEmpty();
        assertThat(handle.join().status()).isEqualTo(TaskStatus.CANCELLED);
        assertThat(handle.join().error()).hasMessage("shutdown: the executor was shut down");
        assertThat(executor.stats().totalActiveCount()).isZero();
    }

    @Test
    void a_task_submitted_while_the_executor_is_shut_down_is_refused_or_ended_by_it_and_never_starts_later()
            throws Exception {
        for (int round = 0; round < 300; round++) {
            Map<String, TaskHandle<String>> handles = new ConcurrentHashMap<>();
            ConcurrentLinkedQueue<String> entered = new ConcurrentLinkedQueue<>();
            AtomicInteger refused = new AtomicInteger();
            AtomicLong returned = new AtomicLong();
            GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                    GroupPolicy.builder().defaultMaxConcurrencyPerGroup(2).build());
            Together.together(List.of(
                    () -> {
                        for (int i = 0; i < 20; i++) {
                            String id = "t" + i;
                            try {
                                handles.put(id, executor.submit("g" + i % 3, id, () -> {
                                    entered.add(id);
                                    return id;
                                }));
                            } catch (IllegalStateException tooLate) {
                                refused.incrementAndGet();
                            }
                        }
                        return null;
                    },
                    () -> {
                        executor.shutdown();
                        returned.set(System.nanoTime());
                        return null;
                    }));

            int rejected = 0;
            for (TaskHandle<String> handle : handles.values()) {
                try {
                    GroupResult<String> result = handle.await();
                    if (entered.contains(result.taskId())) {
                        assertThat(result.startTimeNanos() - returned.get()).isNotPositive();
                    } else {
                        assertThat(result.status()).isEqualTo(TaskStatus.CANCELLED);
                    }
                } catch (RejectedTaskException shutdown) {
                    assertThat(shutdown.reason()).startsWith("shutdown: ");
                    assertThat(entered).doesNotContain(handle.taskId());
                    rejected++;
                }
            }
            assertThat(handles.size() + refused.get()).isEqualTo(20);
            assertThat(rejected).isLessThanOrEqualTo(handles.size());
            assertThat(executor.shutdown(FOREVER)).isTrue();
        }
    }

    @Test
    void the_text_of_an_executor_describes_its_state() {
        GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                TestTasks.stepped(steps).globalMaxInFlight(5).build());
        executor.submit("a", "t1", () -> "");
        assertThat(executor).hasToString("group executor, RUNNING, 1 groups, 1 of 5 slots held");

        executor.shutdown();
        assertThat(executor).hasToString("group executor, SHUTDOWN, 0 groups, 0 of 5 slots held");
    }

    @Test
    void a_shutdown_with_a_timeout_awaits_accepted_tasks_and_refuses_new_ones() throws Exception {
        BlockingTask blocker = new BlockingTask();
        GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(closesAtOnce().build());
        TaskHandle<String> runs = executor.submit("a", "runs", blocker);
        TaskHandle<String> waits = executor.submit("a", "waits", () -> "its turn");
        FutureTask<Boolean> end = inThread(() -> executor.shutdown(Duration.ofSeconds(5)));
        FutureTask<Boolean> second = inThread(() -> executor.shutdown(Duration.ofSeconds(6)));
        time.awaitAlarms(2);

        assertThat(executor.isShutdown()).isTrue();
        assertThatIllegalStateException().isThrownBy(() -> executor.submit("a", "late", () -> "never"));
        assertThatIllegalStateException().isThrownBy(() -> executor.submit("b", "late", () -> "never"));
        assertThat(end).isNotDone();
        blocker.release();

        assertThat(end.get()).isTrue();
        assertThat(second.get()).isTrue();
        assertThat(runs.await().value()).isEqualTo("value");
        assertThat(waits.await().value()).isEqualTo("its turn");
        assertThat(executor.shutdown(LONG_AGO)).as("all have ended").isTrue();
        assertThat(time.alarms()).isZero();
    }

    @Test
    void at_the_deadline_the_remaining_tasks_are_interrupted_and_a_later_call_returns_whether_they_have_ended()
            throws Exception {
        BlockingTask stubborn = BlockingTask.uninterruptible();
        GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(closesAtOnce().build());
        TaskHandle<String> runs = executor.submit("a", "runs", stubborn);
        TaskHandle<String> waits = executor.submit("a", "waits", () -> "never");
        stubborn.awaitBegun();
        FutureTask<Boolean> end = inThread(() -> executor.shutdown(Duration.ofSeconds(5)));
        time.awaitAlarms(1);

        time.advance(Duration.ofSeconds(5));

        assertThat(end.get()).isFalse();
        stubborn.awaitInterrupt();
        assertThat(reasonOf(waits)).isEqualTo("shutdown: the executor was shut down");
        assertThat(executor.shutdown(Duration.ZERO)).as("one still runs").isFalse();
        FutureTask<Boolean> patient = inThread(() -> executor.shutdown(FOREVER));
        time.awaitAlarms(1);
        stubborn.release();
        assertThat(patient.get()).isTrue();
        assertThat(runs.await().value()).isEqualTo("value");
        assertThat(stubborn.interrupts()).isEqualTo(1);
    }

    @Test
    void a_shutdown_with_a_timeout_that_has_passed_ends_all_tasks_at_once() throws Exception {
        for (Duration timeout : List.of(Duration.ZERO, Duration.ofNanos(-1), LONG_AGO)) {
            BlockingTask blocker = new BlockingTask();
            GroupExecutor executor =
                    GroupExecutor.newVirtualThreadExecutor(closesAtOnce().build());
            TaskHandle<String> handle = executor.submit("a", "t1", blocker);
            blocker.awaitBegun();

            assertThat(executor.shutdown(timeout)).isFalse();

            assertThat(handle.await().status()).isEqualTo(TaskStatus.CANCELLED);
        }
        GroupExecutor empty =
                GroupExecutor.newVirtualThreadExecutor(closesAtOnce().build());
        assertThat(empty.shutdown(LONG_AGO)).as("nothing runs").isTrue();
    }

    @Test
    void a_thread_that_is_interrupted_while_it_shuts_down_ends_the_remaining_tasks_and_stays_interrupted()
            throws Exception {
        BlockingTask blocker = new BlockingTask();
        GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(closesAtOnce().build());
        TaskHandle<String> handle = executor.submit("a", "t1", blocker);
        blocker.awaitBegun();

        Thread.currentThread().interrupt();
        assertThat(executor.shutdown(FOREVER)).isFalse();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(handle.await().status()).isEqualTo(TaskStatus.CANCELLED);
        assertThat(time.alarms()).isZero();
    }

    @Test
    void close_waits_for_the_close_timeout_of_the_policy_and_then_interrupts() throws Exception {
        BlockingTask blocker = new BlockingTask();
        GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                GroupPolicy.builder().timeSource(time).build());
        TaskHandle<String> handle = executor.submit("a", "t1", blocker);
        blocker.awaitBegun();
        FutureTask<Boolean> close = inThread(() -> {
            executor.close();
            return true;
        });
        time.awaitAlarms(1);

        time.advance(Duration.ofSeconds(30).minusNanos(1));
        assertThat(close).isNotDone();
        assertThat(blocker.interrupts()).isZero();
        time.advance(Duration.ofNanos(1));

        close.get();
        assertThat(handle.await().status()).isEqualTo(TaskStatus.CANCELLED);
    }

    @Test
    void a_graceful_shutdown_awaits_tasks_that_wait_for_the_cap_and_retires_groups_whose_limits_were_changed()
            throws Exception {
        GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                closesAtOnce().globalMaxInFlight(1).build());
        BlockingTask blocker = new BlockingTask();
        TaskHandle<String> runs = executor.submit("a", "t1", blocker);
        TaskHandle<String> waits = executor.submit("b", "t2", () -> "its turn");
        executor.setMaxConcurrency("c", 3);
        executor.pauseGroup("d");
        FutureTask<Boolean> end = inThread(() -> executor.shutdown(Duration.ofSeconds(5)));
        time.awaitAlarms(1);

        blocker.release();

        assertThat(end.get()).isTrue();
        assertThat(runs.await().value()).isEqualTo("value");
        assertThat(waits.await().value()).isEqualTo("its turn");
        assertThat(executor.activeGroupKeys()).isEmpty();
    }

    @Test
    void a_shutdown_ends_every_accepted_task_in_every_state() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch answer = new CountDownLatch(1);
        GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(closesAtOnce()
                .scheduler(key -> key.equals("stepped") ? steps : Scheduler.virtualThreads())
                .globalMaxInFlight(2)
                .queueTimeout(Duration.ofDays(1))
                .concurrencyResolver(key -> {
                    if (key.equals("unresolved")) {
                        asked.countDown();
                        Wait.uninterrupted(answer);
                    }
                    return 1;
                })
                .build());
        BlockingTask blocker = new BlockingTask();
        List<TaskHandle<String>> handles = new ArrayList<>();
        handles.add(executor.submit("runs", "running", blocker));
        handles.add(executor.submit("runs", "waits for its group", () -> "never"));
        handles.add(executor.submit("stepped", "granted", () -> "never"));
        handles.add(executor.submit("capped", "waits for the cap", () -> "never"));
        executor.pauseGroup("paused");
        handles.add(executor.submit("paused", "waits in a pause", () -> "never"));
        FutureTask<TaskHandle<String>> unresolved =
                inThread(() -> executor.submit("unresolved", "waits for its limits", () -> "never"));
        asked.await();
        FutureTask<String> caller = inThread(() -> executor.call("runs", () -> "never"));
        Wait.until(() -> executor.groupStats("runs").orElseThrow().queuedCount() >= 2);
        blocker.awaitBegun();

        executor.shutdown();
        answer.countDown();

        handles.add(unresolved.get());
        for (TaskHandle<String> handle : handles) {
            assertThat(handle.isDone() || handle == handles.getFirst()).isTrue();
            if (handle == handles.getFirst()) {
                assertThat(handle.await().status()).isEqualTo(TaskStatus.CANCELLED);
            } else {
                assertThat(reasonOf(handle)).as(handle.taskId()).startsWith("shutdown: ");
            }
        }
        assertThatThrownBy(caller::get).hasCauseInstanceOf(RejectedTaskException.class);
        steps.runAll();
        assertThat(executor.shutdown(FOREVER)).isTrue();
        assertThat(time.alarms()).as("no alarm is left").isZero();
    }

    // Idle groups.

    @Test
    void an_idle_group_is_removed_after_its_time_to_live_without_a_call() throws Exception {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(countsLookups().build())) {
            executor.submit("a", "t1", () -> "").await();
            time.advance(Duration.ofSeconds(60).minusMillis(1));
            executor.submit("a", "t2", () -> "").await();
            assertThat(lookups).as("still known").hasValue(1);

            time.advance(Duration.ofSeconds(60).minusMillis(1));
            executor.submit("a", "t3", () -> "").await();
            assertThat(lookups).as("it was busy in between").hasValue(1);

            time.advance(Duration.ofSeconds(64));
            assertThat(time.alarms()).as("no idle group is left").isZero();
            executor.submit("a", "t4", () -> "").await();
            assertThat(lookups).as("a new group").hasValue(2);
        }
    }

    @Test
    void statistics_contain_no_group_whose_time_to_live_has_passed() throws Exception {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                countsLookups().idleGroupTtl(Duration.ofSeconds(1)).build())) {
            executor.submit("a", "t1", () -> "").await();
            assertThat(executor.activeGroupKeys()).containsExactly("a");
            assertThat(executor.groupStats("a")).isPresent();
            assertThat(executor.stats().activeGroupCount()).isEqualTo(1);

            time.advance(Duration.ofSeconds(1));

            assertThat(executor.activeGroupKeys()).isEmpty();
            assertThat(executor.groupStats("a")).isEmpty();
            assertThat(executor.stats().activeGroupCount()).isZero();
        }
    }

    @Test
    void the_handle_of_a_task_does_not_retain_groups_that_were_removed_with_its_own() throws Exception {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                countsLookups().idleGroupTtl(Duration.ofSeconds(1)).build())) {
            List<TaskHandle<String>> handles = new ArrayList<>();
            for (String key : List.of("a", "b", "c")) {
                TaskHandle<String> handle = executor.submit(key, "t", () -> "value");
                handle.await();
                handles.add(handle);
            }

            time.advance(Duration.ofSeconds(1));

            assertThat(executor.groupStats("c")).isEmpty();
            assertThat(handles)
                    .extracting(handle -> ((GroupRun<?>) handle).group)
                    .allMatch(Group::isRetired)
                    .allMatch(group -> group.nextIdle == null);
        }
    }

    @Test
    void reading_the_statistics_of_a_group_looks_at_no_other_group() throws Exception {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(countsLookups().build())) {
            executor.submit("a", "t1", () -> "").await();
            TaskHandle<String> other = executor.submit("b", "t1", () -> "");
            other.await();
            FutureTask<Boolean> reader =
                    new FutureTask<>(() -> executor.groupStats("a").isPresent());

            Locks.holding(((GroupRun<?>) other).group, () -> {
                Thread.ofPlatform().daemon().start(reader);
                assertThat(reader.get()).isTrue();
            });
        }
    }

    @Test
    void a_group_that_became_idle_later_is_removed_later() throws Exception {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(countsLookups().build())) {
            executor.submit("a", "t1", () -> "").await();
            time.advance(Duration.ofSeconds(30));
            executor.submit("b", "t1", () -> "").await();
            BlockingTask busy = new BlockingTask();
            TaskHandle<String> runs = executor.submit("c", "t1", busy);

            time.advance(Duration.ofSeconds(30));
            assertThat(executor.activeGroupKeys()).containsExactlyInAnyOrder("b", "c");
            time.advance(Duration.ofSeconds(30));
            assertThat(executor.activeGroupKeys()).containsExactly("c");

            busy.release();
            runs.await();
            time.advance(Duration.ofSeconds(60));
            assertThat(executor.activeGroupKeys()).isEmpty();
        }
    }

    @Test
    void with_a_time_to_live_of_zero_a_group_is_removed_at_once() throws Exception {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                countsLookups().idleGroupTtl(Duration.ZERO).build())) {
            for (int i = 1; i <= 3; i++) {
                executor.submit("a", "t" + i, () -> "").await();
                assertThat(executor.activeGroupKeys()).isEmpty();
                assertThat(lookups).hasValue(i);
            }
            assertThat(time.alarms()).isZero();
        }
    }

    @Test
    void no_more_idle_groups_are_kept_than_the_policy_allows() throws Exception {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                countsLookups().maxIdleGroups(2).build())) {
            for (String key : List.of("a", "b", "c", "d")) {
                executor.submit(key, "t", () -> "").await();
            }
            assertThat(executor.activeGroupKeys()).containsExactlyInAnyOrder("a", "b");

            time.advance(Duration.ofSeconds(60));
            executor.submit("e", "t", () -> "").await();
            assertThat(executor.activeGroupKeys()).containsExactly("e");
        }
    }

    @Test
    void a_million_milliseconds_of_idleness_are_counted_correctly_at_every_reading_of_the_clock() throws Exception {
        time.advance(Duration.ofMillis(Integer.MAX_VALUE - 10L)); // the count of milliseconds is about to wrap around
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                countsLookups().idleGroupTtl(Duration.ofSeconds(1_000)).build())) {
            executor.submit("a", "t1", () -> "").await();

            time.advance(Duration.ofSeconds(999));
            assertThat(executor.activeGroupKeys()).containsExactly("a");
            time.advance(Duration.ofSeconds(1));
            assertThat(executor.activeGroupKeys()).isEmpty();
        }
    }

    @Test
    void a_group_that_is_paused_or_whose_limits_were_changed_is_not_removed() throws Exception {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(closesAtOnce().build())) {
            executor.submit("paused", "t", () -> "").await();
            executor.pauseGroup("paused");
            executor.setMaxConcurrency("changed", 7);
            executor.submit("changed", "t", () -> "").await();

            time.advance(Duration.ofDays(1));
            assertThat(executor.activeGroupKeys()).containsExactlyInAnyOrder("paused", "changed");
            assertThat(executor.groupStats("changed").orElseThrow().maxConcurrency())
                    .isEqualTo(7);

            executor.resumeGroup("paused");
            executor.evictGroup("changed");
            time.advance(Duration.ofSeconds(64));
            assertThat(executor.activeGroupKeys()).isEmpty();
        }
    }

    @Test
    void an_alarm_that_fires_during_another_sweep_does_not_leave_idle_groups_forever() throws Exception {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(countsLookups().build())) {
            TaskHandle<String> handle = executor.submit("a", "t1", () -> "");
            handle.await();
            Thread sweeper = Thread.ofPlatform().unstarted(() -> time.advance(Duration.ofSeconds(60)));
            Locks.holding(
                    ((GroupRun<?>) handle).group,
                    () -> { // the first sweep has taken the list and not put it back yet
                        sweeper.start();
                        Wait.until(() -> Locks.waits(sweeper));
                        executor.submit("b", "t1", () -> "").await();
                        time.advance(Duration.ofSeconds(60));
                    });
            sweeper.join();

            time.advance(Duration.ofSeconds(64));

            assertThat(executor.engine.groups).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"evict", "shutdown", "shutdown in no time"})
    void a_group_that_is_being_shut_down_stays_closed_whatever_ends_its_tasks_meanwhile(String end) throws Exception {
        BlockingTask stubborn = BlockingTask.uninterruptible();
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(closesAtOnce().build())) {
            executor.submit("a", "stubborn", stubborn);
            stubborn.awaitBegun();
            TaskHandle<String> waits = executor.submit("a", "waits", () -> "never");
            FutureTask<Boolean> shutdown = inThread(() -> executor.shutdownGroup("a", Duration.ofSeconds(10)));
            time.awaitAlarms(1);

            switch (end) {
                case "evict" -> executor.evictGroup("a");
                case "shutdown" -> executor.shutdownGroup("a");
                default ->
                    assertThat(executor.shutdownGroup("a", Duration.ZERO)).isFalse();
            }

            assertThat(reasonOf(waits)).isNotEmpty();
            assertThat(reasonOf(executor.submit("a", "late", () -> "never"))).startsWith("shutdown: ");
            time.advance(Duration.ofSeconds(10));
            assertThat(shutdown.get()).isFalse();
            BlockingTask next = new BlockingTask();
            executor.submit("a", "next", next);
            stubborn.release();
            next.awaitBegun();
            assertThat(next.interrupts()).isZero();
        }
    }

    @Test
    void a_group_opens_when_its_tasks_have_ended_however_many_shutdowns_wait() throws Exception {
        BlockingTask blocker = new BlockingTask();
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(closesAtOnce().build())) {
            executor.submit("a", "runs", blocker);
            blocker.awaitBegun();
            FutureTask<Boolean> first = inThread(() -> executor.shutdownGroup("a", Duration.ofSeconds(10)));
            FutureTask<Boolean> second = inThread(() -> executor.shutdownGroup("a", Duration.ofSeconds(20)));
            time.awaitAlarms(2);
            blocker.release();
            assertThat(first.get() && second.get()).isTrue();

            BlockingTask next = new BlockingTask();
            executor.submit("a", "next", next);
            next.awaitBegun();
            time.advance(Duration.ofMinutes(1));
            assertThat(next.interrupts()).isZero();
            next.release();
        }
    }

    @Test
    void the_last_of_two_shutdowns_to_reach_its_deadline_opens_the_group() throws Exception {
        BlockingTask stubborn = BlockingTask.uninterruptible();
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(closesAtOnce().build())) {
            executor.submit("a", "stubborn", stubborn);
            stubborn.awaitBegun();
            FutureTask<Boolean> first = inThread(() -> executor.shutdownGroup("a", Duration.ofSeconds(10)));
            FutureTask<Boolean> second = inThread(() -> executor.shutdownGroup("a", Duration.ofSeconds(20)));
            time.awaitAlarms(2);

            time.advance(Duration.ofSeconds(10));
            assertThat(first.get()).isFalse();
            assertThat(reasonOf(executor.submit("a", "late", () -> "never"))).startsWith("shutdown: ");
            time.advance(Duration.ofSeconds(10));
            assertThat(second.get()).isFalse();

            TaskHandle<String> next = executor.submit("a", "next", () -> "used again");
            stubborn.release();
            assertThat(next.await().value()).isEqualTo("used again");
        }
    }

    @Test
    void a_group_that_is_emptied_twice_at_one_moment_shows_it() throws Exception {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(closesAtOnce().build())) {
            executor.submit("a", "first", () -> 1).await();
            Group group = executor.engine.groups.get("a");
            long once = group.emptySince();
            executor.submit("a", "second", () -> 2).await();
            long twice = group.emptySince();
            time.advance(Duration.ofSeconds(1));
            executor.submit("a", "third", () -> 3).await();

            assertThat(once).isEqualTo(time.nanoTime() - Duration.ofSeconds(1).toNanos());
            assertThat(twice).isGreaterThan(once);
            assertThat(group.emptySince()).isEqualTo(time.nanoTime());
        }
    }
}
