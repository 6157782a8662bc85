package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import dev.raddle.task.TaskStatus;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class GroupRecordsTest {

    private static final long MILLI = 1_000_000;

    @Tag("R1")
    @Test
    void a_group_task_refuses_null_components() {
        Callable<String> task = () -> "x";

        assertThatNullPointerException().isThrownBy(() -> new GroupTask<>(null, "t", task));
        assertThatNullPointerException().isThrownBy(() -> new GroupTask<>("a", null, task));
        assertThatNullPointerException().isThrownBy(() -> new GroupTask<String>("a", "t", null));
        assertThat(new GroupTask<>("a", "t", task).task()).isSameAs(task);
    }

    @Tag("R2")
    @Test
    void a_success_has_a_value_which_may_be_null_and_no_error() {
        GroupResult<String> result = GroupResult.success("a", "t", "x", 5, 8);

        assertThat(result).isEqualTo(new GroupResult<>("a", "t", TaskStatus.SUCCESS, "x", null, 5, 8));
        assertThat(GroupResult.success("a", "t", null, 5, 8).value()).isNull();
    }

    @Tag("R2")
    @Test
    void a_failure_and_a_cancellation_have_an_error_and_no_value() {
        IOException error = new IOException("no connection");

        assertThat(GroupResult.failed("a", "t", error, 5, 8))
                .isEqualTo(new GroupResult<>("a", "t", TaskStatus.FAILED, null, error, 5, 8));
        assertThat(GroupResult.cancelled("a", "t", error, 5, 8))
                .isEqualTo(new GroupResult<>("a", "t", TaskStatus.CANCELLED, null, error, 5, 8));
        assertThatNullPointerException().isThrownBy(() -> GroupResult.failed("a", "t", null, 5, 8));
        assertThatNullPointerException().isThrownBy(() -> GroupResult.cancelled("a", "t", null, 5, 8));
    }

    @Tag("R2")
    @Test
    void a_rejection_has_neither_value_nor_error_nor_duration() {
        GroupResult<String> result = GroupResult.rejected("a", "t");

        assertThat(result.status()).isEqualTo(TaskStatus.REJECTED);
        assertThat(result.value()).isNull();
        assertThat(result.error()).isNull();
        assertThat(result.durationNanos()).isZero();
    }

    @Tag("R2")
    @Test
    void the_results_of_an_executor_have_the_value_and_error_of_their_status() throws Exception {
        GroupPolicy policy = GroupPolicy.builder()
                .perGroupQueueThreshold(Map.of("full", 0))
                .rejectionPolicy(RejectionPolicy.DISCARD)
                .build();
        IOException failure = new IOException("no connection");
        CancellationException cancellation = new CancellationException("enough");

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy);
                TestTasks tasks = new TestTasks()) {
            GroupResult<String> success = executor.submit("a", "t1", () -> "x").await();
            GroupResult<String> nothing =
                    executor.submit("a", "t2", () -> (String) null).await();
            GroupResult<String> failed = executor.<String>submit("a", "t3", () -> {
                        throw failure;
                    })
                    .await();
            GroupResult<String> cancelled = executor.<String>submit("a", "t4", () -> {
                        throw cancellation;
                    })
                    .await();
            executor.submit("full", "t5", tasks.blocked("x"));
            GroupResult<String> rejected =
                    executor.submit("full", "t6", () -> "x").await();

            assertThat(success)
                    .isEqualTo(GroupResult.success("a", "t1", "x", success.startTimeNanos(), success.endTimeNanos()));
            assertThat(nothing)
                    .isEqualTo(GroupResult.success("a", "t2", null, nothing.startTimeNanos(), nothing.endTimeNanos()));
            assertThat(failed)
                    .isEqualTo(GroupResult.failed("a", "t3", failure, failed.startTimeNanos(), failed.endTimeNanos()));
            assertThat(cancelled)
                    .isEqualTo(GroupResult.cancelled(
                            "a", "t4", cancellation, cancelled.startTimeNanos(), cancelled.endTimeNanos()));
            assertThat(rejected.status()).isEqualTo(TaskStatus.REJECTED);
            assertThat(rejected.value()).isNull();
            assertThat(rejected.error()).isNull();
            assertThat(rejected.durationNanos()).isZero();
        }
    }

    @Tag("R3")
    @Test
    void times_are_those_of_the_system_clock_and_enclose_the_call() throws Exception {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder().build())) {
            long before = System.nanoTime();
            GroupResult<Long> result =
                    executor.submit("a", "t", System::nanoTime).await();
            long after = System.nanoTime();

            long inside = result.value();
            assertThat(result.startTimeNanos() - before).isNotNegative();
            assertThat(inside - result.startTimeNanos()).isNotNegative();
            assertThat(result.endTimeNanos() - inside).isNotNegative();
            assertThat(after - result.endTimeNanos()).isNotNegative();
        }
    }

    @Tag("R3")
    @Test
    void the_duration_of_a_task_does_not_include_its_waiting_time() throws Exception {
        VirtualTime time = new VirtualTime();
        StepScheduler steps = new StepScheduler();
        GroupPolicy policy = TestTasks.stepped(steps).timeSource(time).build();
        Callable<String> hundredMillis = () -> {
            time.advance(Duration.ofMillis(100));
            return "x";
        };

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            TaskHandle<String> first = executor.submit("a", "t1", hundredMillis);
            TaskHandle<String> second = executor.submit("a", "t2", hundredMillis);
            steps.runNext();
            time.advance(Duration.ofMillis(7)); // the second is granted, and its thread has not begun
            steps.runNext();

            assertThat(first.await().startTimeNanos()).isZero();
            assertThat(first.await().durationNanos()).isEqualTo(100 * MILLI);
            assertThat(second.await().startTimeNanos()).isEqualTo(107 * MILLI);
            assertThat(second.await().durationNanos()).isEqualTo(100 * MILLI);
        }
    }

    @Tag("R4")
    @Test
    void the_duration_is_the_end_minus_the_start_even_if_the_clock_wraps_around() {
        assertThat(GroupResult.success("a", "t", "x", 30, 75).durationNanos()).isEqualTo(45);
        assertThat(GroupResult.success("a", "t", "x", Long.MAX_VALUE - 1, Long.MIN_VALUE + 2)
                        .durationNanos())
                .isEqualTo(4);
    }

    @Tag("R4")
    @Test
    void a_task_that_is_cancelled_before_it_starts_has_equal_start_and_end_times() throws Exception {
        VirtualTime time = new VirtualTime();
        StepScheduler steps = new StepScheduler();
        GroupPolicy policy = TestTasks.stepped(steps).timeSource(time).build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            TaskHandle<String> granted = executor.submit("a", "granted", () -> "x");
            TaskHandle<String> waiting = executor.submit("a", "waiting", () -> "x");
            time.advance(Duration.ofMillis(5));
            waiting.cancel(false);
            time.advance(Duration.ofMillis(5));
            granted.cancel(false);

            assertThat(waiting.await().status()).isEqualTo(TaskStatus.CANCELLED);
            assertThat(waiting.await().startTimeNanos()).isEqualTo(5 * MILLI);
            assertThat(waiting.await().endTimeNanos()).isEqualTo(5 * MILLI);
            assertThat(granted.await().status()).isEqualTo(TaskStatus.CANCELLED);
            assertThat(granted.await().startTimeNanos()).isEqualTo(10 * MILLI);
            assertThat(granted.await().endTimeNanos()).isEqualTo(10 * MILLI);
        }
    }
}
