package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.RetryPolicy;
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
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Tasks of a group with a retry policy, a time limit, or scoped values. */
class ConfiguredTasksTest {

    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final ScopedValue<String> LOCALE = ScopedValue.newInstance();

    private final VirtualTime time = new VirtualTime();
    private final StepScheduler steps = new StepScheduler();
    private final AtomicInteger calls = new AtomicInteger();

    private GroupExecutor threaded() {
        return GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                .timeSource(time)
                .idleGroupTtl(Duration.ZERO)
                .globalMaxInFlight(1)
                .build());
    }

    private GroupExecutor stepped() {
        return GroupExecutor.newVirtualThreadExecutor(TestTasks.stepped(steps)
                .timeSource(time)
                .idleGroupTtl(Duration.ZERO)
                .build());
    }

    @Test
    void a_task_is_tried_as_often_as_its_options_say_through_every_method_of_submission() {
        RetryPolicy policy = RetryPolicy.attempts(3);
        try (GroupExecutor executor = stepped()) {
            List<TaskHandle<Integer>> handles = List.of(
                    executor.submit("g", TaskSpec.named("a", this::thirdTime).retry(policy)),
                    executor.submit(
                            "g", TaskSpec.<Integer>named("b", this::thirdTime).retry(policy)));
            for (TaskHandle<Integer> handle : handles) {
                calls.set(0);
                steps.runNext();
                assertThat(handle.join().value()).isEqualTo(3);
            }
            calls.set(0);
            TaskHandle<Integer> once = executor.submit("g", "c", this::thirdTime);
            steps.runAll();
            assertThat(once.join().status()).isEqualTo(TaskStatus.FAILED);
            assertThat(calls).hasValue(1);
        }
    }

    private int thirdTime() throws IOException {
        int call = calls.incrementAndGet();
        if (call < 3) {
            throw new IOException("call " + call);
        }
        return call;
    }

    @Test
    void a_group_task_is_run_with_its_options() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                .timeSource(time)
                .idleGroupTtl(Duration.ZERO)
                .build())) {
            List<GroupResult<Integer>> results = executor.executeAll(List.of(
                    new GroupTask<>(
                            "g",
                            TaskSpec.<Integer>named("retried", this::thirdTime).retry(RetryPolicy.attempts(3))),
                    new GroupTask<>("g", "plain", () -> 7),
                    new GroupTask<>("h", TaskSpec.named("timed", () -> 8).timeout(SECOND))));

            assertThat(results).extracting(GroupResult::value).containsExactly(3, 7, 8);
        }
        assertThat(time.alarms()).isZero();
    }

    @Test
    void a_waiting_task_whose_timeout_passes_leaves_the_queue() throws Exception {
        BlockingTask holder = new BlockingTask();
        try (GroupExecutor executor = threaded()) {
            TaskHandle<String> holds = executor.submit("g", "holder", holder);
            holder.awaitBegun();
            TaskHandle<String> late =
                    executor.submit("g", TaskSpec.named("late", () -> "never").timeout(SECOND));
            TaskHandle<String> elsewhere = executor.submit(
                    "h", TaskSpec.named("late too", () -> "never").timeout(SECOND));
            TaskHandle<String> next = executor.submit("g", "next", () -> "value");
            assertThat(executor.stats().totalQueuedCount()).isEqualTo(3);

            time.advance(SECOND);

            for (TaskHandle<String> handle : List.of(late, elsewhere)) {
                GroupResult<String> result = handle.await();
                assertThat(result.status()).isEqualTo(TaskStatus.FAILED);
                assertThat(result.error()).isInstanceOfSatisfying(TaskTimeoutException.class, timeout -> {
                    assertThat(timeout.attempt()).isZero();
                    assertThat(timeout.budget()).isEqualTo(SECOND);
                });
            }
            assertThat(executor.stats().totalQueuedCount()).isEqualTo(1);
            assertThat(time.alarms()).isZero();
            holder.release();
            assertThat(holds.await().value()).isEqualTo("value");
            assertThat(next.await().value()).isEqualTo("value");
        }
    }

    @Test
    void a_running_task_whose_timeout_passes_keeps_its_slots_until_it_ends() throws Exception {
        BlockingTask stubborn = BlockingTask.uninterruptible();
        try (GroupExecutor executor = threaded()) {
            TaskHandle<String> slow =
                    executor.submit("g", TaskSpec.named("slow", stubborn::call).timeout(SECOND));
            TaskHandle<String> next = executor.submit("g", "next", () -> "value");
            stubborn.awaitBegun();

            time.advance(SECOND);

            GroupResult<String> result = slow.await();
            assertThat(result.status()).isEqualTo(TaskStatus.FAILED);
            assertThat(result.error())
                    .hasMessage("task \"slow\" ran out of time after 1000 ms (its timeout), attempt 1 of 1");
            stubborn.awaitInterrupt();
            assertThat(executor.stats().totalActiveCount()).as("it still runs").isEqualTo(1);
            assertThat(next.isDone()).isFalse();
            stubborn.release();
            assertThat(next.await().value()).isEqualTo("value");
            assertThat(executor.stats().totalActiveCount()).isZero();
        }
        assertThat(stubborn.interrupts()).isEqualTo(1);
        assertThat(time.alarms()).isZero();
    }

    @Test
    void a_task_whose_timeout_passes_between_two_attempts_releases_its_slots_at_once() throws Exception {
        try (GroupExecutor executor = threaded()) {
            TaskHandle<Integer> rests = executor.submit(
                    "g",
                    TaskSpec.named("rests", this::thirdTime)
                            .retry(RetryPolicy.fixedDelay(3, SECOND.multipliedBy(2)))
                            .timeout(SECOND.multipliedBy(3)));
            TaskHandle<String> next = executor.submit("g", "next", () -> "value");
            time.awaitAlarms(2);
            assertThat(executor.stats().totalActiveCount())
                    .as("it keeps its slot")
                    .isEqualTo(1);
            time.advance(SECOND.multipliedBy(2)); // the second attempt, after which there is no time for a third

            GroupResult<Integer> result = rests.await();

            assertThat(result.error())
                    .isInstanceOf(TaskTimeoutException.class)
                    .hasMessageContaining("gave up after attempt 2 of 3")
                    .hasRootCauseMessage("call 2");
            assertThat(next.await().value()).isEqualTo("value");
            assertThat(time.alarms()).isZero();
        }
    }

    @Test
    void a_cancel_between_two_attempts_ends_the_task_at_once() throws Exception {
        try (GroupExecutor executor = threaded()) {
            TaskHandle<Integer> rests = executor.submit(
                    "g", TaskSpec.named("rests", this::thirdTime).retry(RetryPolicy.fixedDelay(3, SECOND)));
            TaskHandle<String> next = executor.submit("g", "next", () -> "value");
            time.awaitAlarms(1);

            assertThat(rests.cancel(true)).isTrue();

            assertThat(next.await().value()).isEqualTo("value");
            assertThat(rests.await().status()).isEqualTo(TaskStatus.CANCELLED);
            assertThat(calls).hasValue(1);
            assertThat(time.alarms()).isZero();
        }
    }

    @Test
    void no_alarm_is_left_after_any_end_of_a_task_with_a_time_limit() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(TestTasks.stepped(steps)
                .timeSource(time)
                .idleGroupTtl(Duration.ZERO)
                .defaultQueueThresholdPerGroup(2)
                .build())) {
            List<TaskHandle<String>> handles = new ArrayList<>();
            handles.add(
                    executor.submit("g", TaskSpec.named("ends", () -> "value").timeout(SECOND)));
            handles.add(executor.submit(
                    "g",
                    TaskSpec.<String>named("fails", () -> {
                                throw new IOException();
                            })
                            .timeout(SECOND)));
            handles.add(executor.submit(
                    "g", TaskSpec.named("cancelled", () -> "never").timeout(SECOND)));
            assertThat(time.alarms()).isEqualTo(3);
            TaskHandle<String> rejected = executor.submit(
                    "g", TaskSpec.named("rejected", () -> "never").timeout(SECOND));
            assertThat(rejected.isDone()).isTrue();
            assertThat(time.alarms()).as("of the rejected one").isEqualTo(3);
            handles.getLast().cancel(true);
            assertThat(time.alarms()).isEqualTo(2);
            steps.runAll();
            assertThat(handles).allMatch(TaskHandle::isDone);
            assertThat(time.alarms()).isZero();
            executor.submit("g", TaskSpec.named("granted", () -> "never").timeout(SECOND));
            executor.submit("g", TaskSpec.named("waiting", () -> "never").timeout(SECOND));
            executor.evictGroup("g");
            executor.shutdown();
            steps.runAll();
        }
        assertThat(time.alarms()).isZero();
    }

    @Test
    void a_timeout_that_passes_before_the_thread_begins_keeps_the_callable_from_being_called() {
        try (GroupExecutor executor = stepped()) {
            TaskHandle<Integer> late = executor.submit(
                    "g", TaskSpec.named("late", calls::incrementAndGet).timeout(SECOND));
            time.advance(SECOND);
            steps.runAll();
            assertThat(late.join().error()).isInstanceOf(TaskTimeoutException.class);
            assertThat(calls).hasValue(0);
            assertThat(executor.stats().totalActiveCount()).isZero();
        }
    }

    @Test
    void the_scoped_values_of_a_policy_are_bound_in_the_task_as_they_were_in_the_submitter() throws Exception {
        ScopedValue<String> other = ScopedValue.newInstance();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                .addScopedValue(LOCALE)
                .addScopedValue(other)
                .build())) {
            List<String> seen = ScopedValue.where(LOCALE, "fr")
                    .call(() -> List.of(
                            executor.submit("g", "t", () -> LOCALE.get() + other.orElse("-"))
                                    .await()
                                    .value(),
                            executor.call("g", () -> LOCALE.get() + other.orElse("-")),
                            executor.executeAll(List.of(new GroupTask<>("g", "t", LOCALE::get)))
                                    .getFirst()
                                    .value()));
            assertThat(seen).containsExactly("fr-", "fr-", "fr");
            assertThat(executor.submit("g", "t", LOCALE::isBound).await().value())
                    .isFalse();
        }
    }
}
