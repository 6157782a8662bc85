package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.TaskSpec;
import dev.raddle.task.TaskStatus;
import dev.raddle.testing.StepScheduler;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ManyWaitingTasksTest {

    private static final int MANY = 200_000;

    private final StepScheduler steps = new StepScheduler();

    @ParameterizedTest
    @ValueSource(ints = {1, 7})
    void waiting_tasks_that_are_cancelled_in_random_order_leave_an_empty_queue(int priorities)
            throws InterruptedException {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(TestTasks.stepped(steps)
                .globalMaxInFlight(1)
                .globalQueueThreshold(MANY)
                .build())) {
            AtomicInteger ran = new AtomicInteger();
            executor.submit("a", "holder", () -> "");
            List<TaskHandle<Integer>> waiting = new ArrayList<>(MANY);
            for (int i = 0; i < MANY; i++) {
                waiting.add(
                        priorities == 1
                                ? executor.submit("a", "t", ran::incrementAndGet)
                                : executor.submit(
                                        "a",
                                        TaskSpec.named("t", ran::incrementAndGet)
                                                .priority(i % priorities)));
            }
            assertThat(executor.stats().totalQueuedCount()).isEqualTo(MANY);
            assertThat(executor.submit("a", "rejected", () -> "").isDone()).isTrue();

            Collections.shuffle(waiting, new Random(42));
            int cancelled = 0;
            for (TaskHandle<Integer> handle : waiting) {
                cancelled += handle.cancel(false) ? 1 : 0;
            }

            assertThat(cancelled).isEqualTo(MANY);
            assertThat(executor.stats().totalQueuedCount()).isZero();
            assertThat(waiting).allMatch(TaskHandle::isDone);
            TaskHandle<String> next = executor.submit("a", "next", () -> "value");
            steps.runAll();
            assertThat(next.await().value()).isEqualTo("value");
            assertThat(ran).hasValue(0);
        }
    }

    @Test
    void the_remaining_tasks_start_in_the_order_of_their_submission() throws InterruptedException {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(TestTasks.stepped(steps).build())) {
            List<Integer> ran = new ArrayList<>();
            List<TaskHandle<Boolean>> waiting = new ArrayList<>();
            for (int i = 0; i < MANY; i++) {
                int number = i;
                waiting.add(executor.submit("a", "t", () -> ran.add(number)));
            }
            List<Integer> left = new ArrayList<>();
            Random random = new Random(42);
            for (int i = 0; i < MANY; i++) {
                if (random.nextInt(10) == 0) {
                    left.add(i);
                } else {
                    waiting.get(i).cancel(true);
                }
            }

            steps.runAll();

            assertThat(ran).isEqualTo(left);
            for (int number : left) {
                assertThat(waiting.get(number).await().status()).isEqualTo(TaskStatus.SUCCESS);
            }
            assertThat(executor.stats().totalActiveCount()).isZero();
        }
    }
}
