package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.Rate;
import dev.raddle.task.TaskSpec;
import dev.raddle.task.WaitReason;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rates and holds together with evictions, priorities, nested calls and the last moment of a clock. */
class RateCornersTest {

    private static final UnaryOperator<TaskSpec<String>> COST_13 = spec -> spec.cost(13);

    private final VirtualTime time = new VirtualTime();
    private final StepScheduler steps = new StepScheduler();

    private GroupPolicy.Builder policy() {
        return TestTasks.stepped(steps).timeSource(time).defaultMaxConcurrencyPerGroup(100);
    }

    private static TaskHandle<String> submit(GroupExecutor executor, UnaryOperator<TaskSpec<String>> options) {
        return executor.submit("a", options.apply(TaskSpec.named("task", () -> "done")));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void an_eviction_does_not_forgive_a_cost_above_the_burst(boolean evict) {
        GroupPolicy.Builder slow = policy().defaultRatePerGroup(Rate.perSecond(1));
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(slow.build())) {
            submit(executor, COST_13);
            steps.runAll();
            if (evict) {
                executor.evictGroup("a");
                executor.evictGroup("a");
            } else {
                executor.shutdownGroup("a", Duration.ZERO);
            }
            time.advance(Duration.ofSeconds(2));

            TaskHandle<String> next = submit(executor, spec -> spec);
            assertThat(executor.explain(next).nextStart()).isEqualTo(Duration.ofSeconds(11));
            time.advance(Duration.ofSeconds(11).minusNanos(1));
            assertThat(steps.size()).isZero();
            time.advance(Duration.ofNanos(1));
            assertThat(steps.size()).isEqualTo(1);
            steps.runAll();
        }
    }

