package dev.raddle.group;

import static dev.raddle.task.WaitReason.GLOBAL_RATE;
import static dev.raddle.task.WaitReason.GROUP_RATE;
import static dev.raddle.task.WaitReason.HOLD;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.kernel.RateLimit;
import dev.raddle.task.Rate;
import dev.raddle.task.Rejection;
import dev.raddle.task.TaskSpec;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class RateTest {

    private static final Rate TEN = Rate.perSecond(10).burst(2);

    private final VirtualTime time = new VirtualTime();
    private final StepScheduler steps = new StepScheduler();
    private final List<String> ran = new ArrayList<>();

    private GroupPolicy.Builder policy() {
        return TestTasks.stepped(steps).timeSource(time).defaultMaxConcurrencyPerGroup(100);
    }

    private static GroupExecutor executor(GroupPolicy.Builder policy) {
        return GroupExecutor.newVirtualThreadExecutor(policy.build());
    }

    private TaskHandle<Boolean> submit(
            GroupExecutor executor, String key, String id, UnaryOperator<TaskSpec<Boolean>> options) {
        return executor.submit(key, options.apply(TaskSpec.named(id, () -> ran.add(id))));
    }

    private List<TaskHandle<Boolean>> submit(GroupExecutor executor, String key, int tasks) {
        List<TaskHandle<Boolean>> handles = new ArrayList<>();
        for (int i = 0; i < tasks; i++) {
            handles.add(submit(executor, key, key + i, spec -> spec));
        }
        return handles;
    }

    private void advance(long millis, int started) {
        time.advance(Duration.ofMillis(millis));
        assertThat(steps.size()).isEqualTo(started);
    }

    @Test
    void a_burst_starts_at_once_and_then_one_task_in_each_interval() {
        try (GroupExecutor executor = executor(policy().defaultRatePerGroup(TEN))) {
            submit(executor, "a", 5);

            assertThat(steps.size()).isEqualTo(2);
            time.advance(Duration.ofMillis(99));
            assertThat(steps.size()).isEqualTo(2);
            advance(1, 3);
            advance(100, 4);
            advance(100, 5);
            steps.runAll();
            assertThat(ran).containsExactly("a0", "a1", "a2", "a3", "a4");
        }
    }

    @Test
    void a_throttled_group_arms_one_alarm_whatever_waits_in_it() {
        try (GroupExecutor executor = executor(policy().defaultRatePerGroup(TEN))) {
            submit(executor, "a", 1_000);

            assertThat(time.alarms()).isEqualTo(1);
            advance(100, 3);
            assertThat(time.alarms()).isEqualTo(1);
            steps.runAll();
            assertThat(time.alarms()).isEqualTo(1);
            executor.shutdownGroup("a");
        }
    }

    @Test
    void a_task_starts_when_the_limit_the_cap_and_both_rates_allow_it() {
        try (GroupExecutor executor = executor(policy().defaultMaxConcurrencyPerGroup(1)
                .globalMaxInFlight(2)
                .defaultRatePerGroup(TEN)
                .globalRate(Rate.perSecond(5).burst(3)))) {
            submit(executor, "a", 3);
            submit(executor, "b", 3);
            assertThat(steps.size()).as("the limits of one").isEqualTo(2);

            steps.runNext();
            assertThat(steps.size()).as("the third of the burst").isEqualTo(2);
            steps.runNext();
            assertThat(steps.size()).as("the global rate").isEqualTo(1);
            advance(200, 2);
            steps.runAll();
            assertThat(ran).hasSize(4);
            advance(200, 1);
            steps.runAll();
            advance(200, 1);
            steps.runAll();
            assertThat(ran).containsExactlyInAnyOrder("a0", "b0", "a1", "b1", "a2", "b2");
        }
    }

    @Test
    void a_throttled_group_takes_no_share_of_the_cap() {
        try (GroupExecutor executor =
                executor(policy().globalMaxInFlight(1).perGroupRate(Map.of("a", Rate.perSecond(1))))) {
            submit(executor, "a", 3);
            submit(executor, "b", 3);
            steps.runAll();

            assertThat(ran).containsExactly("a0", "b0", "b1", "b2");
            advance(1_000, 1);
            steps.runAll();
            advance(1_000, 1);
            steps.runAll();
            assertThat(ran).endsWith("a1", "a2");
        }
    }

    @Test
    void a_cost_takes_as_much_of_the_rate() {
        try (GroupExecutor executor =
                executor(policy().defaultRatePerGroup(Rate.perSecond(10).burst(4)))) {
            submit(executor, "a", "three", spec -> spec.cost(3));
            submit(executor, "a", "two", spec -> spec.cost(2));
            submit(executor, "a", "nine", spec -> spec.cost(9));
            submit(executor, "a", "last", spec -> spec);

            assertThat(steps.size()).isEqualTo(1);
            advance(100, 2); // 1 left of 4, 2 wanted
            advance(400, 3); // full
            time.advance(Duration.ofMillis(599)); // 9 taken of 4, 1 wanted
            assertThat(steps.size()).isEqualTo(3);
            advance(1, 4);
            steps.runAll();
            assertThat(ran).containsExactly("three", "two", "nine", "last");
        }
    }

    @Test
    void an_evicted_or_shut_down_group_remembers_what_has_started() {
        try (GroupExecutor executor =
                executor(policy().idleGroupTtl(Duration.ZERO).defaultRatePerGroup(TEN))) {
            submit(executor, "a", 2);
            steps.runAll();
            executor.evictGroup("a");
            submit(executor, "a", 1);
            assertThat(steps.size()).isZero();
            advance(100, 1);
            steps.runAll();

            executor.shutdownGroup("a", Duration.ZERO);
            submit(executor, "a", 1);
            assertThat(steps.size()).isZero();
            advance(100, 1);
            steps.runAll();
        }
    }

    @Test
    void a_group_is_forgotten_when_its_bucket_is_full() {
        try (GroupExecutor executor = executor(policy().idleGroupTtl(Duration.ZERO)
                .defaultRatePerGroup(Rate.perSecond(1).burst(10)))) {
            submit(executor, "a", 10);
            steps.runAll();
            time.advance(Duration.ofMillis(9_900));
            assertThat(executor.activeGroupKeys()).containsExactly("a");
            time.advance(Duration.ofMillis(200));
            assertThat(executor.activeGroupKeys()).isEmpty();
            assertThat(time.alarms()).isZero();
        }
    }

    @Test
    void a_new_rate_takes_effect_at_once_and_what_was_used_stays_used() {
        try (GroupExecutor executor = executor(policy().defaultRatePerGroup(Rate.of(2, Duration.ofHours(1))))) {
            submit(executor, "a", 5);
            assertThat(steps.size()).isEqualTo(2);

            executor.setRate("a", TEN);
            assertThat(steps.size()).isEqualTo(2);
            advance(100, 3);
            executor.setRate("a", Rate.of(2, Duration.ofHours(1)));
            time.advance(Duration.ofMinutes(29));
            assertThat(steps.size()).isEqualTo(3);
            executor.setRate("a", null);
            assertThat(steps.size()).isEqualTo(5);
            steps.runAll();
        }
    }

    @Test
    void of_a_smaller_rate_no_more_than_its_burst_is_missing() {
        Rate hundred = Rate.perSecond(100);
        for (Rate before : List.of(hundred, hundred.strict())) {
            try (GroupExecutor executor =
                    executor(policy().defaultMaxConcurrencyPerGroup(200).defaultRatePerGroup(before))) {
                submit(executor, "a", 100);
                executor.setRate("a", Rate.perMinute(10));
                List<TaskHandle<Boolean>> next = submit(executor, "a", 1);
                assertThat(executor.explain(next.getFirst()).nextStart()).isEqualTo(Duration.ofSeconds(6));
                steps.runAll();
            }
        }
    }

    @Test
    void what_a_cost_above_the_burst_has_used_in_advance_stays_used_at_a_new_rate() {
        try (GroupExecutor executor = executor(policy().defaultRatePerGroup(Rate.of(2, Duration.ofHours(1))))) {
            submit(executor, "a", "wide", spec -> spec.cost(9)); // 7 more than the burst
            executor.setRate("a", Rate.perSecond(1));
            TaskHandle<Boolean> next = submit(executor, "a", "next", spec -> spec);
            assertThat(executor.explain(next).nextStart()).isEqualTo(Duration.ofSeconds(8)); // all 7, and a burst of 1
            steps.runAll();
        }
    }

    @Test
    void a_group_without_a_rate_can_be_given_one() {
        try (GroupExecutor executor = executor(policy())) {
            submit(executor, "a", 3);
            assertThat(steps.size()).isEqualTo(3);
            executor.setRate("a", TEN);
            submit(executor, "a", 3);
            assertThat(steps.size()).isEqualTo(5);
            advance(100, 6);
            steps.runAll();
        }
    }

    @Test
    void nothing_of_a_group_on_hold_starts_and_the_longer_hold_wins() {
        try (GroupExecutor executor = executor(policy().idleGroupTtl(Duration.ZERO))) {
            executor.holdGroup("a", Duration.ofSeconds(2));
            executor.holdGroup("a", Duration.ofSeconds(1));
            List<TaskHandle<Boolean>> held = submit(executor, "a", 3);
            submit(executor, "b", 1);
            assertThat(steps.size()).isEqualTo(1);

            time.advance(Duration.ofMillis(1_500));
            assertThat(executor.explain(held.get(2)))
                    .isEqualTo(new Explanation(HOLD, 2, 0).withNextStart(null, Duration.ofMillis(500)));
            assertThat(executor.groupStats("a").orElseThrow().holdLeft()).isEqualTo(Duration.ofMillis(500));
            executor.holdGroup("a", Duration.ofSeconds(1));
            time.advance(Duration.ofMillis(999));
            assertThat(steps.size()).isEqualTo(1);
            advance(1, 4);
            steps.runAll();
            assertThat(executor.groupStats("a")).isEmpty();
        }
    }

    @Test
    void a_group_on_hold_is_not_removed_and_a_negative_hold_is_refused() {
        try (GroupExecutor executor = executor(policy().idleGroupTtl(Duration.ZERO))) {
            executor.holdGroup("a", Duration.ofSeconds(5));
            time.advance(Duration.ofSeconds(4));
            assertThat(executor.activeGroupKeys()).containsExactly("a");
            submit(executor, "a", 1);
            assertThat(steps.size()).isZero();
            advance(1_000, 1);
            steps.runAll();
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> executor.holdGroup("a", Duration.ofMillis(-1)))
                    .withMessage("the hold of group \"a\" must not be negative, was PT-0.001S");
        }
    }

    @Test
    void the_rate_is_explained_and_named_in_rejections() throws Exception {
        try (GroupExecutor executor = executor(policy().defaultMaxConcurrencyPerGroup(200)
                .defaultRatePerGroup(Rate.perSecond(100))
                .defaultQueueThresholdPerGroup(41))) {
            List<TaskHandle<Boolean>> handles = submit(executor, "a", 141);

            Explanation why = executor.explain(handles.get(140));
            assertThat(why)
                    .isEqualTo(new Explanation(GROUP_RATE, 40, 0)
                            .withNextStart(Rate.perSecond(100), Duration.ofMillis(10)))
                    .hasToString("waits for the rate of 100 per second, next start in 10 ms, 40 before it");
            assertThatThrownBy(() -> submit(executor, "a", 1).getFirst().await())
                    .isInstanceOf(RejectedTaskException.class)
                    .hasMessageContaining("rate: 100 per second, next start in 10 ms, 41 of 41 waiting");
            assertThat(executor.tryCall("a", Duration.ZERO, () -> "never")).isEqualTo(Optional.empty());
            executor.shutdownGroup("a");
        }
    }

    @Test
    void the_global_rate_is_explained() {
        try (GroupExecutor executor = executor(policy().globalRate(TEN))) {
            List<TaskHandle<Boolean>> handles = submit(executor, "a", 4);
            assertThat(executor.explain(handles.get(3)))
                    .isEqualTo(new Explanation(GLOBAL_RATE, 1, 0).withNextStart(TEN, Duration.ofMillis(100)));
            executor.shutdownGroup("a");
        }
    }

    @Test
    void a_queue_timeout_runs_on_while_the_rate_keeps_a_task() {
        try (GroupExecutor executor = executor(policy().defaultRatePerGroup(Rate.of(1, Duration.ofSeconds(10)))
                .name("tenants")
                .queueTimeout(Duration.ofSeconds(1))
                .rejectionPolicy(RejectionPolicy.DISCARD))) {
            List<TaskHandle<Boolean>> handles = submit(executor, "a", 2);
            time.advance(Duration.ofSeconds(1));
            assertThat(handles.getLast().join().rejection())
                    .hasToString("queue-timeout: queue timeout after 1000 ms, waits for the rate of 1 per PT10S, "
                            + "next start in 9000 ms, 1 of 100 running, 0 of unlimited waiting")
                    .isEqualTo(new Rejection(
                            Rejection.Reason.QUEUE_TIMEOUT,
                            handles.getLast().join().rejection().text(),
                            "tenants",
                            GROUP_RATE,
                            Duration.ofSeconds(9),
                            new Rejection.Load(1, 100, 0, Integer.MAX_VALUE)));
            steps.runAll();
        }
    }

    @Test
    void a_rejection_by_a_rate_without_a_queue_says_when_the_next_task_may_start() {
        try (GroupExecutor executor = executor(policy().name("tenants")
                .defaultQueueThresholdPerGroup(0)
                .defaultRatePerGroup(Rate.of(1, Duration.ofSeconds(10))))) {
            submit(executor, "a", 1);
            time.advance(Duration.ofSeconds(4));
            TaskHandle<Boolean> refused = submit(executor, "a", 1).getFirst();
            assertThatThrownBy(refused::await)
                    .isInstanceOfSatisfying(RejectedTaskException.class, rejected -> {
                        assertThat(rejected.rejection().nextStart()).isEqualTo(Duration.ofSeconds(6));
                        assertThat(rejected.rejection().executor()).isEqualTo("tenants");
                    })
                    .hasMessageContaining("in group \"a\" of executor \"tenants\" was rejected, rate: 1 per PT10S, "
                            + "next start in 6000 ms, 0 of 0 waiting");
            steps.runAll();
        }
    }

    @Test
    void a_cancelled_waiting_task_uses_nothing_and_a_cancelled_started_one_does() {
        try (GroupExecutor executor = executor(policy().defaultRatePerGroup(TEN))) {
            List<TaskHandle<Boolean>> handles = submit(executor, "a", 5);
            handles.get(0).cancel(true);
            handles.get(2).cancel(true);
            handles.get(3).cancel(true);
            assertThat(steps.size()).isEqualTo(2);
            advance(100, 3);
            steps.runAll();
            assertThat(ran).containsExactly("a1", "a4");
        }
    }

    @Test
    void a_strict_rate_starts_no_more_in_any_second_than_its_count_and_a_bucket_starts_twice_as_many() {
        Rate bucket = Rate.perSecond(25);
        for (Rate rate : List.of(bucket, bucket.strict())) {
            try (GroupExecutor executor = executor(policy().defaultRatePerGroup(rate))) {
                submit(executor, "a", 99);
                time.advance(Duration.ofMillis(999));
                assertThat(steps.size()).as(rate.toString()).isEqualTo(rate.isStrict() ? 25 : 49);
                time.advance(Duration.ofMillis(1));
                assertThat(steps.size()).as(rate.toString()).isEqualTo(50);
                steps.runAll();
            }
        }
    }

    @Test
    void a_strict_rate_outlives_a_hold_an_eviction_and_a_change_and_says_when_the_next_task_starts() {
        Rate strict = Rate.perMinute(3).strict();
        try (GroupExecutor executor =
                executor(policy().idleGroupTtl(Duration.ZERO).defaultRatePerGroup(strict))) {
            submit(executor, "a", 2);
            steps.runAll();
            executor.holdGroup("a", Duration.ofSeconds(10));
            time.advance(Duration.ofSeconds(10));
            List<TaskHandle<Boolean>> handles = submit(executor, "a", 3);
            assertThat(steps.size()).isEqualTo(1);
            assertThat(executor.explain(handles.get(1)))
                    .hasToString("waits for the rate of 3 per minute, strict, next start in 50000 ms, 0 before it");

            executor.evictGroup("a");
            steps.runAll();
            submit(executor, "a", 2);
            assertThat(steps.size()).isZero();
            executor.setRate("a", Rate.perMinute(2).strict());
            time.advance(Duration.ofSeconds(50)); // the start of the last period is one of two
            assertThat(steps.size()).isEqualTo(1);
            time.advance(Duration.ofSeconds(10));
            assertThat(steps.size()).isEqualTo(2);
            steps.runAll();
        }
    }

    @Test
    void a_strict_rate_of_all_groups_counts_them_together_and_a_cost_as_so_many_starts() {
        try (GroupExecutor executor =
                executor(policy().globalRate(Rate.perSecond(4).strict()))) {
            submit(executor, "a", "a0", spec -> spec.cost(3));
            submit(executor, "b", "b0", spec -> spec.cost(2));
            submit(executor, "b", "b1", spec -> spec);
            assertThat(steps.size()).isEqualTo(1);
            advance(999, 1);
            advance(1, 3);
            submit(executor, "a", "a1", spec -> spec.cost(9)); // needs all of the window, and then that of two seconds
            submit(executor, "b", "b2", spec -> spec);
            advance(999, 3);
            advance(1, 4);
            advance(1_999, 4);
            advance(1, 5);
            steps.runAll();
        }
    }

    @Test
    void a_strict_rate_has_no_burst_of_its_own_and_a_bounded_count() {
        assertThat(Rate.of(5, Duration.ofSeconds(1)).burst(1).strict())
                .isEqualTo(Rate.perSecond(5).strict())
                .hasToString("5 per second, strict");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Rate.perSecond(5).strict().burst(2))
                .withMessage(
                        "a strict rate has no burst other than its count, 5, was 2; leave out strict() or burst(2)");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Rate.perMinute(10_001).strict())
                .withMessage("the count of a strict rate must be at most 10000, was 10001; take a shorter period, as "
                        + "10000 in a part of it");
    }

    @Test
    void without_a_queue_tasks_start_at_once_as_far_as_the_global_rate_allows() {
        try (GroupExecutor executor = executor(policy().defaultQueueThresholdPerGroup(0)
                .rejectionPolicy(RejectionPolicy.DISCARD)
                .globalRate(TEN))) {
            List<TaskHandle<Boolean>> handles = submit(executor, "a", 3);
            assertThat(steps.size()).isEqualTo(2);
            assertThat(handles.get(2).join().rejection())
                    .hasToString("rate: 10 per second, burst 2 in all groups, 0 of 0 waiting");
            steps.runAll();
        }
    }

    @Test
    void a_first_task_that_leaves_does_not_keep_the_others_from_the_global_rate() throws Exception {
        try (GroupExecutor executor =
                executor(policy().defaultMaxConcurrencyPerGroup(1_000).globalRate(Rate.of(100, Duration.ofHours(1))))) {
            submit(executor, "a", 1);
            assertThat(executor.tryCall(
                            "a",
                            Duration.ZERO,
                            TaskSpec.named("call", () -> "never").cost(200)))
                    .isEmpty();
            submit(executor, "b", 1);
            assertThat(steps.size()).isEqualTo(2);

            TaskHandle<Boolean> wide = submit(executor, "a", "wide", spec -> spec.cost(200));
            TaskHandle<Boolean> next = submit(executor, "b", "next", spec -> spec);
            assertThat(steps.size()).isEqualTo(2);
            wide.cancel(false);
            assertThat(steps.size()).isEqualTo(3);
            steps.runAll();
            assertThat(next.join().isSuccess()).isTrue();
        }
    }

    @Test
    void a_slow_group_does_not_keep_others_from_being_removed() {
        try (GroupExecutor executor = executor(policy().idleGroupTtl(Duration.ofSeconds(2))
                .perGroupRate(Map.of("slow", Rate.of(1, Duration.ofDays(1)))))) {
            submit(executor, "slow", 1);
            steps.runAll();
            time.advance(Duration.ofSeconds(3));
            submit(executor, "other", 1);
            steps.runAll();
            int alarms = time.alarms();
            time.advance(Duration.ofSeconds(5));
            assertThat(time.alarms()).isEqualTo(alarms);
            assertThat(executor.toString()).contains(" 1 groups");
        }
    }

    @Test
    void nothing_is_left_of_a_hundred_thousand_keys_used_once_when_their_buckets_are_full() {
        int keys = 100_000;
        try (GroupExecutor executor = executor(
                policy().idleGroupTtl(Duration.ofSeconds(1)).maxIdleGroups(10).defaultRatePerGroup(TEN))) {
            List<WeakReference<Group>> groups = new ArrayList<>(keys);
            for (int key = 0; key < keys; key++) {
                executor.submit("key" + key, "once", () -> "value");
                groups.add(new WeakReference<>(executor.engine.groups.get("key" + key)));
            }
            steps.runAll();
            assertThat(executor.engine.groups).as("remembered").hasSize(keys);

            time.advance(Duration.ofSeconds(3));

            assertThat(executor.engine.groups).isEmpty();
            assertThat(time.alarms()).isZero();
            awaitCleared(groups);
        }
    }

    private static void awaitCleared(List<WeakReference<Group>> groups) {
        long retained = groups.size();
        for (int collection = 0; collection < 50 && retained > 0; collection++) {
            System.gc();
            retained = groups.stream().filter(group -> !group.refersTo(null)).count();
        }
        assertThat(retained).isZero();
    }

    @Test
    void equal_rates_share_one_object_and_as_many_different_ones_as_keys_are_not_kept() {
        RateLimits limits = new RateLimits();
        RateLimit ten = limits.of(Rate.perSecond(10));
        assertThat(limits.of(Rate.perSecond(20))).isNotSameAs(ten);
        assertThat(limits.of(Rate.of(10, Duration.ofMillis(1_000)))).isSameAs(ten);

        List<WeakReference<RateLimit>> other = new ArrayList<>();
        for (int count = 1; count <= 1_000; count++) {
            other.add(new WeakReference<>(limits.of(Rate.perSecond(count).burst(3))));
        }
        System.gc();
        assertThat(other.stream().filter(limit -> !limit.refersTo(null)).count())
                .isLessThan(1_000);
        assertThat(limits.of(null)).isNull();
    }

    @Test
    void a_closed_executor_leaves_no_alarm() {
        GroupExecutor executor = executor(policy().defaultRatePerGroup(Rate.of(1, Duration.ofDays(1)))
                .globalRate(Rate.of(2, Duration.ofDays(2)))
                .closeTimeout(Duration.ZERO));
        submit(executor, "a", 3);
        submit(executor, "b", 3);
        executor.holdGroup("c", Duration.ofDays(3));
        steps.runAll();
        executor.close();
        assertThat(time.alarms()).isZero();
    }

    @Test
    void a_paused_group_that_was_shut_down_is_resumed_although_it_is_remembered() {
        try (GroupExecutor executor = executor(policy().defaultRatePerGroup(TEN))) {
            submit(executor, "a", 1);
            steps.runAll();
            executor.pauseGroup("a");
            assertThat(executor.shutdownGroup("a", Duration.ZERO)).isTrue();
            submit(executor, "a", 1);
            assertThat(steps.size()).isEqualTo(1);
            steps.runAll();
        }
    }

    @Test
    void a_paused_group_that_used_its_burst_is_resumed_by_its_shutdown_and_keeps_to_its_rate() {
        try (GroupExecutor executor = executor(policy().defaultRatePerGroup(TEN))) {
            submit(executor, "a", 2);
            steps.runAll();
            executor.pauseGroup("a");
            assertThat(executor.shutdownGroup("a", Duration.ofSeconds(1))).isTrue();

            submit(executor, "a", 1);
            assertThat(steps.size()).isZero();
            advance(100, 1);
            steps.runAll();
        }
    }

    @Test
    void groups_share_a_global_rate_although_one_came_first() {
        try (GroupExecutor executor = executor(policy().globalRate(TEN))) {
            submit(executor, "a", 50);
            for (int i = 0; i < 20; i++) {
                time.advance(Duration.ofMillis(100));
            }
            submit(executor, "b", 50);
            steps.runAll();
            ran.clear();
            for (int i = 0; i < 20; i++) {
                time.advance(Duration.ofMillis(100));
            }
            steps.runAll();
            assertThat(ran.stream().filter(each -> each.startsWith("a")).count())
                    .isBetween(8L, 12L);
            executor.shutdown();
        }
    }
}
