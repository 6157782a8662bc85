package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import dev.raddle.task.TaskStatus;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ExecuteAllTest {

    @Tag("E1")
    @Test
    void results_are_in_the_order_of_the_tasks_and_a_failure_does_not_keep_others_from_running() {
        IllegalStateException failure = new IllegalStateException("on purpose");

        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder().build())) {
            List<GroupResult<String>> results = executor.executeAll(List.of(
                    new GroupTask<>("a", "t1", () -> "one"),
                    new GroupTask<String>("a", "t2", () -> {
                        throw failure;
                    }),
                    new GroupTask<>("a", "t3", () -> "three")));

            assertThat(results).extracting(GroupResult::taskId).containsExactly("t1", "t2", "t3");
            assertThat(results)
                    .extracting(GroupResult::status)
                    .containsExactly(TaskStatus.SUCCESS, TaskStatus.FAILED, TaskStatus.SUCCESS);
            assertThat(results).extracting(GroupResult::value).containsExactly("one", null, "three");
            assertThat(results.get(1).error()).isSameAs(failure);
        }
    }

    @Tag("E1")
    @Test
    void results_are_in_the_order_of_the_tasks_although_the_tasks_end_in_reverse() {
        int count = 8;
        List<CountDownLatch> ended = new ArrayList<>();
        List<Integer> order = Collections.synchronizedList(new ArrayList<>());
        List<GroupTask<Integer>> tasks = new ArrayList<>();
        for (int i = 0; i <= count; i++) {
            ended.add(new CountDownLatch(1));
        }
        ended.get(count).countDown();
        for (int i = 0; i < count; i++) {
            int number = i;
            tasks.add(new GroupTask<>("g" + i, "t" + i, () -> {
                ended.get(number + 1).await();
                order.add(number);
                ended.get(number).countDown();
                return number;
            }));
        }

        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder().build())) {
            List<GroupResult<Integer>> results = executor.executeAll(tasks);

            assertThat(order).containsExactly(7, 6, 5, 4, 3, 2, 1, 0);
            assertThat(results).extracting(GroupResult::value).containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
        }
    }

    @Tag("E2")
    @ParameterizedTest
    @EnumSource(
            value = RejectionPolicy.class,
            names = {"ABORT", "DISCARD"})
    void a_rejection_is_a_result_and_not_an_exception(RejectionPolicy rejectionPolicy) throws Exception {
        CountDownLatch allSubmitted = new CountDownLatch(1);
        GroupPolicy policy = GroupPolicy.builder()
                .defaultQueueThresholdPerGroup(1)
                .rejectionPolicy(rejectionPolicy)
                .taskLifecycleListener(new TaskLifecycleListener() {
                    @Override
                    public void onRejected(String groupKey, String taskId, String reason) {
                        allSubmitted.countDown();
                    }
                })
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            List<GroupResult<String>> results = executor.executeAll(List.of(
                    new GroupTask<>("a", "t1", () -> {
                        allSubmitted.await();
                        return "one";
                    }),
                    new GroupTask<>("a", "t2", () -> "two"),
                    new GroupTask<>("a", "t3", () -> "three")));

            assertThat(results)
                    .extracting(GroupResult::status)
                    .containsExactly(TaskStatus.SUCCESS, TaskStatus.SUCCESS, TaskStatus.REJECTED);
            assertThat(results.get(2).value()).isNull();
            assertThat(results.get(2).error()).isNull();
        }
    }

    @Tag("E3")
    @Test
    void an_interrupted_caller_cancels_unfinished_tasks_and_keeps_the_collected_results() throws Exception {
        AtomicReference<List<GroupResult<String>>> results = new AtomicReference<>();
        AtomicBoolean interruptedAfterwards = new AtomicBoolean();
        CountDownLatch taskInterrupted = new CountDownLatch(2);
        AtomicInteger queuedCalled = new AtomicInteger();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                        GroupPolicy.builder().build());
                TestTasks tasks = new TestTasks()) {
            Callable<String> running = () -> {
                try {
                    return tasks.blocked("late").call();
                } catch (InterruptedException interrupt) {
                    taskInterrupted.countDown();
                    throw interrupt;
                }
            };
            List<GroupTask<String>> all = List.of(
                    new GroupTask<>("a", "ended", () -> "early"),
                    new GroupTask<>("a", "current", running),
                    new GroupTask<>("a", "waiting", () -> "called " + queuedCalled.incrementAndGet()),
                    new GroupTask<>("b", "running elsewhere", running));
            Thread caller = Thread.ofPlatform().start(() -> {
                results.set(executor.executeAll(all));
                interruptedAfterwards.set(Thread.currentThread().isInterrupted());
            });
            tasks.awaitBegun(2);
            caller.interrupt();
            caller.join();

            assertThat(interruptedAfterwards).isTrue();
            assertThat(results.get())
                    .extracting(GroupResult::status)
                    .containsExactly(
                            TaskStatus.SUCCESS, TaskStatus.CANCELLED, TaskStatus.CANCELLED, TaskStatus.CANCELLED);
            assertThat(results.get().getFirst().value()).isEqualTo("early");
            taskInterrupted.await(); // both that ran
            assertThat(executor.awaitIdle("a", Duration.ofMinutes(2))).isTrue();
            assertThat(queuedCalled).hasValue(0);
        }
    }

    @Tag("E3")
    @Test
    void an_interrupted_caller_frees_no_slot_for_a_task_that_it_cancels_later() throws Exception {
        AtomicReference<GroupExecutor> self = new AtomicReference<>();
        AtomicInteger called = new AtomicInteger();
        AtomicReference<List<GroupResult<String>>> results = new AtomicReference<>();
        GroupPolicy policy = GroupPolicy.builder()
                .taskLifecycleListener(new TaskLifecycleListener() {
                    @Override
                    public void onCompleted(String groupKey, String taskId, GroupResult<?> result) {
                        if (taskId.equals(
                                "current")) { // called in the caller's thread, which has just cancelled the task
                            awaitIdle(self.get(), groupKey);
                        }
                    }
                })
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy);
                TestTasks tasks = new TestTasks()) {
            self.set(executor);
            List<GroupTask<String>> all = List.of(
                    new GroupTask<>("a", "current", tasks.blocked("late")),
                    new GroupTask<>("a", "next", () -> "called " + called.incrementAndGet()),
                    new GroupTask<>("a", "last", () -> "called " + called.incrementAndGet()));
            Thread caller = Thread.ofPlatform().start(() -> results.set(executor.executeAll(all)));
            tasks.awaitBegun(1);
            caller.interrupt();
            caller.join();

            assertThat(results.get())
                    .extracting(GroupResult::status)
                    .containsExactly(TaskStatus.CANCELLED, TaskStatus.CANCELLED, TaskStatus.CANCELLED);
            assertThat(called).hasValue(0);
        }
    }

    private static void awaitIdle(GroupExecutor executor, String key) {
        try {
            executor.awaitIdle(key, Duration.ofMinutes(2));
        } catch (InterruptedException interrupt) {
            throw new AssertionError(interrupt);
        }
    }

    @Tag("E3")
    @Test
    void a_caller_that_is_interrupted_before_the_call_does_not_wait() throws Exception {
        StepScheduler steps = new StepScheduler();
        AtomicReference<List<GroupResult<String>>> results = new AtomicReference<>();
        AtomicBoolean interruptedAfterwards = new AtomicBoolean();

        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(TestTasks.stepped(steps).build())) {
            Thread caller = Thread.ofPlatform().start(() -> {
                Thread.currentThread().interrupt();
                results.set(executor.executeAll(
                        List.of(new GroupTask<>("a", "t1", () -> "x"), new GroupTask<>("b", "t2", () -> "x"))));
                interruptedAfterwards.set(Thread.currentThread().isInterrupted());
            });
            caller.join();

            assertThat(interruptedAfterwards).isTrue();
            assertThat(results.get())
                    .extracting(GroupResult::status)
                    .containsExactly(TaskStatus.CANCELLED, TaskStatus.CANCELLED);
            assertThat(results.get().getFirst().error()).isInstanceOf(InterruptedException.class);
        }
    }

    @Tag("E4")
    @Test
    void a_null_among_the_tasks_is_refused_before_anything_is_submitted() {
        AtomicInteger called = new AtomicInteger();
        List<String> submitted = new ArrayList<>();
        GroupPolicy policy = GroupPolicy.builder()
                .taskLifecycleListener(new TaskLifecycleListener() {
                    @Override
                    public void onSubmitted(String groupKey, String taskId) {
                        submitted.add(taskId);
                    }
                })
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            List<GroupTask<Integer>> withNull = Arrays.asList(new GroupTask<>("a", "t", called::incrementAndGet), null);

            assertThatNullPointerException().isThrownBy(() -> executor.executeAll(null));
            assertThatNullPointerException().isThrownBy(() -> executor.executeAll(withNull));
            assertThat(submitted).isEmpty();
            assertThat(executor.activeGroupKeys()).isEmpty();
        }
        assertThat(called).hasValue(0);
    }

    @Tag("E4")
    @Test
    void an_empty_list_of_tasks_has_an_empty_list_of_results() {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder().build())) {
            assertThat(executor.executeAll(List.of())).isEmpty();
        }
    }

    @Tag("E5")
    @ParameterizedTest
    @EnumSource(
            value = RejectionPolicy.class,
            names = {"ABORT", "CALLER_RUNS"})
    void a_shutdown_while_tasks_are_submitted_leaves_no_task_without_a_result(RejectionPolicy rejectionPolicy) {
        AtomicReference<GroupExecutor> self = new AtomicReference<>();
        AtomicInteger called = new AtomicInteger();
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch never = new CountDownLatch(1);
        GroupPolicy policy = GroupPolicy.builder()
                .rejectionPolicy(rejectionPolicy)
                .taskLifecycleListener(new TaskLifecycleListener() {
                    @Override
                    public void onSubmitted(String groupKey, String taskId) {
                        if (taskId.equals("third")) {
                            Wait.uninterrupted(begun);
                            self.get().shutdown();
                        }
                    }
                })
                .build();
        Callable<String> savesItsWork = () -> {
            begun.countDown();
            try {
                never.await();
            } catch (InterruptedException shutdown) {
                return "saved";
            }
            return "not interrupted";
        };

        GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy);
        self.set(executor);
        List<GroupResult<String>> results = executor.executeAll(List.of(
                new GroupTask<>("a", "first", savesItsWork),
                new GroupTask<>("a", "second", () -> "called " + called.incrementAndGet()),
                new GroupTask<>("a", "third", () -> "called " + called.incrementAndGet()),
                new GroupTask<>("b", "fourth", () -> "called " + called.incrementAndGet())));

        assertThat(results)
                .extracting(GroupResult::status)
                .containsExactly(TaskStatus.SUCCESS, TaskStatus.REJECTED, TaskStatus.REJECTED, TaskStatus.REJECTED);
        assertThat(results.getFirst().value()).isEqualTo("saved");
        assertThat(called).hasValue(0);
        assertThat(executor.shutdown(Duration.ofMinutes(2))).isTrue();
        assertThat(executor.activeGroupKeys()).isEmpty();
    }

    @Tag("E5")
    @Test
    void a_graceful_shutdown_while_tasks_are_submitted_awaits_the_submitted_ones_and_rejects_the_others()
            throws Exception {
        AtomicReference<GroupExecutor> self = new AtomicReference<>();
        AtomicBoolean drained = new AtomicBoolean();
        List<Thread> closer = new ArrayList<>();
        CountDownLatch closing = new CountDownLatch(1);
        GroupPolicy policy = GroupPolicy.builder()
                .taskLifecycleListener(new TaskLifecycleListener() {
                    @Override
                    public void onSubmitted(String groupKey, String taskId) {
                        if (taskId.equals("third")) {
                            closer.add(Thread.ofPlatform()
                                    .start(() -> drained.set(self.get().shutdown(Duration.ofSeconds(60)))));
                            while (!self.get().isShutdown()) {
                                Thread.onSpinWait();
                            }
                            closing.countDown();
                        }
                    }
                })
                .build();

        GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy);
        self.set(executor);
        List<GroupResult<String>> results = executor.executeAll(List.of(
                new GroupTask<>("a", "first", () -> {
                    closing.await();
                    return "one";
                }),
                new GroupTask<>("a", "second", () -> "two"),
                new GroupTask<>("a", "third", () -> "three"),
                new GroupTask<>("b", "fourth", () -> "four")));
        closer.getFirst().join();

        assertThat(results).extracting(GroupResult::value).containsExactly("one", "two", null, null);
        assertThat(results)
                .extracting(GroupResult::status)
                .containsExactly(TaskStatus.SUCCESS, TaskStatus.SUCCESS, TaskStatus.REJECTED, TaskStatus.REJECTED);
        assertThat(drained).isTrue();
    }
}
