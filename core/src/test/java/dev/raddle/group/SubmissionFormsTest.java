package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.CancelledException;
import dev.raddle.task.Rejection;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.TaskExecutionException;
import dev.raddle.task.TaskSpec;
import dev.raddle.task.TaskStatus;
import dev.raddle.task.TaskTimeoutException;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** The short ways to submit, wait and read a result. */
class SubmissionFormsTest {

    private final VirtualTime time = new VirtualTime();
    private final StepScheduler steps = new StepScheduler();

    private static GroupExecutor executor() {
        return GroupExecutor.newVirtualThreadExecutor(
                GroupPolicy.builder().closeTimeout(Duration.ZERO).build());
    }

    private GroupExecutor stepped() {
        return GroupExecutor.newVirtualThreadExecutor(
                TestTasks.stepped(steps).timeSource(time).build());
    }

    // Submitting.

    @Test
    void a_task_without_an_id_gets_the_next_number_of_its_executor() throws Exception {
        try (GroupExecutor executor = executor()) {
            TaskHandle<String> first = executor.submit("a", () -> "one");
            TaskHandle<Void> second = executor.submit("b", () -> {});

            assertThat(first.taskId()).isEqualTo("task-1");
            assertThat(second.taskId()).isEqualTo("task-2");
            assertThat(first.await().value()).isEqualTo("one");
        }
    }

