package dev.raddle.scope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.RejectedTaskException;
import dev.raddle.group.TaskHandle;
import dev.raddle.task.CancelledException;
import dev.raddle.task.Task;
import dev.raddle.task.TaskTimeoutException;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class GroupAsSchedulerTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final VirtualTime time = new VirtualTime();

    private GroupExecutor executor(int concurrency) {
        return GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(concurrency)
                .timeSource(time)
                .idleGroupTtl(Duration.ZERO)
                .build());
    }

    @Test
    void the_tasks_of_scopes_obey_the_limits_of_the_group_they_run_in() throws Exception {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger peak = new AtomicInteger();
        try (GroupExecutor executor = executor(2);
                ThreadScope one = ThreadScope.open().withScheduler(executor.scheduler("g"));
                ThreadScope two = ThreadScope.open().withScheduler(executor.scheduler("g"))) {
            List<Task<Integer>> ones = new ArrayList<>();
            List<Task<Integer>> twos = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                for (ThreadScope scope : List.of(one, two)) {
                    (scope == one ? ones : twos).add(scope.submit(() -> {
                        peak.accumulateAndGet(inside.incrementAndGet(), Math::max);
                        Thread.yield();
                        return inside.decrementAndGet();
                    }));
                }
            }
            assertThat(one.awaitAll(ones)).hasSize(200);
            assertThat(two.awaitAll(twos)).hasSize(200);
            Wait.until(() -> executor.stats().totalActiveCount() == 0);
        }
        assertThat(peak.get()).isBetween(1, 2);
    }

    @Test
    void cancelling_a_scope_takes_its_waiting_tasks_out_of_the_groups_queue_at_once() throws Exception {
        BlockingTask holder = new BlockingTask();
        try (GroupExecutor executor = executor(1)) {
            TaskHandle<String> holds = executor.submit("g", "holder", holder);
            holder.awaitBegun();
            try (ThreadScope scope = ThreadScope.open("s").withScheduler(executor.scheduler("g"))) {
                List<Task<String>> tasks = new ArrayList<>();
                for (int i = 0; i < 5; i++) {
                    tasks.add(scope.submit(() -> "never"));
                }
                assertThat(executor.stats().totalQueuedCount()).isEqualTo(5);
                assertThat(tasks.getFirst().cancel()).isTrue();
                assertThat(executor.stats().totalQueuedCount()).isEqualTo(4);

                scope.cancel("enough");

                assertThat(executor.stats().totalQueuedCount()).isZero();
                assertThat(tasks).allMatch(Task::isCancelled);
                assertThatThrownBy(tasks.getLast()::await).isInstanceOf(CancelledException.class);
            } // closes although the holder still runs
            assertThat(holds.isDone()).isFalse();
            holder.release();
            assertThat(holds.await().value()).isEqualTo("value");
            assertThat(executor.stats().totalActiveCount()).isZero();
        }
    }

    @Test
    void cancelling_a_scope_interrupts_its_task_that_runs_in_the_group_and_frees_the_groups_slot() throws Exception {
        BlockingTask blocker = new BlockingTask();
        try (GroupExecutor executor = executor(1)) {
            try (ThreadScope scope = ThreadScope.open().withScheduler(executor.scheduler("g"))) {
                scope.submit(blocker::call);
                blocker.awaitBegun();
            }
            assertThat(blocker.interrupts()).isEqualTo(1);
            assertThat(executor.submit("g", "next", () -> "value").await().value())
                    .isEqualTo("value");
        }
    }

    @Test
    void a_timeout_or_a_deadline_takes_a_task_out_of_the_groups_queue() throws Exception {
        BlockingTask holder = new BlockingTask();
        try (GroupExecutor executor = executor(1)) {
            executor.submit("g", "holder", holder);
            holder.awaitBegun();
            try (ThreadScope scope = ThreadScope.open()
                    .withTimeSource(time)
                    .withDeadline(SECOND.multipliedBy(2))
                    .withScheduler(executor.scheduler("g"))) {
                Task<String> timed = scope.submit("timed", () -> "never", SECOND);
                Task<String> untimed = scope.submit(() -> "never");
                time.advance(SECOND);
                assertThatThrownBy(timed::await).isInstanceOf(TaskTimeoutException.class);
                Wait.until(() -> executor.stats().totalQueuedCount() == 1);
                time.advance(SECOND);
                assertThatThrownBy(untimed::await).isInstanceOf(ScopeTimeoutException.class);
                Wait.until(() -> executor.stats().totalQueuedCount() == 0);
            }
            holder.release();
        }
        assertThat(time.alarms()).isZero();
    }

    @Test
    void a_task_that_the_group_rejects_has_failed() throws Exception {
        BlockingTask holder = new BlockingTask();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                GroupPolicy.builder().defaultQueueThresholdPerGroup(1).build())) {
            executor.submit("g", "holder", holder);
            holder.awaitBegun();
            try (ThreadScope scope = ThreadScope.open().withScheduler(executor.scheduler("g"))) {
                Task<String> waits = scope.submit(() -> "never");
                Task<String> full = scope.submit(() -> "never");
                assertThatThrownBy(full::await).isInstanceOf(RejectedTaskException.class);
                assertThat(waits.state()).isEqualTo(Task.State.PENDING);
                executor.evictGroup("g");
                assertThatThrownBy(waits::await).isInstanceOf(RejectedTaskException.class);
                assertThat(scope.metrics().failedBeforeStart()).isEqualTo(2);
            }
            holder.release();
        }
    }

    @Test
    void a_race_of_a_cancel_and_the_groups_grant_loses_no_slot() throws Exception {
        try (GroupExecutor executor = executor(1)) {
            AtomicInteger called = new AtomicInteger();
            long cancelled = 0;
            for (int i = 0; i < 3_000; i++) {
                try (ThreadScope scope = ThreadScope.open().withScheduler(executor.scheduler("g"))) {
                    scope.submit(called::incrementAndGet);
                    Task<Integer> waits = scope.submit(called::incrementAndGet);
                    cancelled += waits.cancel() ? 1 : 0;
                    scope.submit(called::incrementAndGet).await();
                }
            }
            assertThat(called.get()).isBetween(3_000, 9_000);
            assertThat(cancelled).isBetween(0L, 3_000L);
            assertThat(executor.submit("g", "last", () -> "value").await().value())
                    .isEqualTo("value");
        }
    }
}
