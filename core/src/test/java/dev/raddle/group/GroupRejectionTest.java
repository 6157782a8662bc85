package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.raddle.task.Rejection;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.TaskSpec;
import dev.raddle.task.TaskStatus;
import dev.raddle.task.TaskTimeoutException;
import dev.raddle.task.WaitReason;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class GroupRejectionTest {

    private final StepScheduler steps = new StepScheduler();

    private static String reason(TaskHandle<?> handle) {
        return catchThrowableOfType(RejectedTaskException.class, handle::await).reason();
    }

    private static List<TaskHandle<String>> submit(GroupExecutor executor, String key, int count) {
        List<TaskHandle<String>> handles = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            handles.add(executor.submit(key, "t" + i, () -> "x"));
        }
        return handles;
    }

    // The queue thresholds.

    @Tag("Q1")
    @Test
    void two_of_eight_tasks_run_three_wait_and_three_are_rejected() throws Exception {
        GroupPolicy policy = TestTasks.stepped(steps)
                .defaultMaxConcurrencyPerGroup(2)
                .defaultQueueThresholdPerGroup(3)
                .rejectionPolicy(RejectionPolicy.DISCARD)
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            List<TaskHandle<String>> handles = submit(executor, "a", 8);

            assertThat(executor.groupStats("a").orElseThrow()).isEqualTo(new GroupStats("a", 2, 3, 2, 3));
            assertThat(handles.stream().map(TaskHandle::isDone))
                    .containsExactly(false, false, false, false, false, true, true, true);

            steps.runAll();
            List<TaskStatus> ends = new ArrayList<>();
            for (TaskHandle<String> handle : handles) {
                ends.add(handle.await().status());
            }
            assertThat(ends.subList(0, 5)).containsOnly(TaskStatus.SUCCESS);
            assertThat(ends.subList(5, 8)).containsOnly(TaskStatus.REJECTED);
        }
    }

    @Tag("Q1")
    @Test
    void under_a_limit_of_one_and_a_threshold_of_one_the_third_is_rejected() {
        GroupPolicy policy =
                TestTasks.stepped(steps).defaultQueueThresholdPerGroup(1).build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            assertThat(submit(executor, "a", 3).stream().map(TaskHandle::isDone))
                    .containsExactly(false, false, true);
        }
    }

    @Tag("Q1")
    @Test
    void the_threshold_holds_for_tasks_that_were_submitted_while_the_limits_were_looked_up() {
        AtomicReference<GroupExecutor> self = new AtomicReference<>();
        List<TaskHandle<String>> early = new ArrayList<>();
        GroupPolicy policy = TestTasks.stepped(steps)
                .concurrencyResolver(key -> {
                    early.addAll(submit(self.get(), key, 7));
                    return 2;
                })
                .defaultQueueThresholdPerGroup(3)
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            self.set(executor);
            TaskHandle<String> first = executor.submit("a", "first", () -> "x");

            assertThat(first.isDone()).isFalse();
            assertThat(early.stream().map(TaskHandle::isDone))
                    .containsExactly(false, false, false, false, true, true, true);
            assertThat(early.subList(4, 7))
                    .allSatisfy(handle -> assertThat(reason(handle)).startsWith("group-queue: "));
            assertThat(executor.groupStats("a").orElseThrow()).isEqualTo(new GroupStats("a", 2, 3, 2, 3));
        }
    }

    @Tag("Q2")
    @Test
    void under_a_threshold_of_zero_no_task_waits() throws Exception {
        GroupPolicy policy = TestTasks.stepped(steps)
                .defaultMaxConcurrencyPerGroup(2)
                .defaultQueueThresholdPerGroup(0)
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            List<TaskHandle<String>> handles = submit(executor, "a", 4);
            assertThat(handles.stream().map(TaskHandle::isDone)).containsExactly(false, false, true, true);
            assertThat(reason(handles.get(2))).isEqualTo("group-queue: 2 of 2 running, 0 of 0 waiting");

            steps.runAll();
            assertThat(handles.get(1).await().status()).isEqualTo(TaskStatus.SUCCESS);
        }
    }

    static Stream<Named<UnaryOperator<GroupPolicy.Builder>>> policiesForOneTask() {
        return Stream.of(
                Named.of("group", b -> b.defaultQueueThresholdPerGroup(0)),
                Named.of(
                        "cap",
                        b -> b.defaultMaxConcurrencyPerGroup(9)
                                .globalMaxInFlight(1)
                                .globalQueueThreshold(0)),
                Named.of(
                        "bulkhead",
                        b -> b.defaultMaxConcurrencyPerGroup(9)
                                .defaultMaxInFlightPerGroup(1)
                                .defaultQueueThresholdPerGroup(0)),
                Named.of(
                        "group, threads reused",
                        b -> b.defaultQueueThresholdPerGroup(0).reuseThreads(true)));
    }

    @Tag("Q3")
    @ParameterizedTest(name = "{0}")
    @MethodSource("policiesForOneTask")
    void a_thread_that_awaits_each_task_before_it_submits_the_next_is_never_rejected(
            UnaryOperator<GroupPolicy.Builder> limits) throws Exception {
        GroupPolicy policy = limits.apply(GroupPolicy.builder()).build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            for (int i = 0; i < 2_000; i++) {
                int number = i;
                assertThat(executor.submit("a", "t", () -> number).await().value())
                        .isEqualTo(number);
            }
        }
    }

    @Tag("Q3")
    @Test
    void the_slot_is_free_before_the_listener_is_notified_of_the_end() throws Exception {
        AtomicReference<GroupExecutor> self = new AtomicReference<>();
        List<Integer> active = Collections.synchronizedList(new ArrayList<>());
        GroupPolicy policy = GroupPolicy.builder()
                .taskLifecycleListener(new TaskLifecycleListener() {
                    @Override
                    public void onCompleted(String groupKey, String taskId, GroupResult<?> result) {
                        active.add(self.get().groupStats(groupKey).orElseThrow().activeCount());
                    }
                })
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            self.set(executor);
            executor.submit("a", "t", () -> "x").await();
            assertThat(active).containsExactly(0);
        }
    }

    @Tag("Q4")
    @Test
    void a_threshold_that_is_set_for_a_key_holds_for_that_key_alone() {
        GroupPolicy policy = TestTasks.stepped(steps)
                .defaultQueueThresholdPerGroup(2)
                .perGroupQueueThreshold(Map.of("a", 0))
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            assertThat(submit(executor, "a", 4).stream().map(TaskHandle::isDone))
                    .containsExactly(false, true, true, true);
            assertThat(submit(executor, "b", 4).stream().map(TaskHandle::isDone))
                    .containsExactly(false, false, false, true);
        }
    }

    static Stream<Named<UnaryOperator<GroupPolicy.Builder>>> policiesForOneWaitingTask() {
        return Stream.of(
                Named.of("group", b -> b.defaultQueueThresholdPerGroup(1)),
                Named.of("all groups", b -> b.globalQueueThreshold(1)),
                Named.of(
                        "all groups, with a cap",
                        b -> b.defaultMaxConcurrencyPerGroup(9)
                                .globalMaxInFlight(1)
                                .globalQueueThreshold(1)));
    }

    @Tag("Q5")
    @ParameterizedTest(name = "{0}")
    @MethodSource("policiesForOneWaitingTask")
    void a_waiting_task_that_starts_frees_its_place_for_another(UnaryOperator<GroupPolicy.Builder> limits) {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                limits.apply(TestTasks.stepped(steps)).build())) {
            assertThat(submit(executor, "a", 3).stream().map(TaskHandle::isDone))
                    .containsExactly(false, false, true);
            steps.runNext();
            assertThat(submit(executor, "a", 2).stream().map(TaskHandle::isDone))
                    .containsExactly(false, true);
        }
    }

    @Tag("Q5")
    @ParameterizedTest(name = "{0}")
    @MethodSource("policiesForOneWaitingTask")
    void a_waiting_task_that_is_cancelled_frees_its_place_for_another(UnaryOperator<GroupPolicy.Builder> limits) {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                limits.apply(TestTasks.stepped(steps)).build())) {
            List<TaskHandle<String>> handles = submit(executor, "a", 2);
            assertThat(handles.get(1).cancel(false)).isTrue();
            assertThat(handles.get(1).cancel(false)).isFalse(); // frees no further place
            assertThat(submit(executor, "a", 2).stream().map(TaskHandle::isDone))
                    .containsExactly(false, true);
        }
    }

    @Tag("Q5")
    @ParameterizedTest(name = "{0}")
    @MethodSource("policiesForOneWaitingTask")
    void a_waiting_task_that_times_out_frees_its_place_for_another(UnaryOperator<GroupPolicy.Builder> limits) {
        VirtualTime time = new VirtualTime();
        GroupPolicy policy = limits.apply(TestTasks.stepped(steps))
                .timeSource(time)
                .queueTimeout(Duration.ofSeconds(2))
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            List<TaskHandle<String>> handles = submit(executor, "a", 2);
            time.advance(Duration.ofSeconds(2));
            assertThat(submit(executor, "a", 2).stream().map(TaskHandle::isDone))
                    .containsExactly(false, true);
            assertThat(reason(handles.get(1))).startsWith("queue-timeout: ");
        }
    }

    @Tag("Q6")
    @Test
    void a_task_that_waits_for_the_bulkhead_takes_a_place_in_the_queue() {
        GroupPolicy policy = TestTasks.stepped(steps)
                .defaultMaxConcurrencyPerGroup(2)
                .defaultMaxInFlightPerGroup(1)
                .defaultQueueThresholdPerGroup(0)
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            List<TaskHandle<String>> handles = submit(executor, "a", 2);
            assertThat(handles.stream().map(TaskHandle::isDone)).containsExactly(false, true);
            assertThat(reason(handles.get(1))).isEqualTo("bulkhead: 1 of 1 running, 0 of 0 waiting");
        }
    }

    @Tag("Q6")
    @Test
    void a_task_that_waits_for_bulkhead_group_and_cap_at_once_takes_one_place() {
        GroupPolicy policy = TestTasks.stepped(steps)
                .defaultMaxConcurrencyPerGroup(2)
                .defaultMaxInFlightPerGroup(1)
                .defaultQueueThresholdPerGroup(3)
                .globalMaxInFlight(1)
                .globalQueueThreshold(3)
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            assertThat(submit(executor, "a", 5).stream().map(TaskHandle::isDone))
                    .containsExactly(false, false, false, false, true);
            assertThat(executor.stats().totalQueuedCount()).isEqualTo(3);
        }
    }

    @Tag("Q7")
    @Test
    void no_more_tasks_wait_for_the_cap_than_the_global_threshold_allows() throws Exception {
        GroupPolicy policy = TestTasks.stepped(steps)
                .globalMaxInFlight(1)
                .globalQueueThreshold(1)
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            List<TaskHandle<String>> handles = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                handles.addAll(submit(executor, "g" + i, 1));
            }
            assertThat(handles.stream().map(TaskHandle::isDone)).containsExactly(false, false, true, true, true, true);
            assertThat(handles.subList(2, 6))
                    .allSatisfy(handle -> assertThat(reason(handle))
                            .isEqualTo("global-queue: 1 of 1 waiting in all groups, 1 of 1 slots held"));
            assertThat(executor.stats().totalQueuedCount()).isEqualTo(1);

            steps.runAll();
            assertThat(handles.get(1).await().status()).isEqualTo(TaskStatus.SUCCESS);
            assertThat(submit(executor, "g5", 2).stream().map(TaskHandle::isDone))
                    .containsExactly(false, false);
        }
    }

    // The treatment of rejected tasks.

    /** A handler that rejects every task and records the statistics of the executor. */
    private static final class Witness implements RejectionHandler {

        final AtomicReference<GroupExecutor> executor = new AtomicReference<>();
        final List<GroupExecutorStats> seen = Collections.synchronizedList(new ArrayList<>());

        @Override
        public <T> GroupResult<T> onRejected(String groupKey, String taskId, Callable<T> task) {
            seen.add(executor.get().stats());
            return GroupResult.rejected(groupKey, taskId);
        }
    }

    @Tag("Q8")
    @Test
    void a_rejected_task_holds_neither_permit_nor_place_when_the_handler_is_called() throws Exception {
        VirtualTime time = new VirtualTime();
        Witness witness = new Witness();
        GroupPolicy policy = TestTasks.stepped(steps)
                .timeSource(time)
                .queueTimeout(Duration.ofSeconds(2))
                .defaultQueueThresholdPerGroup(1)
                .globalMaxInFlight(10)
                .rejectionHandler(witness)
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            witness.executor.set(executor);
            List<TaskHandle<String>> handles = submit(executor, "a", 3);
            assertThat(handles.get(2).await().status()).isEqualTo(TaskStatus.REJECTED); // the queue is full
            time.advance(Duration.ofSeconds(2));
            assertThat(handles.get(1).await().status()).isEqualTo(TaskStatus.REJECTED); // waited too long
            executor.shutdownGroup("a");
            assertThat(handles.get(0).await().status()).isEqualTo(TaskStatus.REJECTED); // granted, and not begun

            assertThat(witness.seen)
                    .containsExactly(
                            new GroupExecutorStats(1, 1, 1, 1, 10),
                            new GroupExecutorStats(1, 1, 0, 1, 10),
                            new GroupExecutorStats(0, 0, 0, 0, 10));
        }
    }

    @Tag("Q8")
    @Test
    void a_rejected_task_that_its_caller_runs_holds_no_permit() throws Exception {
        GroupPolicy policy = TestTasks.stepped(steps)
                .defaultQueueThresholdPerGroup(0)
                .globalMaxInFlight(10)
                .rejectionPolicy(RejectionPolicy.CALLER_RUNS)
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            executor.submit("a", "granted", () -> "x");
            assertThat(executor.submit("a", "by its caller", executor::stats)
                            .await()
                            .value())
                    .isEqualTo(new GroupExecutorStats(1, 1, 0, 1, 10));
        }
    }

    @Tag("Q9")
    @Test
    void under_abort_waits_throw_an_exception_that_names_the_task_and_the_reason() {
        GroupPolicy policy =
                TestTasks.stepped(steps).defaultQueueThresholdPerGroup(0).build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            executor.submit("a", "granted", () -> "x");
            TaskHandle<String> refused = executor.submit("a", "refused", () -> "x");

            assertThat(refused.isDone()).isTrue();
            for (ThrowingCallable wait : List.<ThrowingCallable>of(
                    refused::await,
                    refused::join,
                    () -> refused.await(1, TimeUnit.SECONDS),
                    () -> refused.join(1, TimeUnit.SECONDS))) {
                assertThatThrownBy(wait)
                        .isInstanceOf(RejectedExecutionException.class)
                        .isInstanceOfSatisfying(RejectedTaskException.class, rejected -> {
                            assertThat(rejected.groupKey()).isEqualTo("a");
                            assertThat(rejected.taskId()).isEqualTo("refused");
                            assertThat(rejected.reason()).isEqualTo("group-queue: 1 of 1 running, 0 of 0 waiting");
                            assertThat(rejected.rejection().reason()).isEqualTo(Rejection.Reason.GROUP_QUEUE);
                        })
                        .hasMessage("task \"refused\" in group \"a\" was rejected, "
                                + "group-queue: 1 of 1 running, 0 of 0 waiting");
            }
        }
    }

    @Tag("Q10")
    @Test
    void under_discard_waits_return_a_rejected_result() throws Exception {
        AtomicInteger called = new AtomicInteger();
        GroupPolicy policy = TestTasks.stepped(steps)
                .defaultQueueThresholdPerGroup(0)
                .rejectionPolicy(RejectionPolicy.DISCARD)
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            executor.submit("a", "granted", () -> "x");
            TaskHandle<Integer> refused = executor.submit("a", "refused", called::incrementAndGet);

            GroupResult<Integer> result = refused.await();
            assertThat(result)
                    .isEqualTo(new GroupResult<>(
                            "a",
                            "refused",
                            TaskStatus.REJECTED,
                            null,
                            null,
                            result.endTimeNanos(),
                            result.endTimeNanos(),
                            new Rejection(
                                    Rejection.Reason.GROUP_QUEUE,
                                    "group-queue: 1 of 1 running, 0 of 0 waiting",
                                    null,
                                    WaitReason.GROUP_LIMIT,
                                    null,
                                    new Rejection.Load(1, 1, 0, 0))));
            assertThat(refused.join()).isEqualTo(result);
        }
        assertThat(called).hasValue(0);
    }

    @Tag("Q11")
    @Test
    void under_caller_runs_the_submitting_thread_runs_a_rejected_task() throws Exception {
        IOException failure = new IOException("on purpose");
        CancellationException cancellation = new CancellationException("on purpose");
        GroupPolicy policy = TestTasks.stepped(steps)
                .defaultQueueThresholdPerGroup(0)
                .rejectionPolicy(RejectionPolicy.CALLER_RUNS)
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            executor.submit("a", "granted", () -> "x");
            TaskHandle<Thread> success = executor.submit("a", "t1", Thread::currentThread);
            TaskHandle<String> failed = executor.submit("a", "t2", () -> {
                throw failure;
            });
            TaskHandle<String> cancelled = executor.submit("a", "t3", () -> {
                throw cancellation;
            });

            assertThat(List.of(success, failed, cancelled)).allMatch(TaskHandle::isDone);
            assertThat(success.await().status()).isEqualTo(TaskStatus.SUCCESS);
            assertThat(success.await().value()).isSameAs(Thread.currentThread());
            assertThat(failed.await().status()).isEqualTo(TaskStatus.FAILED);
            assertThat(failed.await().error()).isSameAs(failure);
            assertThat(cancelled.await().status()).isEqualTo(TaskStatus.CANCELLED);
            assertThat(cancelled.await().error()).isSameAs(cancellation);
            assertThat(executor.executeAll(List.of(new GroupTask<>("a", "t4", Thread::currentThread))))
                    .extracting(GroupResult::value)
                    .containsExactly(Thread.currentThread());
        }
    }

    @Test
    void under_caller_runs_the_timeout_of_an_attempt_interrupts_the_submitter_and_that_of_the_task_does_not() {
        VirtualTime time = new VirtualTime();
        GroupPolicy policy = TestTasks.stepped(steps)
                .timeSource(time)
                .defaultQueueThresholdPerGroup(0)
                .rejectionPolicy(RejectionPolicy.CALLER_RUNS)
                .build();
        Callable<Boolean> late = () -> {
            time.advance(Duration.ofSeconds(5));
            return Thread.currentThread().isInterrupted();
        };

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            executor.submit("a", "granted", () -> "x");
            TaskHandle<Boolean> task =
                    executor.submit("a", TaskSpec.named("task", late).timeout(Duration.ofSeconds(1)));
            assertThat(task.join().value()).isFalse();
            RetryPolicy oneSecond =
                    RetryPolicy.builder().attemptTimeout(Duration.ofSeconds(1)).build();
            TaskHandle<Boolean> attempt =
                    executor.submit("a", TaskSpec.named("attempt", late).retry(oneSecond));
            assertThat(attempt.join().error()).isInstanceOf(TaskTimeoutException.class);
            assertThat(Thread.interrupted()).isFalse();
        }
    }

    @Tag("Q11")
    @Test
    void under_caller_runs_no_thread_runs_a_task_whose_submitter_has_returned() {
        AtomicInteger called = new AtomicInteger();
        GroupPolicy policy = TestTasks.stepped(steps)
                .rejectionPolicy(RejectionPolicy.CALLER_RUNS)
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            executor.submit("a", "granted", () -> "x");
            TaskHandle<Integer> waiting = executor.submit("a", "waiting", called::incrementAndGet);
            executor.evictGroup("a");

            assertThat(reason(waiting)).startsWith("evicted: ");
        }
        assertThat(called).hasValue(0);
    }

    /** A handler that returns the result of a function of the test. */
    private record AnsweringHandler(Supplier<GroupResult<?>> answer) implements RejectionHandler {

        @Override
        @SuppressWarnings("unchecked") // the test knows the type
        public <T> GroupResult<T> onRejected(String groupKey, String taskId, Callable<T> task) {
            return (GroupResult<T>) answer.get();
        }
    }

    private GroupResult<String> resultOf(RejectionHandler handler) throws Exception {
        GroupPolicy policy = TestTasks.stepped(steps)
                .defaultQueueThresholdPerGroup(0)
                .rejectionHandler(handler)
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            executor.submit("a", "granted", () -> "x");
            GroupResult<String> result =
                    executor.submit("a", "refused", () -> "its value").await();
            GroupResult<String> again = executor.executeAll(List.of(
                            new GroupTask<>("a", "refused", () -> "its value"),
                            new GroupTask<>("a", "refused too", () -> "its value")))
                    .getFirst();

            steps.runAll();
            assertThat(again.status()).isEqualTo(result.status());
            assertThat(again.value()).isEqualTo(result.value());
            return result;
        }
    }

    @Tag("Q12")
    @Test
    void a_handler_receives_key_id_and_task_and_returns_the_result() throws Exception {
        List<String> given = new ArrayList<>();
        RejectionHandler handler = new RejectionHandler() {
            @Override
            public <T> GroupResult<T> onRejected(String groupKey, String taskId, Callable<T> task) {
                given.add(groupKey + "/" + taskId);
                try {
                    return GroupResult.success(groupKey, taskId, task.call(), 5, 8);
                } catch (Exception impossible) {
                    throw new AssertionError(impossible);
                }
            }
        };

        assertThat(resultOf(handler)).isEqualTo(GroupResult.success("a", "refused", "its value", 5, 8));
        assertThat(given).containsExactly("a/refused", "a/refused", "a/refused too");
    }

    @Tag("Q12")
    @Test
    void the_result_of_a_handler_may_have_any_status() throws Exception {
        IOException error = new IOException("on purpose");

        assertThat(resultOf(new AnsweringHandler(() -> GroupResult.failed("a", "refused", error, 5, 8))))
                .isEqualTo(GroupResult.failed("a", "refused", error, 5, 8));
        assertThat(resultOf(new AnsweringHandler(() -> GroupResult.cancelled("a", "refused", error, 5, 8))))
                .isEqualTo(GroupResult.cancelled("a", "refused", error, 5, 8));
        assertThat(resultOf(new AnsweringHandler(() -> GroupResult.rejected("a", "refused")))
                        .status())
                .isEqualTo(TaskStatus.REJECTED);
    }

    @Tag("Q12")
    @Test
    void a_handler_that_returns_null_or_throws_fails_the_task_and_no_other() throws Exception {
        IllegalStateException exception = new IllegalStateException("on purpose");
        AssertionError error = new AssertionError("on purpose");

        GroupResult<String> nothing = resultOf(new AnsweringHandler(() -> null));
        assertThat(nothing.status()).isEqualTo(TaskStatus.FAILED);
        assertThat(nothing.error()).hasMessageContaining("\"refused\" in group \"a\"");
        GroupResult<String> threw = resultOf(new AnsweringHandler(() -> {
            throw exception;
        }));
        assertThat(threw.status()).isEqualTo(TaskStatus.FAILED);
        assertThat(threw.error()).isSameAs(exception);
        GroupResult<String> threwAnError = resultOf(new AnsweringHandler(() -> {
            throw error;
        }));
        assertThat(threwAnError.status()).isEqualTo(TaskStatus.FAILED);
        assertThat(threwAnError.error()).isSameAs(error);
    }

    @Tag("Q13")
    @Test
    void a_reason_begins_with_the_rule_that_rejected_the_task() {
        VirtualTime time = new VirtualTime();
        GroupPolicy policy = TestTasks.stepped(steps)
                .timeSource(time)
                .perGroupMaxConcurrency(Map.of("bulkhead", 2))
                .perGroupMaxInFlight(Map.of("bulkhead", 1))
                .perGroupQueueThreshold(Map.of("full", 0, "bulkhead", 0))
                .globalQueueThreshold(4)
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            assertThat(reason(submit(executor, "full", 2).get(1)))
                    .isEqualTo("group-queue: 1 of 1 running, 0 of 0 waiting");
            assertThat(reason(submit(executor, "bulkhead", 2).get(1)))
                    .isEqualTo("bulkhead: 1 of 1 running, 0 of 0 waiting");

            List<TaskHandle<String>> shutDown = submit(executor, "shut down", 2);
            List<TaskHandle<String>> evicted = submit(executor, "evicted", 2);
            List<TaskHandle<String>> withTheExecutor = submit(executor, "executor", 2);
            submit(executor, "late", 1);
            TaskHandle<String> late = executor.submit(
                    "late", TaskSpec.named("impatient", () -> "x").queueTimeout(Duration.ofMillis(1_500)));
            assertThat(reason(submit(executor, "late", 1).getFirst()))
                    .isEqualTo("global-queue: 4 of 4 waiting in all groups, 0 of unlimited slots held");

            time.advance(Duration.ofMillis(1_500));
            assertThat(reason(late))
                    .isEqualTo("queue-timeout: queue timeout after 1500 ms, 1 of 1 running, 0 of unlimited waiting");
            executor.shutdownGroup("shut down");
            assertThat(reason(shutDown.get(0))).isEqualTo("shutdown: the group was shut down");
            assertThat(reason(shutDown.get(1))).isEqualTo("shutdown: the group was shut down");
            executor.evictGroup("evicted");
            assertThat(reason(evicted.get(1))).isEqualTo("evicted: the group was evicted");
            executor.shutdown();
            assertThat(reason(withTheExecutor.get(1))).isEqualTo("shutdown: the executor was shut down");
        }
    }
}
