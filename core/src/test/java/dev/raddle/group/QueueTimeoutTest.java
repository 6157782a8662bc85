package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.TaskSpec;
import dev.raddle.task.TaskStatus;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.RealAlarms;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;

class QueueTimeoutTest {

    private static final Duration TWO_SECONDS = Duration.ofSeconds(2);

    private final VirtualTime time = new VirtualTime();
    private final StepScheduler steps = new StepScheduler();
    private final List<String> ran = new ArrayList<>();

    private GroupPolicy.Builder stepped() {
        return TestTasks.stepped(steps).timeSource(time).idleGroupTtl(Duration.ZERO);
    }

    private static void assertTimedOut(TaskHandle<?> handle, String reason) {
        assertThatThrownBy(handle::await)
                .isInstanceOfSatisfying(
                        RejectedTaskException.class,
                        rejected -> assertThat(rejected.reason()).isEqualTo(reason));
    }

    @Test
    void a_task_that_waited_too_long_is_rejected_although_no_other_task_ends() throws InterruptedException {
        List<String> heard = new CopyOnWriteArrayList<>();
        TaskLifecycleListener listener = new TaskLifecycleListener() {
            @Override
            public void onRejected(String key, String id, String reason) {
                heard.add(id + " " + reason);
            }
        };
        String reason = "queue-timeout: queue timeout after 2000 ms, 1 of 1 running, 0 of unlimited waiting";
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(stepped()
                .queueTimeout(TWO_SECONDS)
                .taskLifecycleListener(listener)
                .build())) {
            TaskHandle<Boolean> holder = executor.submit("a", "holder", () -> ran.add("holder"));
            TaskHandle<Boolean> waits = executor.submit("a", "waits", () -> ran.add("waits"));

            time.advance(TWO_SECONDS.minusNanos(1));
            assertThat(executor.stats().totalQueuedCount()).isEqualTo(1);
            time.advance(Duration.ofNanos(1));

            assertTimedOut(waits, reason);
            assertThat(heard).containsExactly("waits " + reason);
            steps.runAll();
            assertThat(holder.await().status()).as("the holder did not wait").isEqualTo(TaskStatus.SUCCESS);
            assertThat(ran).containsExactly("holder");
        }
    }

    @Test
    void a_task_that_must_not_wait_is_rejected_by_its_submitter() {
        List<Thread> rejecting = new CopyOnWriteArrayList<>();
        TaskLifecycleListener listener = new TaskLifecycleListener() {
            @Override
            public void onRejected(String key, String id, String reason) {
                rejecting.add(Thread.currentThread());
            }
        };
        GroupPolicy.Builder policy = TestTasks.stepped(steps).taskLifecycleListener(listener);
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy.build())) {
            executor.submit("a", "holder", () -> "value");
            TaskHandle<String> refused = executor.submit(
                    "a", TaskSpec.named("refused", () -> "never").queueTimeout(Duration.ZERO));

            assertThat(refused.isDone()).isTrue();
            assertThat(rejecting).containsExactly(Thread.currentThread());
            steps.runAll();
        }
    }

    @Test
    void the_place_of_a_task_that_timed_out_is_free_at_once() throws InterruptedException {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(stepped()
                .defaultQueueThresholdPerGroup(1)
                .globalMaxInFlight(1)
                .globalQueueThreshold(1)
                .queueTimeout(TWO_SECONDS)
                .build())) {
            executor.submit("a", "holder", () -> "");
            executor.submit("a", "waits", () -> "never");
            assertThat(executor.submit("a", "rejected", () -> "").isDone()).isTrue();

            time.advance(TWO_SECONDS);

            assertThat(executor.stats().totalQueuedCount()).isZero();
            TaskHandle<String> inItsPlace = executor.submit("a", "later", () -> "value");
            steps.runAll();
            assertThat(inItsPlace.await().value()).isEqualTo("value");
        }
    }

    @Test
    void the_queue_timeout_of_a_task_takes_precedence_over_that_of_the_policy() throws InterruptedException {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                stepped().queueTimeout(TWO_SECONDS).build())) {
            executor.submit("a", "holder", () -> "");
            TaskHandle<String> sooner =
                    executor.submit("a", TaskSpec.named("sooner", () -> "").queueTimeout(Duration.ofSeconds(1)));
            TaskHandle<String> later =
                    executor.submit("a", TaskSpec.named("later", () -> "value").queueTimeout(Duration.ofSeconds(9)));
            TaskHandle<String> longest = executor.submit(
                    "a", TaskSpec.named("longest", () -> "value").queueTimeout(Duration.ofSeconds(Long.MAX_VALUE)));
            TaskHandle<String> asThePolicySays = executor.submit("a", TaskSpec.named("as the policy says", () -> ""));

            time.advance(Duration.ofSeconds(1));
            assertThat(executor.stats().totalQueuedCount()).isEqualTo(3);
            time.advance(Duration.ofSeconds(1));
            assertThat(executor.stats().totalQueuedCount()).isEqualTo(2);
            time.advance(Duration.ofSeconds(6));
            steps.runAll();

            assertThatThrownBy(sooner::await).hasMessageContaining("queue timeout after 1000 ms");
            assertThatThrownBy(asThePolicySays::await).hasMessageContaining("queue timeout after 2000 ms");
            assertThat(later.await().value()).isEqualTo("value");
            assertThat(longest.await().value()).isEqualTo("value");
        }
    }

    @Test
    void a_task_may_have_a_queue_timeout_without_one_in_the_policy() {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(stepped().build())) {
            executor.submit("a", "holder", () -> "");
            TaskHandle<String> waits =
                    executor.submit("a", TaskSpec.named("waits", () -> "").queueTimeout(TWO_SECONDS));
            executor.submit("a", "patient", () -> "");

            time.advance(TWO_SECONDS);

            assertThatThrownBy(waits::await).hasMessageContaining("queue timeout after 2000 ms");
            assertThat(executor.stats().totalQueuedCount()).isEqualTo(1);
        }
    }

    @Test
    void a_task_with_a_queue_timeout_of_zero_starts_at_once_or_is_rejected() throws InterruptedException {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(stepped().build())) {
            TaskHandle<String> first =
                    executor.submit("a", TaskSpec.named("first", () -> "value").queueTimeout(Duration.ZERO));
            TaskHandle<String> second =
                    executor.submit("a", TaskSpec.named("second", () -> "never").queueTimeout(Duration.ZERO));

            assertThatThrownBy(second::await).hasMessageContaining("queue timeout after 0 ms");
            assertThat(executor.stats().totalQueuedCount()).isZero();
            steps.runAll();
            assertThat(first.await().value()).isEqualTo("value");
        }
    }

    @Test
    void a_task_that_leaves_the_queue_in_time_cancels_its_alarm() throws InterruptedException {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                stepped().queueTimeout(TWO_SECONDS).build())) {
            executor.submit("a", "holder", () -> "");
            TaskHandle<String> starts = executor.submit("a", "starts", () -> "value");
            TaskHandle<String> leaves = executor.submit("a", "leaves", () -> "never");
            assertThat(time.alarms()).as("the holder never waited").isEqualTo(2);

            leaves.cancel(false);
            assertThat(time.alarms()).isEqualTo(1);
            steps.runNext(); // the end of the holder grants the next task
            assertThat(time.alarms()).isZero();

            time.advance(TWO_SECONDS);
            steps.runAll();
            assertThat(starts.await().value()).isEqualTo("value");
        }
    }

    @Test
    void an_alarm_that_is_set_for_a_task_which_has_just_left_the_queue_is_cancelled() throws InterruptedException {
        TimeSource grantsMeanwhile = new TimeSource() {
            @Override
            public long nanoTime() {
                return time.nanoTime();
            }

            @Override
            public Alarm after(Duration delay, Runnable action) {
                steps.runNext(); // the end of the holder grants the task of the alarm
                return time.after(delay, action);
            }
        };
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                stepped().timeSource(grantsMeanwhile).queueTimeout(TWO_SECONDS).build())) {
            executor.submit("a", "holder", () -> "");
            TaskHandle<String> granted = executor.submit("a", "granted", () -> "value");

            assertThat(time.alarms()).isZero();
            steps.runAll();
            assertThat(granted.await().value()).isEqualTo("value");
        }
    }

    @Test
    void the_alarms_of_evicted_tasks_are_cancelled() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                stepped().queueTimeout(TWO_SECONDS).build())) {
            executor.submit("a", "holder", () -> "");
            executor.submit("a", "waits", () -> "never");

            executor.evictGroup("a");

            assertThat(time.alarms()).isZero();
        }
    }

    @Test
    void when_a_wide_task_times_out_at_the_head_of_the_queue_the_tasks_behind_it_start() throws InterruptedException {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                stepped().defaultMaxConcurrencyPerGroup(2).build())) {
            executor.submit("a", "holder", () -> "");
            TaskHandle<String> wide = executor.submit(
                    "a", TaskSpec.named("wide", () -> "never").cost(2).queueTimeout(TWO_SECONDS));
            TaskHandle<String> narrow = executor.submit("a", "narrow", () -> "value");
            assertThat(steps.size()).isEqualTo(1);

            time.advance(TWO_SECONDS);

            assertThatThrownBy(wide::await).hasMessageContaining("queue timeout");
            steps.runAll();
            assertThat(narrow.await().value()).isEqualTo("value");
        }
    }

    @Test
    void tasks_of_execute_all_time_out_like_others() throws Exception {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                stepped().queueTimeout(TWO_SECONDS).build())) {
            executor.submit("a", "holder", () -> "");
            FutureTask<List<GroupResult<String>>> all = new FutureTask<>(() -> executor.executeAll(
                    List.of(new GroupTask<>("a", "t1", () -> "never"), new GroupTask<>("a", "t2", () -> "never"))));
            Thread.ofPlatform().start(all);
            time.awaitAlarms(2);

            time.advance(TWO_SECONDS);

            assertThat(all.get())
                    .extracting(GroupResult::status)
                    .containsExactly(TaskStatus.REJECTED, TaskStatus.REJECTED);
        }
    }

    @Test
    void a_rejection_handler_is_called_after_a_queue_timeout_and_delays_neither_alarms_nor_tasks()
            throws InterruptedException {
        BlockingTask handling = new BlockingTask();
        RejectionHandler handler = new RejectionHandler() {
            @Override
            public <T> GroupResult<T> onRejected(String groupKey, String taskId, Callable<T> task) {
                try {
                    handling.call();
                } catch (InterruptedException interrupt) {
                    throw new AssertionError(interrupt);
                }
                return GroupResult.success(groupKey, taskId, null, 5, 7);
            }
        };
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(stepped()
                .timeSource(new RealAlarms(time))
                .queueTimeout(TWO_SECONDS)
                .rejectionHandler(handler)
                .build())) {
            executor.submit("a", "holder", () -> "");
            TaskHandle<String> waits = executor.submit("a", "waits", () -> "never");

            time.advance(TWO_SECONDS);

            handling.awaitBegun();
            assertThat(waits.isDone()).isFalse();
            assertThat(executor.stats().totalQueuedCount()).isZero();
            handling.release();
            assertThat(waits.await()).isEqualTo(GroupResult.success("a", "waits", null, 5, 7));
        }
    }

    @Test
    void under_caller_runs_a_task_that_times_out_is_rejected_because_its_caller_has_returned()
            throws InterruptedException {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(stepped()
                .queueTimeout(TWO_SECONDS)
                .rejectionPolicy(RejectionPolicy.CALLER_RUNS)
                .build())) {
            executor.submit("a", "holder", () -> ran.add("holder"));
            TaskHandle<Boolean> waits = executor.submit("a", "waits", () -> ran.add("waits"));

            time.advance(TWO_SECONDS);

            assertThatThrownBy(waits::await).isInstanceOf(RejectedTaskException.class);
            assertThat(ran).isEmpty();
        }
    }

    @Test
    void a_call_that_does_not_wait_runs_when_the_task_before_it_has_left_the_queue() throws Exception {
        List<Callable<?>> whenEmpty = new ArrayList<>();
        List<Object> called = new ArrayList<>();
        TimeSource hooked = new TimeSource() {
            @Override
            public long nanoTime() {
                return time.nanoTime();
            }

            @Override
            public Alarm after(Duration delay, Runnable action) {
                for (Callable<?> each : List.copyOf(whenEmpty)) {
                    whenEmpty.clear();
                    try {
                        called.add(each.call());
                    } catch (Exception failure) {
                        called.add(failure);
                    }
                }
                return time.after(delay, action);
            }
        };
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                TestTasks.stepped(steps).timeSource(hooked).globalMaxInFlight(1).build())) {
            executor.setWeight("gone", 1); // a group with changed limits is retained, so the alarm is for "a"
            executor.setWeight("c", 1);
            executor.submit("a", () -> ran.add("holder"));
            executor.submit("gone", () -> ran.add("cancelled")).cancel(false);
            whenEmpty.add(
                    () -> executor.tryCall("c", Duration.ZERO, () -> "called").orElse("nothing"));

            steps.runAll(); // all groups are empty, and the slot of the cap is free

            assertThat(called).containsExactly("called");
        }
    }
}
