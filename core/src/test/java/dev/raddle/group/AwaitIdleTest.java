package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import dev.raddle.time.Deadline;
import dev.raddle.time.Signal;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Waiting until no task of an executor runs or waits. */
class AwaitIdleTest {

    private final VirtualTime time = new VirtualTime();
    private final StepScheduler steps = new StepScheduler();

    private GroupExecutor stepped() {
        return GroupExecutor.newVirtualThreadExecutor(
                TestTasks.stepped(steps).timeSource(time).build());
    }

    private static FutureTask<Boolean> idle(GroupExecutor executor) {
        FutureTask<Boolean> idle = new FutureTask<>(() -> executor.awaitIdle(Duration.ofDays(1)));
        Thread.ofPlatform().daemon().start(idle);
        return idle;
    }

    @Test
    void an_executor_without_tasks_is_idle_at_once() throws Exception {
        try (GroupExecutor executor = stepped()) {
            assertThat(executor.awaitIdle(Duration.ZERO)).isTrue();
            executor.submit("a", () -> "x");
            steps.runAll();
            assertThat(executor.awaitIdle(Duration.ZERO)).isTrue();
        }
    }

    @Test
    void an_executor_with_a_running_or_waiting_task_is_not_idle() throws Exception {
        try (GroupExecutor executor = stepped()) {
            executor.pauseGroup("a");
            executor.submit("a", () -> "waits");
            assertThat(executor.awaitIdle(Duration.ZERO)).isFalse();
            executor.resumeGroup("a");
            assertThat(executor.awaitIdle(Duration.ofSeconds(-1))).isFalse();
            steps.runAll();
            assertThat(executor.awaitIdle(Duration.ZERO)).isTrue();
        }
    }

    @Test
    void the_wait_ends_with_the_last_task_of_the_last_group() throws Exception {
        try (GroupExecutor executor = stepped()) {
            TaskHandle<String> a = executor.submit("a", () -> "a");
            TaskHandle<String> b = executor.submit("b", () -> "b");
            FutureTask<Boolean> idle = idle(executor);
            steps.runNext();
            assertThat(a.isDone() && b.isDone()).isFalse();

            steps.runNext();

            assertThat(idle.get()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 60})
    void a_chain_of_tasks_that_moves_from_group_to_group_is_never_idle(int ttlSeconds) throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        CountDownLatch end = new CountDownLatch(1);
        AtomicReference<GroupExecutor> self = new AtomicReference<>();
        GroupPolicy policy = GroupPolicy.builder()
                .idleGroupTtl(Duration.ofSeconds(ttlSeconds))
                .build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            self.set(executor);
            executor.submit("hop-0", "0", () -> hop(executor, 0, over, end));

            boolean idle = executor.awaitIdle(Duration.ofDays(1));

            assertThat(idle).isTrue();
            assertThat(over).as("the chain of tasks has ended").isTrue();
            assertThat(end.getCount()).isZero();
        }
    }

    /** At each moment at least one task of the chain is accepted: a task submits the next one before it ends. */
    private static String hop(GroupExecutor executor, int number, AtomicBoolean over, CountDownLatch end) {
        if (number == 2_000) {
            over.set(true);
            end.countDown();
        } else {
            executor.submit("hop-" + number % 5, "" + number, () -> hop(executor, number + 1, over, end));
        }
        return "hopped";
    }

    @Test
    void an_interrupt_ends_the_wait_but_no_task() throws Exception {
        BlockingTask blocker = new BlockingTask();
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder().build())) {
            TaskHandle<String> handle = executor.submit("a", "t", blocker);
            Thread.currentThread().interrupt();

            assertThatThrownBy(() -> executor.awaitIdle(Duration.ofDays(1))).isInstanceOf(InterruptedException.class);

            blocker.release();
            assertThat(handle.await().value()).isEqualTo("value");
        }
    }

    @Test
    void a_wait_ends_at_its_deadline_although_groups_come_and_go() throws Exception {
        Deadline deadline = Deadline.after(time, Duration.ofSeconds(2));
        Signal changed = new Signal(); // each check finds that a group was created meanwhile
        changed.set();
        AtomicInteger checks = new AtomicInteger();

        boolean idle = GroupMonitor.awaitIdle(deadline, () -> {
            assertThat(checks.incrementAndGet()).isLessThan(10);
            time.advance(Duration.ofSeconds(1));
            return changed;
        });

        assertThat(idle).isFalse();
        assertThat(checks).hasValue(3);
    }
}
