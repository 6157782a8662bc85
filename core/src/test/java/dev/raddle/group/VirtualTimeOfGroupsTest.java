package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.Outcome;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import dev.raddle.task.TaskSpec;
import dev.raddle.task.TaskStatus;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** When {@code advance} returns, all alarms of a group and their effects have run, in the advancing thread. */
class VirtualTimeOfGroupsTest {

    private static final Duration LIMIT = Duration.ofSeconds(2);

    private final VirtualTime time = new VirtualTime();
    private final StepScheduler steps = new StepScheduler();
    private volatile @Nullable Thread advancing;
    private final List<String> notified = new CopyOnWriteArrayList<>();

    private final TaskListener listener = new TaskListener() {
        @Override
        public void onSettled(TaskIdentity task, Outcome<?> outcome, long ranNanos) {
            notified.add(task.name() + " " + outcome.status() + here());
        }
    };

    private String here() {
        return Thread.currentThread() == advancing ? "" : " in another thread";
    }

    private void advance() {
        advancing = Thread.currentThread();
        time.advance(LIMIT);
        advancing = null;
    }

    private GroupPolicy.Builder rules() {
        return TestTasks.stepped(steps).timeSource(time).addListener(listener);
    }

    @Test
    void a_queue_timeout_has_rejected_its_task_and_notified_the_listener() throws InterruptedException {
        RejectionHandler handler = new RejectionHandler() {
            @Override
            public <T> GroupResult<T> onRejected(String key, String id, Callable<T> task) {
                notified.add("handler" + here());
                return GroupResult.rejected(key, id);
            }
        };
        for (boolean handled : new boolean[] {false, true}) {
            GroupPolicy.Builder rules = rules().queueTimeout(LIMIT).rejectionPolicy(RejectionPolicy.DISCARD);
            try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                    (handled ? rules.rejectionHandler(handler) : rules).build())) {
                executor.submit("g", "holder", () -> "");
                TaskHandle<String> waits = executor.submit("g", "waits", () -> "never");

                advance();

                assertThat(waits.isDone()).isTrue();
                assertThat(waits.await().status()).isEqualTo(TaskStatus.REJECTED);
                steps.runAll();
            }
        }
        assertThat(notified)
                .filteredOn(event -> !event.startsWith("holder"))
                .containsExactly("waits REJECTED", "waits REJECTED", "handler");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void a_timeout_has_ended_waiting_and_granted_tasks_and_started_the_next(boolean reuseThreads)
            throws InterruptedException {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                rules().reuseThreads(reuseThreads).build())) {
            TaskHandle<String> granted =
                    executor.submit("g", TaskSpec.named("granted", () -> "").timeout(LIMIT));
            TaskHandle<String> waits =
                    executor.submit("g", TaskSpec.named("waits", () -> "").timeout(LIMIT));
            granted.toCompletableFuture().thenRun(() -> notified.add("dependant" + here()));

            advance();

            assertThat(granted.isDone()).isTrue();
            assertThat(waits.isDone()).isTrue();
            assertThat(notified).containsExactlyInAnyOrder("granted FAILED", "dependant", "waits FAILED");
            assertThat(executor.stats().totalQueuedCount()).isZero();
            steps.runAll();
            assertThat(executor.stats().totalActiveCount()).isZero();
        }
    }

    @Test
    void a_task_that_leaves_the_head_of_the_queue_has_placed_the_next_on_the_scheduler() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                rules().defaultMaxConcurrencyPerGroup(2).build())) {
            executor.submit("g", "holder", () -> "");
            executor.submit("g", TaskSpec.named("wide", () -> "").cost(2).timeout(LIMIT));
            executor.submit("g", "narrow", () -> "");
            assertThat(steps.size()).isEqualTo(1);

            time.advance(LIMIT);

            assertThat(steps.size()).isEqualTo(2);
            steps.runAll();
        }
    }

    @Test
    void a_retry_waits_on_virtual_time_in_a_thread_of_its_own() throws Exception {
        AtomicInteger attempts = new AtomicInteger();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(rules().build())) {
            TaskHandle<Integer> flaky = executor.submit(
                    "g",
                    TaskSpec.named("flaky", () -> {
                                if (attempts.incrementAndGet() < 3) {
                                    throw new IllegalStateException("attempt " + attempts);
                                }
                                return attempts.get();
                            })
                            .retry(RetryPolicy.fixedDelay(3, LIMIT)));

            Thread runner = steps.startNext().orElseThrow();
            time.awaitAlarms(1, Duration.ofMinutes(2));
            assertThat(attempts).hasValue(1);
            time.advance(LIMIT);
            time.awaitAlarms(1, Duration.ofMinutes(2));
            assertThat(attempts).hasValue(2);
            time.advance(LIMIT);
            runner.join();

            assertThat(flaky.await().value()).isEqualTo(3);
            assertThat(steps.startNext()).isEmpty();
        }
    }
}
