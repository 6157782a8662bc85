package dev.raddle.group;

import static dev.raddle.task.WaitReason.GLOBAL_CAP;
import static dev.raddle.task.WaitReason.GROUP_LIMIT;
import static dev.raddle.task.WaitReason.NOTHING;
import static dev.raddle.task.WaitReason.PAUSED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import dev.raddle.task.TaskSpec;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class PauseAndExplainTest {

    private final VirtualTime time = new VirtualTime();
    private final StepScheduler steps = new StepScheduler();
    private final List<String> ran = new ArrayList<>();

    private GroupPolicy.Builder stepped() {
        return TestTasks.stepped(steps).timeSource(time);
    }

    private TaskHandle<Boolean> submit(GroupExecutor executor, String key, String id) {
        return executor.submit(key, id, () -> ran.add(id));
    }

    // Pausing.

    @Test
    void while_a_group_is_paused_none_of_its_tasks_starts_and_running_ones_go_on() throws InterruptedException {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                stepped().defaultMaxConcurrencyPerGroup(2).build())) {
            TaskHandle<Boolean> runs = submit(executor, "a", "runs");

            executor.pauseGroup("a");
            executor.pauseGroup("a");
            submit(executor, "a", "waits");
            submit(executor, "b", "elsewhere");
            steps.runAll();

            assertThat(runs.await().value()).isTrue();
            assertThat(ran).containsExactly("runs", "elsewhere");
            assertThat(executor.groupStats("a")).contains(paused("a", 0, 1, 2));
        }
    }

    @Test
    void a_resumed_group_starts_as_many_tasks_at_once_as_its_limit_allows() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                stepped().defaultMaxConcurrencyPerGroup(3).build())) {
            submit(executor, "a", "holder");
            executor.pauseGroup("a");
            for (int i = 0; i < 5; i++) {
                submit(executor, "a", "t" + i);
            }

            executor.resumeGroup("a");

            assertThat(executor.groupStats("a")).contains(new GroupStats("a", 3, 3, 3, Integer.MAX_VALUE));
            assertThat(steps.size()).isEqualTo(3);
            executor.resumeGroup("a");
            assertThat(steps.size()).isEqualTo(3);
            steps.runAll();
            assertThat(ran).containsExactly("holder", "t0", "t1", "t2", "t3", "t4");
        }
    }

    @Test
    void a_group_may_be_paused_before_it_has_a_task_and_a_paused_group_is_not_idle() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                stepped().idleGroupTtl(Duration.ofSeconds(1)).build())) {
            executor.pauseGroup("a");
            time.advance(Duration.ofDays(1));
            submit(executor, "a", "waits");

            assertThat(steps.size()).isZero();
            assertThat(executor.activeGroupKeys()).containsExactly("a");
            executor.resumeGroup("a");
            steps.runAll();
            assertThat(ran).containsExactly("waits");

            time.advance(Duration.ofSeconds(2));
            assertThat(executor.activeGroupKeys()).isEmpty();
        }
    }

    @Test
    void a_paused_group_is_known_with_its_limits_even_after_it_is_resumed_without_a_task() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                stepped().defaultMaxConcurrencyPerGroup(4).build())) {
            executor.pauseGroup("a");
            assertThat(executor.groupStats("a")).contains(paused("a", 0, 0, 4));

            executor.resumeGroup("a");
            assertThat(executor.groupStats("a")).contains(new GroupStats("a", 0, 0, 4, Integer.MAX_VALUE));
            submit(executor, "a", "t1");

            assertThat(steps.size()).isEqualTo(1);
        }
    }

    @Test
    void a_paused_group_does_not_compete_for_the_cap_until_it_is_resumed() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                stepped().globalMaxInFlight(1).build())) {
            submit(executor, "holder", "holder");
            submit(executor, "a", "paused");
            submit(executor, "b", "other");

            executor.pauseGroup("a");
            steps.runAll();
            assertThat(ran).containsExactly("holder", "other");

            executor.resumeGroup("a");
            steps.runAll();
            assertThat(ran).containsExactly("holder", "other", "paused");
        }
    }

    @Test
    void a_slot_that_the_cap_reserved_for_a_paused_group_is_granted_to_others_at_once() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                stepped().defaultMaxConcurrencyPerGroup(2).globalMaxInFlight(2).build())) {
            submit(executor, "holder", "holder");
            executor.submit("a", TaskSpec.named("wide", () -> ran.add("wide")).cost(2));
            submit(executor, "b", "other");
            assertThat(steps.size()).isEqualTo(1);

            executor.pauseGroup("a");

            assertThat(steps.size()).isEqualTo(2);
        }
    }

    @Test
    void tasks_of_a_paused_group_take_places_in_its_queue() throws InterruptedException {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                stepped().defaultQueueThresholdPerGroup(1).build())) {
            executor.pauseGroup("a");
            TaskHandle<Boolean> waits = submit(executor, "a", "waits");

            assertThat(submit(executor, "a", "rejected").isDone()).isTrue();
            assertThat(waits.cancel(true)).isTrue();
            assertThat(executor.awaitIdle("a", Duration.ZERO)).isTrue();
        }
    }

    @Test
    void resuming_an_unknown_group_has_no_effect_and_a_null_key_throws() {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(stepped().build())) {
            executor.resumeGroup("unknown");

            assertThat(executor.activeGroupKeys()).isEmpty();
            assertThatNullPointerException().isThrownBy(() -> executor.resumeGroup(null));
            assertThatNullPointerException().isThrownBy(() -> executor.pauseGroup(null));
        }
    }

    @Test
    void await_idle_ends_with_the_last_task_of_the_group_or_at_the_deadline() throws Exception {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(stepped().build())) {
            assertThat(executor.awaitIdle("unknown", Duration.ZERO)).isTrue();
            submit(executor, "a", "t1");
            assertThat(executor.awaitIdle("a", Duration.ZERO)).isFalse();
            FutureTask<Boolean> impatient = new FutureTask<>(() -> executor.awaitIdle("a", Duration.ofSeconds(1)));
            FutureTask<Boolean> patient = new FutureTask<>(() -> executor.awaitIdle("a", Duration.ofDays(1)));
            Thread.ofPlatform().start(impatient);
            Thread.ofPlatform().start(patient);
            time.awaitAlarms(2);

            time.advance(Duration.ofSeconds(1));
            assertThat(impatient.get()).isFalse();
            steps.runAll();

            assertThat(patient.get()).isTrue();
        }
    }

    // Explaining.

    @Test
    void a_task_waits_for_its_group_behind_those_before_it() throws InterruptedException {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(stepped().build())) {
            TaskHandle<Boolean> runs = submit(executor, "a", "runs");
            TaskHandle<Boolean> first = submit(executor, "a", "first");
            TaskHandle<Boolean> second = submit(executor, "a", "second");
            TaskHandle<Boolean> urgent =
                    executor.submit("a", TaskSpec.named("urgent", () -> true).priority(1));

            assertThat(executor.explain(runs)).isEqualTo(new Explanation(NOTHING, 0, 0));
            assertThat(executor.explain(urgent)).isEqualTo(new Explanation(GROUP_LIMIT, 0, 0));
            assertThat(executor.explain(first)).isEqualTo(new Explanation(GROUP_LIMIT, 1, 0));
            assertThat(executor.explain(second)).isEqualTo(new Explanation(GROUP_LIMIT, 2, 0));

            first.cancel(false);
            assertThat(executor.explain(first)).isEqualTo(new Explanation(NOTHING, 0, 0));
            assertThat(executor.explain(second)).isEqualTo(new Explanation(GROUP_LIMIT, 1, 0));
            steps.runAll();
            assertThat(executor.explain(second)).isEqualTo(new Explanation(NOTHING, 0, 0));
        }
    }

    @Test
    void a_task_whose_group_has_a_free_slot_waits_for_the_cap_in_the_rank_of_its_group() throws InterruptedException {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(stepped()
                .defaultMaxConcurrencyPerGroup(2)
                .weightResolver(key -> key.equals("heavy") ? 1_000 : 1)
                .globalMaxInFlight(1)
                .build())) {
            submit(executor, "x", "holder");
            TaskHandle<Boolean> a1 = submit(executor, "a", "a1");
            TaskHandle<Boolean> a2 = submit(executor, "a", "a2");
            TaskHandle<Boolean> a3 = submit(executor, "a", "a3");
            TaskHandle<Boolean> b1 = submit(executor, "b", "b1");

            assertThat(executor.explain(a1)).isEqualTo(new Explanation(GLOBAL_CAP, 0, 0));
            assertThat(executor.explain(a2)).isEqualTo(new Explanation(GLOBAL_CAP, 1, 0));
            assertThat(executor.explain(a3))
                    .as("two of its group go before it, and no more may run")
                    .isEqualTo(new Explanation(GROUP_LIMIT, 2, 0));

            steps.runNext(); // ends the holder and grants a1, or b1
            TaskHandle<Boolean> granted = executor.explain(a1).waitingFor() == NOTHING ? a1 : b1;
            TaskHandle<Boolean> next = granted == a1 ? b1 : a1;
            assertThat(executor.explain(granted)).isEqualTo(new Explanation(NOTHING, 0, 0));
            assertThat(executor.explain(next)).isEqualTo(new Explanation(GLOBAL_CAP, 0, 0));
            TaskHandle<Boolean> behind = granted == a1 ? a2 : submit(executor, "b", "b2");
            assertThat(executor.explain(behind))
                    .as("its group has just had a turn, so the other goes first")
                    .isEqualTo(new Explanation(GLOBAL_CAP, 0, 1));
            steps.runAll();
            assertThat(a3.await().value()).isTrue();
        }
    }

    @Test
    void a_task_of_a_paused_group_waits_only_for_the_end_of_the_pause() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                stepped().globalMaxInFlight(1).build())) {
            submit(executor, "x", "holder");
            executor.pauseGroup("a");
            TaskHandle<Boolean> first = submit(executor, "a", "first");
            TaskHandle<Boolean> second = submit(executor, "a", "second");

            assertThat(executor.explain(first)).isEqualTo(new Explanation(PAUSED, 0, 0));
            assertThat(executor.explain(second)).isEqualTo(new Explanation(PAUSED, 1, 0));

            executor.resumeGroup("a");
            assertThat(executor.explain(first).waitingFor()).isEqualTo(GLOBAL_CAP);
        }
    }

    @Test
    void a_task_whose_limits_are_being_looked_up_waits_for_its_group() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch answer = new CountDownLatch(1);
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(stepped()
                .concurrencyResolver(key -> {
                    asked.countDown();
                    Wait.uninterrupted(answer);
                    return 1;
                })
                .build())) {
            FutureTask<TaskHandle<Boolean>> submitter = new FutureTask<>(() -> submit(executor, "a", "t1"));
            Thread.ofPlatform().start(submitter);
            asked.await();
            TaskHandle<Boolean> waits = submit(executor, "a", "t2");

            assertThat(executor.explain(waits)).isEqualTo(new Explanation(GROUP_LIMIT, 1, 0));
            assertThat(waits.await(0, TimeUnit.SECONDS).error()).isNotNull();

            answer.countDown();
            submitter.get();
            steps.runAll();
            assertThat(waits.await().value()).isTrue();
        }
    }

    @Test
    void a_waiting_task_is_explained_by_its_key_and_id_without_its_handle() {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(stepped().build())) {
            assertThat(executor.explain("a", "runs")).isEmpty();
            submit(executor, "a", "runs");
            assertThat(executor.explainNext("a")).isEmpty();
            submit(executor, "a", "first");
            submit(executor, "a", "twice");
            submit(executor, "a", "twice");

            assertThat(executor.explain("a", "runs")).isEmpty();
            assertThat(executor.explain("a", "twice")).contains(new Explanation(GROUP_LIMIT, 1, 0));
            assertThat(executor.explainNext("a")).contains(new Explanation(GROUP_LIMIT, 0, 0));
            executor.submit("a", TaskSpec.named("urgent", () -> true).priority(1));
            assertThat(executor.explain("a", "urgent")).contains(new Explanation(GROUP_LIMIT, 0, 0));
            assertThat(executor.explain("a", "twice")).contains(new Explanation(GROUP_LIMIT, 2, 0));
            assertThat(executor.explain("b", "twice")).isEmpty();
            assertThatNullPointerException().isThrownBy(() -> executor.explain("a", null));
            steps.runAll();
            assertThat(executor.explain("a", "twice")).isEmpty();
        }
    }

    @Test
    void only_handles_of_this_executor_are_explained() {
        try (GroupExecutor executor =
                        GroupExecutor.newVirtualThreadExecutor(stepped().build());
                GroupExecutor other =
                        GroupExecutor.newVirtualThreadExecutor(stepped().build())) {
            TaskHandle<Boolean> otherHandle = submit(other, "a", "t1");

            assertThatIllegalArgumentException()
                    .isThrownBy(() -> executor.explain(otherHandle))
                    .withMessage("handle must be one that this executor returned, was task \"t1\" in group \"a\"");
            assertThatIllegalArgumentException().isThrownBy(() -> executor.explain(null));
        }
    }

    private static GroupStats paused(String key, int running, int waiting, int limit) {
        return new GroupStats(key, running, waiting, limit, Integer.MAX_VALUE, null, null, null, null, true, null);
    }
}
