package dev.raddle.group;

import static dev.raddle.task.WaitReason.GLOBAL_CAP;
import static dev.raddle.task.WaitReason.GROUP_LIMIT;
import static dev.raddle.task.WaitReason.NOTHING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.raddle.task.OwnerChange;
import dev.raddle.task.OwnerChange.Kind;
import dev.raddle.task.Rate;
import dev.raddle.task.TaskListener;
import dev.raddle.task.TaskSpec;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class GroupStateTest {

    private final VirtualTime time = new VirtualTime();
    private final StepScheduler steps = new StepScheduler();
    private final List<OwnerChange> changes = new ArrayList<>();
    private final TaskListener listener = new TaskListener() {
        @Override
        public void onChanged(OwnerChange change) {
            changes.add(change);
        }
    };

    private GroupPolicy.Builder stepped() {
        return TestTasks.stepped(steps).timeSource(time).addListener(listener);
    }

    private static Map<String, GroupState> states(GroupExecutor executor) {
        return executor.groups().collect(Collectors.toMap(state -> state.stats().groupKey(), Function.identity()));
    }

    @Test
    void the_oldest_wait_is_that_of_the_task_submitted_first_whatever_its_priority() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                stepped().defaultMaxConcurrencyPerGroup(1).build())) {
            executor.submit("a", "holder", () -> 1);
            executor.submit("a", TaskSpec.named("old", () -> 1).priority(-1));
            time.advance(Duration.ofSeconds(5));
            executor.submit("a", TaskSpec.named("urgent", () -> 1).priority(9));
            executor.submit("a", "plain", () -> 1);

            GroupState state = states(executor).get("a");

            assertThat(state.oldest().handle().taskId()).isEqualTo("old");
            assertThat(state.oldest().since()).isEqualTo(Duration.ofSeconds(5));
            assertThat(state.oldest().priority()).isEqualTo(-1);
            assertThat(executor.explain(state.oldest().handle()).place()).isEqualTo(2);
            assertThat(state.waitingFor()).isEqualTo(GROUP_LIMIT);
            steps.runAll();
        }
    }

    @Test
    void each_group_tells_its_weight_and_what_its_next_task_waits_for_and_each_task_its_slots() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(stepped()
                .defaultMaxConcurrencyPerGroup(4)
                .globalMaxInFlight(4)
                .weightResolver(key -> key.equals("bulk") ? 3 : 1)
                .build())) {
            executor.submit("bulk", TaskSpec.named("wide", () -> 1).cost(3));
            executor.submit("bulk", TaskSpec.named("wider", () -> 1).cost(4));
            executor.submit("small", TaskSpec.named("pair", () -> 1).cost(2));

            var states = states(executor);

            assertThat(states.get("bulk").weight()).isEqualTo(3);
            assertThat(states.get("bulk").waitingFor()).isEqualTo(GROUP_LIMIT);
            assertThat(states.get("small").waitingFor()).isEqualTo(GLOBAL_CAP);
            assertThat(executor.tasks("bulk", 10))
                    .extracting(task -> task.handle().taskId(), TaskStats::slots, TaskStats::isWaiting)
                    .containsExactly(tuple("wide", 3, false), tuple("wider", 4, true));
            steps.runAll();
            assertThat(states(executor).get("bulk").oldest()).isNull();
            assertThat(states(executor).get("bulk").waitingFor()).isEqualTo(NOTHING);
        }
    }

    @Test
    void a_running_task_tells_for_which_other_one_its_thread_waits() throws Exception {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                GroupPolicy.builder().defaultMaxConcurrencyPerGroup(2).build())) {
            var begun = new CountDownLatch(1);
            var end = new CountDownLatch(1);
            executor.submit("a", "other", () -> end.await(1, TimeUnit.HOURS));
            TaskHandle<Boolean> inner = executor.submit("b", "holder", () -> end.await(1, TimeUnit.HOURS));
            TaskHandle<Boolean> waiting = executor.submit("a", "outer", () -> {
                TaskHandle<Boolean> queued = executor.submit("a", "queued", () -> true);
                begun.countDown();
                return queued.await().value();
            });
            begun.await();
            TaskStats outer;
            do {
                outer = executor.tasks("a", 10).stream()
                        .filter(task -> task.handle() == waiting)
                        .findFirst()
                        .orElseThrow();
                Thread.onSpinWait();
            } while (outer.awaits() == null); // until its thread has begun to wait

            assertThat(outer.awaits().taskId()).isEqualTo("queued");
            end.countDown();
            assertThat(waiting.await().value()).isTrue();
            assertThat(inner.await().value()).isTrue();
        }
    }

    @Test
    void the_listener_is_notified_of_each_change_of_a_limit_with_the_value_before() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                stepped().defaultMaxConcurrencyPerGroup(8).globalMaxInFlight(16).build())) {
            executor.setMaxConcurrency("a", 1);
            executor.setMaxConcurrency("a", 1);
            executor.setRate("a", Rate.perSecond(10));
            executor.setRate("a", null);
            executor.setWeight("a", 3);
            executor.holdGroup("a", Duration.ofSeconds(2));
            executor.pauseGroup("a");
            executor.resumeGroup("a");
            executor.setGlobalMaxInFlight(4);
            executor.evictGroup("a");
        }

        assertThat(changes)
                .containsExactly(
                        new OwnerChange("a", Kind.LIMIT, false, "8", "1"),
                        new OwnerChange("a", Kind.RATE, false, null, "10 per second"),
                        new OwnerChange("a", Kind.RATE, false, "10 per second", null),
                        new OwnerChange("a", Kind.WEIGHT, false, "1", "3"),
                        new OwnerChange("a", Kind.HOLD, false, null, "2000 ms"),
                        new OwnerChange("a", Kind.PAUSE, false, null, "paused"),
                        new OwnerChange("a", Kind.PAUSE, false, null, "resumed"),
                        new OwnerChange(null, Kind.LIMIT, false, "16", "4"),
                        new OwnerChange("a", Kind.EVICTION, false, null, null));
    }

    @Test
    void the_listener_is_not_notified_of_a_call_that_changes_nothing() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                stepped().globalMaxInFlight(16).build())) {
            executor.setGlobalMaxInFlight(16);
            executor.resumeGroup("a");
            executor.holdGroup("a", Duration.ZERO);
            executor.holdGroup("a", Duration.ofSeconds(4));
            executor.holdGroup("a", Duration.ofSeconds(1)); // ends earlier
            time.advance(Duration.ofSeconds(1));
            executor.holdGroup("a", Duration.ofSeconds(5));
            executor.resumeGroup("a");
            executor.pauseGroup("a");
            executor.pauseGroup("a");
            executor.resumeGroup("a");
            executor.resumeGroup("a");
        }

        assertThat(changes)
                .containsExactly(
                        new OwnerChange("a", Kind.HOLD, false, null, "4000 ms"),
                        new OwnerChange("a", Kind.HOLD, false, "3000 ms", "5000 ms"),
                        new OwnerChange("a", Kind.PAUSE, false, null, "paused"),
                        new OwnerChange("a", Kind.PAUSE, false, null, "resumed"));
    }

    @Test
    void the_listener_is_notified_of_the_shutdown_of_a_group() {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(stepped().build())) {
            executor.shutdownGroup("unknown");
            executor.submit("a", () -> 1);
            executor.shutdownGroup("a");
            executor.submit("b", () -> 1);
            executor.shutdownGroup("b", Duration.ZERO);
        }

        assertThat(changes)
                .containsExactly(
                        new OwnerChange("a", Kind.EVICTION, false, null, "shut down"),
                        new OwnerChange("b", Kind.EVICTION, false, null, "shut down"));
    }
}
