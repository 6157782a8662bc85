package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.ExceptionSink;
import dev.raddle.task.TaskSpec;
import dev.raddle.task.TaskStatus;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.Together;
import dev.raddle.testing.VirtualTime;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.ObjIntConsumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class GroupListenerAndStatsTest {

    private final StepScheduler steps = new StepScheduler();

    /** Records the notifications of each task, in order. */
    private static final class Recorder implements TaskLifecycleListener {

        final Map<String, List<String>> notified = new ConcurrentHashMap<>();
        final Map<String, GroupResult<?>> results = new ConcurrentHashMap<>();
        final Map<String, String> reasons = new ConcurrentHashMap<>();

        void note(String key, String id, String event) {
            notified.computeIfAbsent(key + "/" + id, task -> Collections.synchronizedList(new ArrayList<>()))
                    .add(event);
        }

        @Override
        public void onSubmitted(String groupKey, String taskId) {
            note(groupKey, taskId, "submitted");
        }

        @Override
        public void onStarted(String groupKey, String taskId) {
            note(groupKey, taskId, "started");
        }

        @Override
        public void onCompleted(String groupKey, String taskId, GroupResult<?> result) {
            results.put(groupKey + "/" + taskId, result);
            note(groupKey, taskId, "completed");
        }

        @Override
        public void onRejected(String groupKey, String taskId, String reason) {
            reasons.put(groupKey + "/" + taskId, reason);
            note(groupKey, taskId, "rejected");
        }
    }

    // Listeners.

    @Tag("M1")
    @Test
    void a_listener_is_notified_once_of_submission_start_and_end_and_receives_the_result() throws Exception {
        Recorder recorder = new Recorder();
        GroupPolicy policy =
                GroupPolicy.builder().taskLifecycleListener(recorder).build();
        IOException failure = new IOException("on purpose");
        CancellationException cancellation = new CancellationException("on purpose");

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            List<TaskHandle<String>> handles = List.of(
                    executor.submit("a", "t1", () -> "x"),
                    executor.submit("a", "t2", () -> {
                        throw failure;
                    }),
                    executor.submit("b", "t1", () -> {
                        throw cancellation;
                    }));
            Map<String, GroupResult<?>> results = new HashMap<>();
            for (TaskHandle<String> handle : handles) {
                results.put(handle.groupKey() + "/" + handle.taskId(), handle.await());
            }

            assertThat(recorder.notified).containsOnlyKeys("a/t1", "a/t2", "b/t1");
            assertThat(recorder.notified.values())
                    .allSatisfy(events -> assertThat(events).containsExactly("submitted", "started", "completed"));
            assertThat(recorder.results).isEqualTo(results);
            assertThat(recorder.results.values())
                    .extracting(GroupResult::status)
                    .containsExactlyInAnyOrder(TaskStatus.SUCCESS, TaskStatus.FAILED, TaskStatus.CANCELLED);
        }
    }

    @Tag("M1")
    @Test
    void a_listener_is_notified_of_the_start_when_the_permits_are_held_and_before_the_task_is_called() {
        AtomicReference<GroupExecutor> self = new AtomicReference<>();
        List<String> order = new ArrayList<>();
        GroupPolicy policy = TestTasks.stepped(steps)
                .taskLifecycleListener(new TaskLifecycleListener() {
                    @Override
                    public void onSubmitted(String groupKey, String taskId) {
                        order.add("submitted " + taskId + ", "
                                + self.get().stats().totalActiveCount() + " active");
                    }

                    @Override
                    public void onStarted(String groupKey, String taskId) {
                        order.add(
                                "started " + taskId + ", " + self.get().stats().totalActiveCount() + " active");
                    }
                })
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            self.set(executor);
            executor.submit("a", "t1", () -> order.add("called t1"));
            executor.submit("a", "t2", () -> order.add("called t2"));
            steps.runAll();
        }
        assertThat(order)
                .containsExactly(
                        "submitted t1, 0 active",
                        "submitted t2, 1 active",
                        "started t1, 1 active",
                        "called t1",
                        "started t2, 1 active",
                        "called t2");
    }

    @Tag("M2")
    @Test
    void an_exception_of_a_listener_affects_no_task_and_reaches_the_sink() throws Exception {
        List<String> sources = Collections.synchronizedList(new ArrayList<>());
        List<Throwable> thrown = Collections.synchronizedList(new ArrayList<>());
        TaskLifecycleListener hostile = new TaskLifecycleListener() {
            @Override
            public void onSubmitted(String groupKey, String taskId) {
                throw new IllegalStateException("on purpose");
            }

            @Override
            public void onStarted(String groupKey, String taskId) {
                throw new StackOverflowError("on purpose");
            }

            @Override
            public void onCompleted(String groupKey, String taskId, GroupResult<?> result) {
                throw new AssertionError("on purpose");
            }

            @Override
            public void onRejected(String groupKey, String taskId, String reason) {
                throw new OutOfMemoryError("on purpose");
            }
        };
        GroupPolicy policy = GroupPolicy.builder()
                .taskLifecycleListener(hostile)
                .perGroupQueueThreshold(Map.of("full", 0))
                .rejectionPolicy(RejectionPolicy.DISCARD)
                .exceptionSink(ExceptionSink.to((source, error) -> {
                    sources.add(source);
                    thrown.add(error);
                }))
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy);
                TestTasks tasks = new TestTasks()) {
            assertThat(executor.submit("a", "t1", () -> "x").await().value()).isEqualTo("x");
            assertThat(executor.submit("a", "t2", () -> "y").await().value()).isEqualTo("y");
            executor.submit("full", "t3", tasks.blocked("z"));
            tasks.awaitBegun(1);
            assertThat(executor.submit("full", "t4", () -> "z").await().status())
                    .isEqualTo(TaskStatus.REJECTED);

            String task = " of the listener, for task ";
            assertThat(sources)
                    .containsExactly(
                            "onSubmitted" + task + "\"t1\" in group \"a\"",
                            "onStarted" + task + "\"t1\" in group \"a\"",
                            "onCompleted" + task + "\"t1\" in group \"a\"",
                            "onSubmitted" + task + "\"t2\" in group \"a\"",
                            "onStarted" + task + "\"t2\" in group \"a\"",
                            "onCompleted" + task + "\"t2\" in group \"a\"",
                            "onSubmitted" + task + "\"t3\" in group \"full\"",
                            "onStarted" + task + "\"t3\" in group \"full\"",
                            "onSubmitted" + task + "\"t4\" in group \"full\"",
                            "onRejected" + task + "\"t4\" in group \"full\"");
            assertThat(thrown)
                    .hasOnlyElementsOfTypes(
                            IllegalStateException.class,
                            StackOverflowError.class,
                            AssertionError.class,
                            OutOfMemoryError.class);
            assertThat(policy.exceptionSink().count()).isEqualTo(10);
        }
    }

    @Tag("M3")
    @Test
    void every_submission_is_followed_by_one_end_for_every_outcome_of_the_task() {
        VirtualTime time = new VirtualTime();
        Recorder recorder = new Recorder();
        GroupPolicy policy = TestTasks.stepped(steps)
                .timeSource(time)
                .defaultQueueThresholdPerGroup(1)
                .rejectionPolicy(RejectionPolicy.CALLER_RUNS)
                .taskLifecycleListener(recorder)
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            executor.submit("a", "runs", () -> "x");
            executor.submit("a", "cancelled in queue", () -> "x").cancel(false);
            executor.submit("a", "drained", () -> "x");
            executor.submit("a", "run by its caller", () -> "x");
            executor.evictGroup("a");
            TaskHandle<String> late =
                    executor.submit("a", TaskSpec.named("too late", () -> "x").queueTimeout(Duration.ofSeconds(1)));
            time.advance(Duration.ofSeconds(1));
            assertThatThrownBy(late::await).isInstanceOf(RejectedTaskException.class);
            steps.runAll();
            executor.submit("a", "cancelled before it began", () -> "x").cancel(true);
            steps.runAll();
            executor.submit("a", "fails", () -> {
                throw new AssertionError("on purpose");
            });
            steps.runAll();
            executor.submit("a", "granted at the end", () -> "x");
            executor.submit("a", "waits at the end", () -> "x");
            executor.shutdown();
            steps.runAll();
        }
        assertThat(recorder.notified)
                .containsExactlyInAnyOrderEntriesOf(Map.of(
                        "a/runs", List.of("submitted", "started", "completed"),
                        "a/cancelled in queue", List.of("submitted", "completed"),
                        "a/drained", List.of("submitted", "rejected"),
                        "a/run by its caller", List.of("submitted", "rejected"),
                        "a/too late", List.of("submitted", "rejected"),
                        "a/cancelled before it began", List.of("submitted", "completed"),
                        "a/fails", List.of("submitted", "started", "completed"),
                        "a/granted at the end", List.of("submitted", "rejected"),
                        "a/waits at the end", List.of("submitted", "rejected")));
    }

    @Tag("M3")
    @Test
    void every_submission_is_followed_by_one_end_when_threads_submit_cancel_and_evict_at_once() throws Exception {
        Recorder recorder = new Recorder();
        GroupPolicy policy = GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(2)
                .defaultQueueThresholdPerGroup(20)
                .globalMaxInFlight(3)
                .rejectionPolicy(RejectionPolicy.CALLER_RUNS)
                .taskLifecycleListener(recorder)
                .build();
        TestTasks tasks = new TestTasks();
        List<TaskHandle<String>> handles = Collections.synchronizedList(new ArrayList<>());
        AtomicInteger thread = new AtomicInteger();

        GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy);
        Together.together(Collections.nCopies(4, () -> {
            int self = thread.getAndIncrement();
            Random random = new Random(self);
            for (int i = 0; i < 1_000; i++) {
                String key = "g" + random.nextInt(3);
                TaskHandle<String> handle = executor.submit(key, self + "-" + i, tasks.brief("x"));
                handles.add(handle);
                switch (random.nextInt(20)) {
                    case 0, 1, 2 -> handle.cancel(random.nextBoolean());
                    case 3 -> executor.evictGroup(key);
                    case 4 -> executor.shutdownGroup(key);
                    default -> {} // no operation
                }
            }
            return null;
        }));
        executor.shutdown();

        assertThat(executor.shutdown(Duration.ofMinutes(2))).isTrue();
        assertThat(handles).hasSize(4_000);
        for (TaskHandle<String> handle : handles) { // its slot is free before it is done
            handle.toCompletableFuture().handle((result, rejection) -> "over").get(2, TimeUnit.MINUTES);
        }
        assertThat(recorder.notified).hasSize(4_000);
        Set<List<String>> lives = Set.of(
                List.of("submitted", "started", "completed"),
                List.of("submitted", "completed"),
                List.of("submitted", "rejected"));
        assertThat(recorder.notified.values())
                .allSatisfy(events -> assertThat(lives).contains(List.copyOf(events)));
    }

    @Tag("M4")
    @Test
    void a_listener_is_notified_of_a_rejection_before_the_caller_runs_the_task() {
        List<String> order = new ArrayList<>();
        GroupPolicy policy = TestTasks.stepped(steps)
                .defaultQueueThresholdPerGroup(0)
                .rejectionPolicy(RejectionPolicy.CALLER_RUNS)
                .taskLifecycleListener(new TaskLifecycleListener() {
                    @Override
                    public void onRejected(String groupKey, String taskId, String reason) {
                        order.add(groupKey + "/" + taskId + " " + reason);
                    }
                })
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            executor.submit("a", "granted", () -> "x");
            executor.submit("a", "refused", () -> order.add("called"));
        }
        assertThat(order.subList(0, 2))
                .containsExactly("a/refused group-queue: 1 of 1 running, 0 of 0 waiting", "called");
    }

    @Tag("M4")
    @Test
    void a_listener_is_notified_of_a_rejection_before_the_handler_is_called() {
        Recorder recorder = new Recorder();
        RejectionHandler handler = new RejectionHandler() {
            @Override
            public <T> GroupResult<T> onRejected(String groupKey, String taskId, Callable<T> task) {
                recorder.note(groupKey, taskId, "handled");
                return GroupResult.rejected(groupKey, taskId);
            }
        };
        GroupPolicy policy = TestTasks.stepped(steps)
                .defaultQueueThresholdPerGroup(0)
                .rejectionHandler(handler)
                .taskLifecycleListener(recorder)
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            executor.submit("a", "granted", () -> "x");
            executor.submit("a", "refused", () -> "x");
            assertThat(recorder.notified.get("a/refused")).containsExactly("submitted", "rejected", "handled");
        }
    }

    @Tag("M4")
    @Test
    void a_listener_and_a_waiting_thread_receive_the_same_reason() {
        Recorder recorder = new Recorder();
        GroupPolicy policy = TestTasks.stepped(steps)
                .defaultQueueThresholdPerGroup(1)
                .taskLifecycleListener(recorder)
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            List<TaskHandle<String>> handles = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                handles.add(executor.submit("a", "t" + i, () -> "x"));
            }
            executor.shutdownGroup("a");

            assertThat(recorder.reasons).hasSize(3);
            for (TaskHandle<String> handle : handles) {
                assertThatThrownBy(handle::await)
                        .isInstanceOfSatisfying(
                                RejectedTaskException.class,
                                rejected -> assertThat(rejected.reason())
                                        .isNotBlank()
                                        .isEqualTo(recorder.reasons.get("a/" + handle.taskId())));
            }
        }
    }

    // Statistics.

    @Tag("M5")
    @Test
    void the_statistics_of_a_group_are_running_and_waiting_tasks_and_the_limits_of_both() {
        GroupPolicy policy = TestTasks.stepped(steps)
                .defaultMaxConcurrencyPerGroup(2)
                .defaultQueueThresholdPerGroup(5)
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            for (int i = 0; i < 4; i++) {
                executor.submit("a", "t" + i, () -> "x");
            }
            assertThat(executor.groupStats("a")).contains(new GroupStats("a", 2, 2, 2, 5));

            steps.runNext();
            assertThat(executor.groupStats("a")).contains(new GroupStats("a", 2, 1, 2, 5));
            steps.runAll();
            assertThat(executor.groupStats("a")).contains(new GroupStats("a", 0, 0, 2, 5));
        }
    }

    @Tag("M5")
    @Test
    void an_unused_key_has_no_statistics_and_a_null_key_throws() {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder().build())) {
            assertThat(executor.groupStats("unknown")).isEmpty();
            assertThat(executor.activeGroupKeys()).isEmpty(); // reading the statistics creates no group
            assertThatNullPointerException().isThrownBy(() -> executor.groupStats(null));
        }
    }

    @Tag("M6")
    @Test
    void the_statistics_of_the_executor_are_sums_over_its_groups() {
        GroupPolicy policy =
                TestTasks.stepped(steps).perGroupMaxConcurrency(Map.of("b", 2)).build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            for (int i = 0; i < 4; i++) {
                executor.submit("a", "t" + i, () -> "x");
                executor.submit("b", "t" + i, () -> "x");
            }
            assertThat(executor.stats()).isEqualTo(new GroupExecutorStats(2, 3, 5, 0, Integer.MAX_VALUE));
        }
    }

    @Tag("M6")
    @Test
    void the_used_slots_of_a_cap_are_those_of_running_tasks() {
        GroupPolicy policy = TestTasks.stepped(steps)
                .perGroupMaxConcurrency(Map.of("b", 2))
                .globalMaxInFlight(10)
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            for (int i = 0; i < 4; i++) {
                executor.submit("a", "t" + i, () -> "x");
                executor.submit("b", "t" + i, () -> "x");
            }
            assertThat(executor.stats()).isEqualTo(new GroupExecutorStats(2, 3, 5, 3, 10));

            steps.runAll();
            assertThat(executor.stats()).isEqualTo(new GroupExecutorStats(2, 0, 0, 0, 10));
        }
    }

    @Tag("M6")
    @Test
    void after_a_shutdown_all_statistics_are_zero_once_no_task_runs() throws Exception {
        GroupPolicy policy = GroupPolicy.builder()
                .perGroupMaxConcurrency(Map.of("a", 3))
                .globalMaxInFlight(10)
                .build();
        TestTasks stubborn = new TestTasks();

        try (TestTasks tasks = stubborn) {
            GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy);
            for (int i = 0; i < 5; i++) {
                executor.submit("a", "t" + i, () -> {
                    Callable<String> again = stubborn.blocked("x");
                    try {
                        return again.call();
                    } catch (InterruptedException shutdown) {
                        return again.call(); // as if it had not been interrupted
                    }
                });
            }
            stubborn.awaitBegun(3);
            executor.shutdown();
            stubborn.awaitBegun(3);
            assertThat(executor.stats().totalActiveCount()).isEqualTo(3);
            assertThat(executor.stats().totalQueuedCount()).isZero();
            assertThat(executor.stats().globalInFlightUsed()).isEqualTo(3);

            stubborn.release(3);
            assertThat(executor.shutdown(Duration.ofMinutes(2))).isTrue();
            assertThat(executor.stats()).isEqualTo(new GroupExecutorStats(0, 0, 0, 0, 10));
            assertThat(executor.groupStats("a")).isEmpty();
            assertThat(executor.activeGroupKeys()).isEmpty();
        }
    }

    @Tag("M7")
    @Test
    void the_active_keys_are_an_unmodifiable_copy() {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(TestTasks.stepped(steps).build())) {
            executor.submit("a", "t", () -> "x");
            executor.submit("b", "t", () -> "x");
            Set<String> keys = executor.activeGroupKeys();
            executor.submit("c", "t", () -> "x");
            executor.evictGroup("a");

            assertThat(keys).containsExactlyInAnyOrder("a", "b").isUnmodifiable();
        }
    }

    @Tag("M7")
    @Test
    void an_evicted_group_and_one_that_is_shut_down_are_not_active_although_they_still_run_a_task() {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(TestTasks.stepped(steps).build())) {
            for (String key : List.of("evicted", "shut down", "idle", "busy")) {
                executor.submit(key, "t", () -> "x");
            }
            executor.submit("idle", "t", () -> "x").cancel(false);
            executor.evictGroup("evicted");
            executor.shutdownGroup("shut down");
            assertThat(executor.activeGroupKeys()).containsExactlyInAnyOrder("idle", "busy");
            assertThat(executor.groupStats("evicted")).isEmpty();

            executor.submit("evicted", "t", () -> "x");
            assertThat(executor.activeGroupKeys()).containsExactlyInAnyOrder("evicted", "idle", "busy");
            executor.shutdown();
            assertThat(executor.activeGroupKeys()).isEmpty();
        }
    }

    @Tag("M7")
    @Test
    void the_statistics_are_within_their_limits_at_every_read() throws Exception {
        // All groups know their limits before the first read, and keep them.
        readWhileSubmitting(7 * 4, (executor, i) -> {});
    }

    @Test
    void the_statistics_of_groups_that_are_evicted_repeatedly_are_consistent() throws Exception {
        // Tasks that are submitted while a group's limits are looked up wait for them, regardless of their number.
        readWhileSubmitting(6_000, (executor, i) -> {
            if (i % 100 == 0) {
                executor.evictGroup("g" + i % 4);
            }
        });
    }

    private static void readWhileSubmitting(int maxQueued, ObjIntConsumer<GroupExecutor> eachTime) throws Exception {
        GroupPolicy policy = GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(2)
                .defaultQueueThresholdPerGroup(7)
                .globalMaxInFlight(5)
                .rejectionPolicy(RejectionPolicy.DISCARD)
                .build();
        TestTasks tasks = new TestTasks();
        AtomicInteger submitting = new AtomicInteger(2);
        AtomicInteger readings = new AtomicInteger();
        List<TaskHandle<String>> handles = Collections.synchronizedList(new ArrayList<>());

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            for (int i = 0; i < 4; i++) {
                executor.submit("g" + i, "first", tasks.brief("x")).await();
            }
            Callable<Object> submitter = () -> {
                for (int i = 0; i < 3_000; i++) {
                    handles.add(executor.submit("g" + i % 4, "t" + i, tasks.brief("x")));
                    eachTime.accept(executor, i);
                }
                return submitting.decrementAndGet();
            };
            Callable<Object> reader = () -> {
                do {
                    for (String key : executor.activeGroupKeys()) {
                        executor.groupStats(key).ifPresent(GroupListenerAndStatsTest::checkLimits);
                    }
                    GroupExecutorStats stats = executor.stats();
                    assertThat(stats.activeGroupCount()).isBetween(0, 4);
                    assertThat(stats.totalActiveCount()).isBetween(0, 8);
                    assertThat(stats.totalQueuedCount()).isBetween(0, maxQueued);
                    assertThat(stats.globalInFlightUsed()).isBetween(0, 5);
                    readings.incrementAndGet();
                } while (submitting.get() > 0);
                return null;
            };
            Together.together(List.of(submitter, submitter, reader, reader));

            for (TaskHandle<String> handle : handles) {
                handle.await();
            }
            assertThat(readings.get()).isPositive();
            assertThat(executor.stats().totalActiveCount()).isZero();
            assertThat(executor.stats().totalQueuedCount()).isZero();
            assertThat(executor.stats().globalInFlightUsed()).isZero();
        }
    }

    private static void checkLimits(GroupStats stats) {
        boolean known = stats.maxConcurrency() > 0; // false while its limits are looked up
        assertThat(stats.activeCount()).isBetween(0, 2);
        assertThat(stats.maxConcurrency()).isEqualTo(known ? 2 : 0);
        assertThat(stats.queuedCount()).isBetween(0, known ? 7 : 6_000);
        assertThat(stats.queueCapacity()).isEqualTo(known ? 7 : Integer.MAX_VALUE);
    }
}
