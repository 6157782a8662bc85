package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import dev.raddle.task.TaskSpec;
import dev.raddle.testing.StepScheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

class PriorityAndCostTest {

    private final StepScheduler steps = new StepScheduler();
    private final List<String> ran = new ArrayList<>();

    private GroupPolicy.Builder stepped() {
        return TestTasks.stepped(steps);
    }

    private Callable<Boolean> task(String name) {
        return () -> ran.add(name);
    }

    @Test
    void the_higher_priority_starts_first_and_equals_start_in_order_of_submission() {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(stepped().build())) {
            executor.submit("a", "holder", task("holder"));
            executor.submit("a", "plain 1", task("plain 1"));
            executor.submit("a", TaskSpec.named("low", task("low")).priority(-1));
            executor.submit("a", TaskSpec.named("high 1", task("high 1")).priority(5));
            executor.submit("a", TaskSpec.named("plain 2", task("plain 2")).priority(0));
            executor.submit("a", TaskSpec.named("highest", task("highest")).priority(Integer.MAX_VALUE));
            executor.submit("a", TaskSpec.named("high 2", task("high 2")).priority(5));
            executor.submit("a", TaskSpec.named("lowest", task("lowest")).priority(Integer.MIN_VALUE));

            steps.runAll();

            assertThat(ran)
                    .containsExactly("holder", "highest", "high 1", "high 2", "plain 1", "plain 2", "low", "lowest");
        }
    }

    @Test
    void priority_orders_the_tasks_of_one_group_and_not_the_groups() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                stepped().defaultMaxConcurrencyPerGroup(9).globalMaxInFlight(1).build())) {
            executor.submit("a", "holder", task("holder"));
            executor.submit("b", "plain", task("plain"));
            for (int i = 0; i < 9; i++) {
                executor.submit("a", TaskSpec.named("urgent", task("urgent")).priority(100));
            }

            steps.runAll();

            assertThat(ran.indexOf("plain"))
                    .as("its turn comes among the urgent ones")
                    .isBetween(1, 4);
        }
    }

    @Test
    void a_task_that_precedes_all_others_starts_at_once_although_the_queue_is_full() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(stepped()
                .defaultMaxConcurrencyPerGroup(9)
                .globalMaxInFlight(4)
                .defaultQueueThresholdPerGroup(1)
                .build())) {
            executor.submit("a", TaskSpec.named("three", task("three")).cost(3));
            executor.submit("a", TaskSpec.named("wide", task("wide")).cost(2)); // one slot of the cap is free
            executor.submit("a", TaskSpec.named("urgent", task("urgent")).priority(1));
            assertThat(steps.size()).isEqualTo(2);
            TaskHandle<Boolean> late =
                    executor.submit("a", TaskSpec.named("late", task("late")).priority(1));
            assertThat(late.isDone()).as("rejected").isTrue();

            steps.runAll();

            assertThat(ran).containsExactly("three", "urgent", "wide");
        }
    }

    @Test
    void a_task_takes_as_many_slots_of_the_group_and_of_the_cap_as_it_costs() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                stepped().defaultMaxConcurrencyPerGroup(4).globalMaxInFlight(5).build())) {
            executor.submit("a", TaskSpec.named("two", task("two")).cost(2));
            executor.submit("a", TaskSpec.named("also two", task("also two")).cost(2));
            executor.submit("a", "one", task("one"));
            executor.submit(
                    "b", TaskSpec.named("two elsewhere", task("two elsewhere")).cost(2));

            assertThat(executor.groupStats("a")).contains(new GroupStats("a", 4, 1, 4, Integer.MAX_VALUE));
            assertThat(executor.groupStats("b"))
                    .as("one slot of the cap is free, and it needs two")
                    .contains(new GroupStats("b", 0, 1, 4, Integer.MAX_VALUE));
            assertThat(executor.stats().globalInFlightUsed()).isEqualTo(4);

            steps.runNext();
            assertThat(executor.stats().totalQueuedCount()).isZero();
            assertThat(executor.stats().globalInFlightUsed()).isEqualTo(5);
            steps.runAll();
            assertThat(executor.stats().globalInFlightUsed()).isZero();
            assertThat(executor.stats().totalActiveCount()).isZero();
        }
    }

    @Test
    void a_wide_task_is_not_overtaken_forever_by_narrow_ones_of_its_group() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                stepped().defaultMaxConcurrencyPerGroup(3).build())) {
            executor.submit("a", "n1", task("n1"));
            executor.submit("a", "n2", task("n2"));
            executor.submit("a", TaskSpec.named("wide", task("wide")).cost(3));
            executor.submit("a", "n3", task("n3"));
            executor.submit("a", "n4", task("n4"));
            assertThat(steps.size())
                    .as("one slot is free and kept for the wide one")
                    .isEqualTo(2);

            steps.runNext();
            assertThat(steps.size()).isEqualTo(1);
            steps.runAll();

            assertThat(ran).containsExactly("n1", "n2", "wide", "n3", "n4");
        }
    }

    @Test
    void a_wide_task_is_not_overtaken_forever_by_narrow_ones_of_other_groups() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                stepped().defaultMaxConcurrencyPerGroup(4).globalMaxInFlight(4).build())) {
            for (int i = 0; i < 100; i++) {
                executor.submit("flood", "n" + i, task("narrow"));
            }
            executor.submit("a", TaskSpec.named("wide", task("wide")).cost(4));

            steps.runAll();

            assertThat(ran.indexOf("wide"))
                    .as("it started long before the flood was over")
                    .isLessThan(20);
            assertThat(ran).hasSize(101);
        }
    }

    @Test
    void a_task_whose_cost_exceeds_the_limit_takes_all_slots() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                stepped().defaultMaxConcurrencyPerGroup(3).globalMaxInFlight(2).build())) {
            executor.submit("a", TaskSpec.named("huge", task("huge")).cost(Integer.MAX_VALUE));
            assertThat(executor.stats().totalActiveCount()).isEqualTo(2);
            assertThat(executor.stats().globalInFlightUsed()).isEqualTo(2);

            executor.submit("a", TaskSpec.named("next", task("next")).cost(3));
            steps.runAll();

            assertThat(ran).containsExactly("huge", "next");
            assertThat(executor.stats().globalInFlightUsed()).isZero();
        }
    }

    @Test
    void a_wide_task_releases_the_slots_that_it_took_although_the_limit_has_changed() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                stepped().defaultMaxConcurrencyPerGroup(4).globalMaxInFlight(4).build())) {
            executor.submit("a", TaskSpec.named("wide", task("wide")).cost(4));

            executor.setMaxConcurrency("a", 1);
            executor.setGlobalMaxInFlight(2);
            executor.submit("a", TaskSpec.named("next", task("next")).cost(4));
            assertThat(executor.stats().totalActiveCount()).isEqualTo(4);
            steps.runNext();

            assertThat(executor.stats().totalActiveCount()).isEqualTo(1);
            assertThat(executor.stats().globalInFlightUsed()).isEqualTo(1);
            steps.runAll();
            assertThat(executor.stats().globalInFlightUsed()).isZero();
        }
    }

    @Test
    void changed_limits_must_be_at_least_one() {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(stepped().build())) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> executor.setMaxConcurrency("a", 0))
                    .withMessage("maxConcurrency of group \"a\" must be at least 1, was 0");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> executor.setWeight("a", -1))
                    .withMessage("weight of group \"a\" must be at least 1, was -1");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> executor.setGlobalMaxInFlight(0))
                    .withMessage("globalMaxInFlight must be at least 1, was 0");
            assertThatNullPointerException().isThrownBy(() -> executor.setMaxConcurrency(null, 1));
            assertThat(executor.activeGroupKeys()).isEmpty();
            assertThat(executor.stats().globalInFlightMax()).isEqualTo(Integer.MAX_VALUE);
        }
    }
}
