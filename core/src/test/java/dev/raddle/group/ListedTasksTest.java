package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.raddle.task.TaskListener;
import dev.raddle.task.TaskSpec;
import dev.raddle.task.TaskStatus;
import dev.raddle.task.WaitReason;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class ListedTasksTest {

    private final VirtualTime time = new VirtualTime();
    private final StepScheduler steps = new StepScheduler();

    private GroupPolicy.Builder policy() {
        return GroupPolicy.builder().defaultMaxConcurrencyPerGroup(2).timeSource(time);
    }

    private static List<String> names(List<TaskStats> tasks) {
        return tasks.stream().map(task -> task.handle().taskId()).toList();
    }

    @Test
    void tasks_that_hold_slots_come_first_and_then_the_waiting_ones_in_the_order_of_their_start() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                TestTasks.stepped(steps).defaultMaxConcurrencyPerGroup(2).build())) {
            for (int i = 0; i < 4; i++) {
                executor.submit("a", "t" + i, () -> "");
            }
            executor.submit("a", TaskSpec.named("urgent", () -> "").priority(9));
            executor.submit("b", "elsewhere", () -> "");

            List<TaskStats> tasks = executor.tasks("a", 10);

            assertThat(names(tasks)).containsExactly("t0", "t1", "urgent", "t2", "t3");
            assertThat(tasks).extracting(TaskStats::isWaiting).containsExactly(false, false, true, true, true);
            assertThat(tasks).extracting(TaskStats::thread).containsOnlyNulls();
            assertThat(names(executor.tasks("a", 3))).containsExactly("t0", "t1", "urgent");
            assertThat(names(executor.tasks("a", 1))).containsExactly("t0");
            steps.runAll();
            assertThat(executor.tasks("a", 10)).isEmpty();
            assertThat(executor.tasks("unknown", 10)).isEmpty();
        }
    }

    @Test
    void a_running_task_has_its_thread_and_both_have_the_time_since_their_last_step() throws InterruptedException {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy().defaultMaxConcurrencyPerGroup(1)
                .addListener(new TaskListener() {})
                .build())) {
            CountDownLatch end = new CountDownLatch(1);
            CountDownLatch begun = new CountDownLatch(1);
            TaskHandle<Thread> holder = executor.submit("a", "holder", () -> {
                begun.countDown();
                end.await();
                return Thread.currentThread();
            });
            begun.await();
            time.advance(Duration.ofSeconds(3));
            TaskHandle<String> waiter = executor.submit("a", "waiter", () -> "");
            time.advance(Duration.ofSeconds(2));

            List<TaskStats> tasks = executor.tasks("a", 10);

            assertThat(tasks)
                    .extracting(TaskStats::since)
                    .containsExactly(Duration.ofSeconds(5), Duration.ofSeconds(2));
            assertThat(executor.explain(tasks.get(1).handle()).waitingFor()).isEqualTo(WaitReason.GROUP_LIMIT);
            assertThat(tasks.get(1).handle().cancel(false)).isTrue();
            assertThat(waiter.await().status()).isEqualTo(TaskStatus.CANCELLED);
            end.countDown();
            assertThat(holder.await().value()).isSameAs(tasks.get(0).thread());
        }
    }

    @Test
    void without_a_listener_the_time_since_a_submission_is_unknown_and_that_since_a_start_is_known() throws Exception {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                policy().defaultMaxConcurrencyPerGroup(1).build())) {
            CountDownLatch end = new CountDownLatch(1);
            CountDownLatch begun = new CountDownLatch(1);
            executor.submit("a", "holder", () -> {
                begun.countDown();
                end.await();
                return "";
            });
            begun.await();
            executor.submit("a", "waiter", () -> "");
            time.advance(Duration.ofSeconds(2));

            assertThat(executor.tasks("a", 10))
                    .extracting(TaskStats::since)
                    .containsExactly(Duration.ofSeconds(2), null);
            end.countDown();
        }
    }

    @Test
    void a_cancelled_task_whose_callable_goes_on_still_holds_its_slot_and_has_no_thread() throws Exception {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy().build())) {
            CountDownLatch end = new CountDownLatch(1);
            CountDownLatch begun = new CountDownLatch(1);
            TaskHandle<String> deaf = executor.submit("a", "deaf", () -> {
                begun.countDown();
                Wait.uninterruptibly(end);
                return "";
            });
            begun.await();
            time.advance(Duration.ofSeconds(4));
            deaf.cancel(true);

            TaskStats held = executor.tasks("a", 10).get(0);

            assertThat(held.isWaiting()).isFalse();
            assertThat(held.thread()).isNull();
            assertThat(held.since()).isEqualTo(Duration.ofSeconds(4));
            end.countDown();
        }
    }

    @Test
    void at_least_one_task_is_asked_for() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy().build())) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> executor.tasks("a", 0))
                    .withMessage("max must be at least 1, was 0");
        }
    }
}
