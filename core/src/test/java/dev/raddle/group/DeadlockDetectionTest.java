package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.raddle.task.TaskSpec;
import dev.raddle.task.TaskStatus;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class DeadlockDetectionTest {

    private final VirtualTime time = new VirtualTime();
    private final Map<String, GroupResult<?>> ended = new ConcurrentHashMap<>();
    private final AtomicReference<TaskHandle<String>> inner = new AtomicReference<>();

    /** The ways to wait for a task without a timeout. */
    enum Untimed {
        AWAIT {
            @Override
            void forAnotherTask(GroupExecutor executor) throws InterruptedException {
                executor.submit("a", "one more", () -> "").await();
            }
        },
        JOIN {
            @Override
            void forAnotherTask(GroupExecutor executor) {
                executor.submit("a", "one more", () -> "").join();
            }
        },
        CALL {
            @Override
            void forAnotherTask(GroupExecutor executor) throws Exception {
                executor.call("a", () -> "");
            }
        },
        EXECUTE_ALL {
            @Override
            void forAnotherTask(GroupExecutor executor) {
                executor.executeAll(List.of(new GroupTask<>("a", "one more", () -> "")));
            }
        };

        abstract void forAnotherTask(GroupExecutor executor) throws Exception;
    }

    private GroupExecutor executor(int limit) {
        return executor(GroupPolicy.builder().defaultMaxConcurrencyPerGroup(limit));
    }

    private GroupExecutor executor(GroupPolicy.Builder builder) {
        TaskLifecycleListener remembers = new TaskLifecycleListener() {
            @Override
            public void onCompleted(String key, String id, GroupResult<?> result) {
                ended.put(id, result);
            }
        };
        return GroupExecutor.newVirtualThreadExecutor(builder.closeTimeout(Duration.ZERO)
                .timeSource(time)
                .taskLifecycleListener(remembers)
                .build());
    }

    /** Waits until a thread waits for a task without a timeout. */
    private static void awaitWaitFor(String id, GroupExecutor executor) {
        Wait.until(() -> executor.engine.awaitedRuns.values().stream()
                .anyMatch(run -> run.name().equals(id)));
    }

    private static void assertIdle(GroupExecutor executor) {
        assertThat(executor.stats().totalActiveCount()).isZero();
        assertThat(executor.stats().totalQueuedCount()).isZero();
        assertThat(executor.engine.awaitedRuns).isEmpty();
    }

    private static void assertDeadlock(GroupResult<?> result, String inWords) {
        assertThat(result.status()).isEqualTo(TaskStatus.FAILED);
        assertThat(result.error()).isInstanceOf(IllegalStateException.class).hasMessageContaining(inWords);
    }

    @Test
    void a_task_that_awaits_one_behind_it_in_its_full_group_gets_an_exception() throws Exception {
        try (GroupExecutor executor = executor(1)) {
            TaskHandle<String> outer = executor.submit("a", "outer", () -> {
                inner.set(executor.submit("a", "inner", () -> "its turn"));
                return inner.get().await().value();
            });

            assertDeadlock(
                    outer.await(),
                    "task \"inner\" in group \"a\" would never begin: 1 of 1 running, and each of these waits for"
                            + " another task of the group; raise the limit, use another group, or do not wait");
            assertThat(inner.get().await().value())
                    .as("the awaited task is not cancelled")
                    .isEqualTo("its turn");
            assertIdle(executor);
        }
    }

    @ParameterizedTest
    @EnumSource
    void every_untimed_wait_is_refused_and_leaves_no_record(Untimed wait) throws Exception {
        try (GroupExecutor executor = executor(1)) {
            TaskHandle<String> outer = executor.submit("a", "outer", () -> {
                wait.forAnotherTask(executor);
                return "it came back";
            });

            assertDeadlock(outer.await(), "would never begin");
            assertThat(executor.awaitIdle("a", Duration.ofDays(1))).isTrue();
            assertIdle(executor);
        }
    }

    @Test
    void the_tasks_of_execute_all_are_cancelled_when_it_is_refused() throws Exception {
        BlockingTask blocker = new BlockingTask();
        try (GroupExecutor executor = executor(1)) {
            List<GroupTask<String>> tasks = List.of(
                    new GroupTask<>("b", "done", () -> blocker.awaitBegun().toString()),
                    new GroupTask<>("a", "hopeless", () -> "never"),
                    new GroupTask<>("c", "runs", blocker),
                    new GroupTask<>("c", "waits", () -> "never"));

            GroupResult<?> outer = executor.submit("a", "outer", () -> executor.executeAll(tasks))
                    .await();

            assertDeadlock(outer, "task \"hopeless\" in group \"a\" would never begin");
            assertThat(ended.get("done").status()).isEqualTo(TaskStatus.SUCCESS);
            for (String id : List.of("hopeless", "runs", "waits")) {
                assertThat(ended.get(id).status()).as(id).isEqualTo(TaskStatus.CANCELLED);
                assertThat(ended.get(id).error()).as(id).isSameAs(outer.error());
            }
            blocker.awaitInterrupt();
            assertThat(executor.awaitIdle("c", Duration.ofDays(1))).isTrue();
            assertIdle(executor);
        }
    }

    @Test
    void of_two_tasks_that_both_wait_the_second_is_refused_and_the_first_gets_its_result() throws Exception {
        try (GroupExecutor executor = executor(2)) {
            CountDownLatch bothRun = new CountDownLatch(2);
            TaskHandle<String> first = executor.submit("a", "first", () -> {
                bothRun.countDown();
                bothRun.await();
                return executor.submit("a", "of first", () -> "value").await().value();
            });
            TaskHandle<String> second = executor.submit("a", "second", () -> {
                bothRun.countDown();
                awaitWaitFor("of first", executor);
                return executor.submit("a", "of second", () -> "value").await().value();
            });

            assertDeadlock(second.await(), "2 of 2 running");
            assertThat(first.await().value()).isEqualTo("value");
            assertThat(executor.awaitIdle("a", Duration.ofDays(1))).isTrue();
            assertIdle(executor);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void a_wait_for_one_behind_a_wide_task_or_for_the_wide_task_itself_is_refused(boolean itself) throws Exception {
        try (GroupExecutor executor = executor(2)) {
            List<TaskHandle<String>> behind = new CopyOnWriteArrayList<>();
            TaskHandle<String> outer = executor.submit("a", "outer", () -> {
                behind.add(executor.submit(
                        "a", TaskSpec.named("wide", () -> "wide").cost(2)));
                behind.add(executor.submit("a", "narrow", () -> "narrow"));
                return behind.get(itself ? 0 : 1).await().value();
            });

            assertDeadlock(outer.await(), "1 of 2 running");
            assertThat(behind.get(0).await().value()).isEqualTo("wide");
            assertThat(behind.get(1).await().value()).isEqualTo("narrow");
            assertIdle(executor);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {64, 65, 200})
    void in_a_group_of_many_slots_a_wait_that_could_never_end_is_refused_and_the_others_go_on(int slots)
            throws Exception {
        CountDownLatch allRun = new CountDownLatch(slots);
        List<TaskHandle<String>> outers = new ArrayList<>();
        try (GroupExecutor executor = executor(slots)) {
            for (int i = 0; i < slots; i++) {
                outers.add(executor.submit("a", "outer", () -> {
                    allRun.countDown();
                    allRun.await();
                    return executor.submit("a", "inner", () -> "its turn")
                            .await()
                            .value();
                }));
            }
            int refused = 0;
            for (TaskHandle<String> outer : outers) {
                GroupResult<String> result = outer.await();
                if (result.status() == TaskStatus.FAILED) {
                    assertDeadlock(result, slots + " of " + slots + " running");
                    refused++;
                }
            }

            assertThat(refused).isBetween(1, slots - 1);
            assertThat(executor.awaitIdle("a", Duration.ofDays(1))).isTrue();
            assertIdle(executor);
        }
    }

    @Test
    void a_wait_of_a_task_that_another_task_awaits_is_refused() throws Exception {
        try (GroupExecutor executor = executor(2)) {
            TaskHandle<TaskStatus> outer = executor.submit("a", "outer", () -> {
                TaskHandle<List<GroupResult<String>>> running = executor.submit("a", "middle", () -> {
                    awaitWaitFor("middle", executor);
                    return executor.executeAll(List.of(new GroupTask<>("a", "innermost", () -> "never")));
                });
                return running.await().status();
            });

            assertThat(outer.await().value()).isEqualTo(TaskStatus.FAILED);
            assertDeadlock(ended.get("middle"), "task \"innermost\" in group \"a\" would never begin: 2 of 2 running");
            assertThat(ended.get("innermost").status()).isEqualTo(TaskStatus.CANCELLED);
            assertIdle(executor);
        }
    }

    @Test
    void a_wait_for_a_task_that_waits_itself_is_refused() throws Exception {
        try (GroupExecutor executor = executor(2)) {
            TaskHandle<String> outer = executor.submit("a", "outer", () -> {
                inner.set(executor.submit(
                        "a",
                        "middle",
                        () -> executor.submit("a", "innermost", () -> "value")
                                .await()
                                .value()));
                awaitWaitFor("innermost", executor);
                return inner.get().await().value();
            });

            assertDeadlock(outer.await(), "task \"middle\" in group \"a\" would never end: 2 of 2 running");
            assertThat(inner.get().await().value()).isEqualTo("value");
            assertIdle(executor);
        }
    }

    @Test
    void a_wait_of_a_task_for_itself_is_refused() throws Exception {
        CountDownLatch submitted = new CountDownLatch(1);
        try (GroupExecutor executor = executor(1)) {
            inner.set(executor.submit("a", "self", () -> {
                submitted.await();
                return inner.get().await().value();
            }));
            submitted.countDown();

            assertDeadlock(inner.get().await(), "task \"self\" in group \"a\" would never end: 1 of 1 running");
            assertIdle(executor);
        }
    }

    @Test
    void nested_calls_are_refused_when_they_themselves_have_taken_every_slot() throws Exception {
        try (GroupExecutor executor = executor(2)) {
            assertThat(executor.call("a", () -> executor.call("a", () -> "two slots for two")))
                    .isEqualTo("two slots for two");
            assertThatIllegalStateException()
                    .isThrownBy(() -> executor.call(
                            "a", () -> executor.call("a", () -> executor.call("a", () -> "no slot for the third"))))
                    .withMessageContaining("2 of 2 running");
            assertIdle(executor);

            executor.setMaxConcurrency("a", 3);
            assertThat(executor.call("a", () -> executor.call("a", () -> executor.call("a", () -> "three for three"))))
                    .isEqualTo("three for three");
            assertIdle(executor);
        }
    }

    @Test
    void waits_with_a_timeout_are_not_refused() throws Exception {
        try (GroupExecutor executor = executor(1)) {
            TaskHandle<List<GroupResult<String>>> outer = executor.submit("a", "outer", () -> {
                inner.set(executor.submit("a", "inner", () -> "value"));
                return List.of(
                        inner.get().await(1, TimeUnit.SECONDS), inner.get().join(1, TimeUnit.SECONDS));
            });

            time.awaitAlarms(1);
            time.advance(Duration.ofSeconds(1));
            time.awaitAlarms(1);
            time.advance(Duration.ofSeconds(1));

            assertThat(outer.await().value()).hasSize(2).allSatisfy(late -> {
                assertThat(late.status()).isEqualTo(TaskStatus.CANCELLED);
                assertThat(late.error()).isInstanceOf(TimeoutException.class);
            });
            assertThat(inner.get().await().value()).isEqualTo("value");
            assertIdle(executor);
        }
    }

    @Test
    void a_wait_from_outside_the_group_is_not_refused_although_all_its_tasks_wait() throws Exception {
        CountDownLatch paused = new CountDownLatch(1);
        try (GroupExecutor executor = executor(1)) {
            TaskHandle<String> outer = executor.submit("a", "outer", () -> {
                paused.await();
                inner.set(executor.submit("a", "inner", () -> "value"));
                return inner.get().await().value();
            });
            executor.pauseGroup("a");
            paused.countDown();
            awaitWaitFor("inner", executor);
            executor.resumeGroup("a");

            FutureTask<String> outside =
                    new FutureTask<>(() -> inner.get().await().value());
            Thread outsider = Thread.ofPlatform().daemon().start(outside);
            AtomicReference<Thread> other = new AtomicReference<>();
            TaskHandle<String> ofAnotherGroup = executor.submit("b", "other", () -> {
                other.set(Thread.currentThread());
                return inner.get().await().value();
            });
            Wait.until(() -> outsider.getState() == Thread.State.WAITING || outside.isDone());
            Wait.until(() -> ofAnotherGroup.isDone()
                    || (other.get() != null && other.get().getState() == Thread.State.WAITING));
            executor.setMaxConcurrency("a", 2);

            assertThat(outside.get()).isEqualTo("value");
            assertThat(ofAnotherGroup.await().value()).isEqualTo("value");
            assertThat(outer.await().value()).isEqualTo("value");
        }
    }

    @Test
    void a_wait_for_a_task_that_only_the_cap_delays_is_not_refused() throws Exception {
        BlockingTask blocker = new BlockingTask();
        try (GroupExecutor executor =
                executor(GroupPolicy.builder().defaultMaxConcurrencyPerGroup(2).globalMaxInFlight(2))) {
            executor.submit("b", "blocker", blocker);
            TaskHandle<String> outer = executor.submit(
                    "a",
                    "outer",
                    () -> executor.submit("a", "inner", () -> "value").await().value());
            awaitWaitFor("inner", executor);

            blocker.release();

            assertThat(outer.await().value()).isEqualTo("value");
        }
    }

    @Test
    void a_task_whose_wait_was_interrupted_does_not_count_as_one_that_waits() throws Exception {
        BlockingTask blocker = new BlockingTask();
        CountDownLatch bothRun = new CountDownLatch(2);
        CountDownLatch interrupted = new CountDownLatch(1);
        AtomicReference<Thread> waiter = new AtomicReference<>();
        try (GroupExecutor executor = executor(2)) {
            TaskHandle<String> first = executor.submit("a", "first", () -> {
                waiter.set(Thread.currentThread());
                bothRun.countDown();
                bothRun.await();
                try {
                    return executor.submit("a", "of first", () -> "").await().value();
                } catch (InterruptedException interrupt) {
                    return blocker.call();
                }
            });
            TaskHandle<String> second = executor.submit("a", "second", () -> {
                bothRun.countDown();
                interrupted.await();
                return executor.submit("a", "of second", () -> "its turn")
                        .await()
                        .value();
            });
            awaitWaitFor("of first", executor);
            waiter.get().interrupt();
            blocker.awaitBegun();
            interrupted.countDown();
            awaitWaitFor("of second", executor);

            blocker.release();

            assertThat(second.await().value()).isEqualTo("its turn");
            assertThat(first.await().value()).isEqualTo("value");
            assertIdle(executor);
        }
    }
}
