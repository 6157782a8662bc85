package dev.raddle.surroundings;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.task.Outcome;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A slot of the cap is charged from its grant to its release, whatever the scheduler does in between. */
class SlowSchedulerTest {

    private static final Duration RUN = Duration.ofMillis(2);

    private final VirtualTime time = new VirtualTime();
    private final StepScheduler slow = new StepScheduler();
    private final StepScheduler fast = new StepScheduler();
    private int pending;

    private GroupPolicy.Builder capped(int slots) {
        return GroupPolicy.builder()
                .globalMaxInFlight(slots)
                .defaultMaxConcurrencyPerGroup(16)
                .closeTimeout(Duration.ZERO)
                .timeSource(time);
    }

    private static void submit(GroupExecutor executor, String key, int tasks) {
        for (int i = 0; i < tasks; i++) {
            executor.submit(key, "task", () -> 1);
        }
    }

    @Test
    void a_group_on_a_pool_of_one_thread_holds_no_more_of_the_cap_than_one_whose_tasks_start_at_once() {
        int rounds = 200;
        int heldBySlow = 0;
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                capped(16).scheduler(key -> key.equals("slow") ? slow : fast).build())) {
            for (int i = 0; i < 16 * rounds; i++) {
                executor.submit("slow", Executors.callable(() -> time.advance(RUN)));
                executor.submit("fast", Executors.callable(this::runNextFast));
            }
            for (int i = 0; i < rounds; i++) {
                pending = fast.size();
                runNextFast();
                heldBySlow += slow.size();
            }
        }

        assertThat(heldBySlow / (double) rounds).isBetween(6.0, 10.0);
    }

    /** Runs all granted tasks of "fast" inside each other, so at the same time, and one of "slow" meanwhile. */
    private void runNextFast() {
        if (pending-- > 0) {
            fast.runNext();
        } else if (!slow.runNext()) {
            time.advance(RUN);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 100})
    void groups_whose_tasks_take_no_time_share_by_their_weights(int weight) {
        StepScheduler steps = new StepScheduler();
        int tasks = 40 * (weight + 1);
        int[] done = {0};
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(capped(2)
                .scheduler(key -> steps)
                .weightResolver(key -> key.equals("heavy") ? weight : 1)
                .build())) {
            submit(executor, "light", tasks);
            for (int i = 0; i < tasks; i++) {
                executor.submit("heavy", "task", () -> done[0]++);
            }
            for (int i = 0; i < tasks; i++) {
                steps.runNext();
            }
        }

        double share = weight / (weight + 1.0);
        assertThat(done[0]).isBetween((int) (tasks * (share - 0.1)), (int) (tasks * (share + 0.1)));
    }

    @Test
    void a_listener_receives_the_time_in_the_task_and_not_the_time_before_it() {
        StepScheduler steps = new StepScheduler();
        List<String> times = new ArrayList<>();
        TaskListener listener = new TaskListener() {
            @Override
            public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
                times.add(outcome.status() + " after " + runNanos / 1_000_000 + " ms");
            }
        };
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                capped(1).scheduler(key -> steps).addListener(listener).build())) {
            submit(executor, "first", 1);
            executor.submit("second", "task", () -> {
                time.advance(RUN);
                return 1;
            });
            var cancelled = executor.submit("third", "task", () -> 1);
            steps.runNext();
            time.advance(Duration.ofMillis(7)); // the second holds the slot
            steps.runNext();
            time.advance(Duration.ofMillis(7)); // the third holds it
            cancelled.cancel(true);

            assertThat(executor.groupStats("third").orElseThrow().activeCount()).isEqualTo(1);
            assertThat(cancelled.join().startTimeNanos()).isEqualTo(16_000_000);
            assertThat(cancelled.join().endTimeNanos()).isEqualTo(16_000_000);
        }

        assertThat(times).containsExactly("SUCCESS after 0 ms", "SUCCESS after 2 ms", "CANCELLED after 0 ms");
    }
}