    @Test
    void a_runnable_is_run_once_and_its_result_has_no_value() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        Runnable task = runs::incrementAndGet;
        try (GroupExecutor executor = executor()) {
            assertThat(executor.submit("a", task).await().orElseThrow()).isNull();
            assertThat(executor.submit("a", TaskSpec.named("named", task))
                            .await()
                            .isSuccess())
                    .isTrue();
            assertThat(executor.submit("a", TaskSpec.named("ranked", task).priority(3))
                            .await()
                            .isSuccess())
                    .isTrue();
        }
        assertThat(runs).hasValue(3);
    }

    @Test
    void the_exception_of_a_runnable_is_the_error_of_its_task() throws Exception {
        IllegalStateException failure = new IllegalStateException("on purpose");
        try (GroupExecutor executor = executor()) {
            GroupResult<Void> result = executor.submit("a", () -> {
                        fail(failure);
                    })
                    .await();

            assertThat(result.error()).isSameAs(failure);
        }
    }

    private static void fail(RuntimeException failure) {
        throw failure;
    }

    @Test
    void a_lambda_with_a_value_is_a_callable_and_one_without_is_a_runnable() throws Exception {
        AtomicInteger counter = new AtomicInteger();
        try (GroupExecutor executor = executor()) {
            TaskHandle<Integer> withValue = executor.submit("a", "t1", () -> counter.incrementAndGet());
            withValue.await();
            TaskHandle<Void> without = executor.submit("a", () -> {
                counter.incrementAndGet();
            });
            without.await();

            assertThat(withValue.await().value()).isEqualTo(1);
            assertThat(counter).hasValue(2);
        }
    }

    @Test
    void options_affect_the_order_of_runnables_too() {
        List<String> order = new ArrayList<>();
        try (GroupExecutor executor = stepped()) {
            executor.submit("a", "runs", () -> order.add("runs"));
            executor.submit("a", () -> {
                order.add("late");
            });
            executor.submit(
                    "a",
                    TaskSpec.named("urgent", () -> {
                                order.add("urgent");
                            })
                            .priority(1));
            steps.runAll();
        }
        assertThat(order).containsExactly("runs", "urgent", "late");
    }

    @Test
    void a_null_is_refused_before_anything_is_submitted() {
        try (GroupExecutor executor = executor()) {
            assertThatNullPointerException().isThrownBy(() -> executor.submit("a", "t", null));
            assertThatNullPointerException().isThrownBy(() -> executor.submit("a", (Runnable) null));
            assertThatNullPointerException().isThrownBy(() -> executor.submit(null, () -> "x"));
            assertThatNullPointerException().isThrownBy(() -> TaskSpec.named("t", (Runnable) null));

            assertThat(executor.activeGroupKeys()).isEmpty();
        }
    }

    // Waiting.

    // Results.

    @Test
    void or_else_throw_returns_the_value_or_throws_the_exception_of_the_task() throws Exception {
        IllegalStateException unchecked = new IllegalStateException("unchecked");
        StackOverflowError error = new StackOverflowError("error");
        IOException checked = new IOException("checked");

        assertThat(GroupResult.success("a", "t", "x", 1, 2).orElseThrow()).isEqualTo("x");
        assertThatThrownBy(() -> GroupResult.failed("a", "t", unchecked, 1, 2).orElseThrow())
                .isSameAs(unchecked);
        assertThatThrownBy(() -> GroupResult.failed("a", "t", error, 1, 2).orElseThrow())
                .isSameAs(error);
        assertThatThrownBy(() -> GroupResult.failed("a", "t", checked, 1, 2).orElseThrow())
                .isInstanceOf(TaskExecutionException.class)
                .hasMessage("task \"t\" in group \"a\" failed: java.io.IOException: checked")
                .hasCause(checked);
        assertThatThrownBy(() -> GroupResult.cancelled("a", "t", new TimeoutException("late"), 1, 2)
                        .orElseThrow())
                .isInstanceOf(CancelledException.class)
                .hasCauseInstanceOf(TimeoutException.class);
        assertThatThrownBy(() -> closed("a", "t").orElseThrow())
                .isInstanceOf(RejectedTaskException.class)
                .hasMessage("task \"t\" in group \"a\" was rejected, maintenance: back at noon");
        assertThatThrownBy(() -> GroupResult.rejected("a", "t").orElseThrow())
                .hasMessage("task \"t\" in group \"a\" was rejected, no reason given");
    }

    private static <T> GroupResult<T> closed(String key, String id) {
        Rejection reason = new Rejection(Rejection.Reason.OTHER, "maintenance: back at noon", null, null, null, null);
        return new GroupResult<>(key, id, TaskStatus.REJECTED, null, null, 1, 1, reason);
    }

    @Test
    void each_result_is_one_of_four_kinds() {
        assertThat(kinds(GroupResult.success("a", "t", null, 1, 2))).containsExactly(true, false, false, false);
        assertThat(kinds(GroupResult.failed("a", "t", new Error(), 1, 2))).containsExactly(false, true, false, false);
        assertThat(kinds(GroupResult.cancelled("a", "t", new TimeoutException(), 1, 2)))
                .containsExactly(false, false, true, false);
        assertThat(kinds(GroupResult.rejected("a", "t"))).containsExactly(false, false, false, true);
    }

    private static List<Boolean> kinds(GroupResult<?> result) {
        return List.of(result.isSuccess(), result.isFailed(), result.isCancelled(), result.isRejected());
    }

    @Test
    void a_rejected_result_has_the_rule_that_rejected_the_task() {
        GroupPolicy policy =
                TestTasks.stepped(steps).defaultQueueThresholdPerGroup(0).build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            executor.submit("a", "runs", () -> "x");

            List<GroupResult<String>> results = executor.executeAll(List.of(new GroupTask<>("a", "late", () -> "y")));

            assertThat(results.getFirst().rejection()).hasToString("group-queue: 1 of 1 running, 0 of 0 waiting");
        }
    }

    @Test
    void the_reason_that_a_handler_gives_reaches_the_handle() throws Exception {
        RejectionHandler handler = new RejectionHandler() {
            @Override
            public <T> GroupResult<T> onRejected(String groupKey, String taskId, Callable<T> task) {
                return closed(groupKey, taskId);
            }
        };
        GroupPolicy policy = TestTasks.stepped(steps)
                .defaultQueueThresholdPerGroup(0)
                .rejectionHandler(handler)
                .build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            executor.submit("a", "runs", () -> "x");

            assertThat(executor.submit("a", "late", () -> "y").await().rejection())
                    .isEqualTo(
                            new Rejection(Rejection.Reason.OTHER, "maintenance: back at noon", null, null, null, null));
        }
    }

    // executeAll.

    @Test
    void execute_all_with_a_timeout_cancels_the_tasks_that_have_not_ended_in_time() throws Exception {
        BlockingTask stuck = BlockingTask.uninterruptible();
        try (GroupExecutor executor = executor()) {
            List<GroupResult<String>> results = executor.executeAll(
                    List.of(
                            new GroupTask<>("a", "done", () -> "value"),
                            new GroupTask<>("b", "stuck", stuck),
                            new GroupTask<>("b", "waits", () -> "never")),
                    Duration.ofMillis(1));

            assertThat(results).extracting(GroupResult::taskId).containsExactly("done", "stuck", "waits");
            assertThat(results.get(1).error()).isInstanceOf(TimeoutException.class);
            assertThat(results.get(2).error()).isSameAs(results.get(1).error());
            assertThat(executor.groupStats("b").orElseThrow().queuedCount()).isZero();
            stuck.release();
        }
    }

    @Test
    void the_tasks_of_execute_all_may_have_options_of_their_own() {
        List<String> order = new ArrayList<>();
        try (GroupExecutor executor = stepped()) {
            AtomicReference<List<GroupResult<Boolean>>> results = new AtomicReference<>();
            executor.pauseGroup("a");
            TaskHandle<Boolean> before = executor.submit("a", "before", () -> order.add("before"));
            Thread caller = Thread.startVirtualThread(() -> results.set(executor.executeAll(List.of(
                    new GroupTask<>(
                            "a", TaskSpec.named("own", () -> order.add("own")).priority(9)),
                    new GroupTask<>("a", "plain", () -> order.add("plain"))))));
            while (executor.groupStats("a").orElseThrow().queuedCount() < 3) {
                Thread.onSpinWait();
            }
            executor.resumeGroup("a");
            steps.runAll();
            caller.join();

            assertThat(order).containsExactly("own", "before", "plain");
            assertThat(before.isDone()).isTrue();
            assertThat(results.get()).allMatch(GroupResult::isSuccess);
        } catch (InterruptedException interrupt) {
            throw new AssertionError(interrupt);
        }
    }

    // call.

    @Test
    void a_call_with_options_is_tried_again_and_has_a_timeout() throws Exception {
        AtomicInteger attempts = new AtomicInteger();
        try (GroupExecutor executor = executor()) {
            String value = executor.call(
                    "a",
                    TaskSpec.named("call", () -> {
                                if (attempts.incrementAndGet() < 3) {
                                    throw new IOException("not yet");
                                }
                                return "third";
                            })
                            .retry(RetryPolicy.attempts(3)));

            assertThat(value).isEqualTo("third");
            assertThatThrownBy(() -> executor.call(
                            "a",
                            TaskSpec.named("call", new BlockingTask()::call).timeout(Duration.ofMillis(1))))
                    .isInstanceOf(TaskTimeoutException.class);
        }
    }

    @Test
    void a_try_call_with_options_waits_no_longer_than_its_timeout() throws Exception {
        try (GroupExecutor executor = stepped()) {
            executor.submit("a", "runs", () -> "x");

            assertThat(executor.tryCall(
                            "a",
                            Duration.ZERO,
                            TaskSpec.named("call", () -> "y")
                                    .queueTimeout(Duration.ofDays(1))
                                    .priority(7)))
                    .isEmpty();
            assertThat(executor.tryCall(
                            "b",
                            Duration.ZERO,
                            TaskSpec.named("call", () -> "z").cost(2)))
                    .contains("z");
        }
    }

    @Test
    void after_a_shutdown_the_short_forms_throw_too() {
        GroupExecutor executor = executor();
        executor.close();

        assertThatIllegalStateException()
                .isThrownBy(() -> executor.submit("a", () -> "x"))
                .withMessage("executor is shut down; task \"task-1\" for group \"a\" was not submitted");
        assertThatIllegalStateException().isThrownBy(() -> executor.executeAll(List.of(), Duration.ZERO));
    }
}