    @Test
    void a_rate_that_is_looked_up_after_an_eviction_gets_what_was_used_of_the_one_before() {
        GroupPolicy.Builder slow = policy().defaultRatePerGroup(Rate.perSecond(10));
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(slow.build())) {
            executor.setRate("a", Rate.perSecond(1));
            submit(executor, COST_13);
            steps.runAll();
            executor.evictGroup("a");

            TaskHandle<String> next = submit(executor, spec -> spec);
            assertThat(executor.explain(next).nextStart()).isEqualTo(Duration.ofMillis(400)); // 13 - (10 - 1) permits
            time.advance(Duration.ofMillis(400));
            assertThat(steps.size()).isEqualTo(1);
            steps.runAll();
        }
    }

    @Test
    void a_task_of_a_higher_priority_does_not_wait_until_the_global_rate_allows_a_costlier_one() {
        GroupPolicy.Builder shared = policy().globalRate(Rate.perSecond(1).burst(5));
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(shared.build())) {
            submit(executor, spec -> spec.cost(5));
            TaskHandle<String> wide = submit(executor, spec -> spec.cost(4));
            assertThat(executor.explain(wide).nextStart()).isEqualTo(Duration.ofSeconds(4));

            TaskHandle<String> urgent = submit(executor, spec -> spec.priority(1));
            assertThat(executor.explain(urgent).nextStart()).isEqualTo(Duration.ofSeconds(1));
            time.advance(Duration.ofSeconds(1));
            assertThat(executor.explain(urgent).waitingFor()).isEqualTo(WaitReason.NOTHING);

            time.advance(Duration.ofSeconds(1));
            TaskHandle<String> atOnce = submit(executor, spec -> spec.priority(1));
            assertThat(executor.explain(atOnce).waitingFor()).isEqualTo(WaitReason.NOTHING);
            steps.runAll();
        }
    }

    @Test
    void a_hold_of_no_time_holds_nothing() throws Exception {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy().build())) {
            executor.holdGroup("a", Duration.ZERO);

            assertThat(executor.tryCall("a", Duration.ZERO, () -> "ran")).contains("ran");
            assertThat(executor.groupStats("a").orElseThrow().holdLeft()).isNull();
        }
    }

    @Test
    void a_task_that_calls_its_own_full_group_fails_although_the_group_is_on_hold() throws Exception {
        GroupPolicy.Builder single = policy().defaultMaxConcurrencyPerGroup(1);
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(single.build())) {
            TaskHandle<String> outer = executor.submit("a", "outer", () -> executor.call("a", () -> "inner"));
            executor.holdGroup("a", Duration.ofSeconds(3));
            steps.runNext();

            assertThat(outer.join().error()).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void a_task_that_calls_its_own_group_on_hold_waits_if_the_group_has_a_free_slot() throws Exception {
        GroupPolicy.Builder two = policy().defaultMaxConcurrencyPerGroup(2);
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(two.build())) {
            Callable<String> inner = () -> "inner";
            TaskHandle<String> outer = executor.submit("a", "outer", () -> executor.call("a", inner));
            executor.holdGroup("a", Duration.ofSeconds(3));
            Thread runner = steps.startNext().orElseThrow();
            while (executor.groupStats("a").orElseThrow().queuedCount() == 0) {
                Thread.onSpinWait();
            }
            time.advance(Duration.ofSeconds(3));
            runner.join();

            assertThat(outer.join().value()).isEqualTo("inner");
        }
    }

    @Test
    void a_rate_tolerates_the_moment_at_which_the_clock_wraps_around() {
        TimeSource wrapping = new TimeSource() {
            @Override
            public long nanoTime() {
                return Long.MIN_VALUE + time.nanoTime();
            }

            @Override
            public Alarm after(Duration delay, Runnable action) {
                return time.after(delay, action);
            }

            @Override
            public boolean follow(Runnable action) {
                return time.follow(action);
            }
        };
        GroupPolicy.Builder rated = policy().timeSource(wrapping).defaultRatePerGroup(Rate.perSecond(2));
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(rated.build())) {
            submit(executor, spec -> spec);
            submit(executor, spec -> spec);

            assertThat(steps.size()).isEqualTo(2);
            steps.runAll();
        }
    }

    @Test
    void two_threads_that_are_throttled_for_different_heads_leave_the_alarm_of_the_earlier_one() {
        GroupPolicy.Builder shared = policy().globalRate(Rate.perSecond(1).burst(5));
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(shared.build())) {
            GroupAlarms alarms = executor.engine.alarms;
            long now = time.nanoTime();
            AtomicInteger reads = new AtomicInteger();
            int pending = time.alarms();

            alarms.armCap(() -> {
                if (reads.getAndIncrement() == 0) {
                    alarms.armCap(() -> now + 10); // another thread, which has found a later head
                }
                return now + 1;
            });

            assertThat(reads).hasValue(2);
            assertThat(alarms.capAlarmAt()).hasValue(now + 1);
            assertThat(time.alarms()).isEqualTo(pending + 1);
        }
    }

    @Test
    void a_change_by_way_of_a_very_fast_rate_keeps_what_is_missing() {
        GroupPolicy.Builder slow = policy().defaultRatePerGroup(Rate.perSecond(1));
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(slow.build())) {
            submit(executor, spec -> spec);
            steps.runAll();
            executor.setRate(
                    "a", Rate.of(Integer.MAX_VALUE, Duration.ofMillis(1)).burst(1));
            executor.setRate("a", Rate.perSecond(1));

            TaskHandle<String> next = submit(executor, spec -> spec);
            assertThat(executor.explain(next).nextStart()).isEqualTo(Duration.ofSeconds(1));
            time.advance(Duration.ofSeconds(1));
            steps.runAll();
            assertThat(next.isDone()).isTrue();
        }
    }

    @Test
    void between_an_eviction_and_the_next_task_the_old_rate_fills_the_bucket() {
        AtomicReference<Rate> rate = new AtomicReference<>(Rate.perSecond(10));
        GroupPolicy.Builder changing = policy().rateResolver(key -> rate.get());
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(changing.build())) {
            submit(executor, spec -> spec.cost(10));
            steps.runAll();
            executor.evictGroup("a");
            rate.set(Rate.perSecond(1).burst(10));
            time.advance(Duration.ofMillis(500)); // 5 of the 10 permits flow in

            TaskHandle<String> next = submit(executor, spec -> spec.cost(6));
            assertThat(executor.explain(next).nextStart()).isEqualTo(Duration.ofSeconds(1));
            time.advance(Duration.ofSeconds(1));
            steps.runAll();
            assertThat(next.isDone()).isTrue();
        }
    }

    @Test
    void without_a_cap_no_slot_of_it_is_taken_although_there_is_a_global_rate() {
        GroupPolicy.Builder shared = policy().globalRate(Rate.perSecond(5));
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(shared.build())) {
            submit(executor, spec -> spec);
            assertThat(executor.stats().totalActiveCount()).isEqualTo(1);
            assertThat(executor.stats().globalInFlightUsed()).isZero();

            executor.setGlobalMaxInFlight(3);
            assertThat(executor.stats().globalInFlightUsed()).isEqualTo(1);
            steps.runAll();
            assertThat(executor.stats().globalInFlightUsed()).isZero();
        }
    }
}
