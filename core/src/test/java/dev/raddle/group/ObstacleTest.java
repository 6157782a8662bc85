package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.Rate;
import dev.raddle.task.Rejection;
import dev.raddle.task.WaitReason;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Why a task waits and why one is rejected behind it is one decision. */
class ObstacleTest {

    private static final Rate ONE = Rate.of(1, Duration.ofSeconds(10));

    private final VirtualTime time = new VirtualTime();
    private final StepScheduler steps = new StepScheduler();

    /** What keeps a task of group "a" waiting, where the queue has room for one task. */
    private enum Situation {
        LIMIT(WaitReason.GROUP_LIMIT, "group-queue", policy -> policy.defaultMaxConcurrencyPerGroup(1)),
        BULKHEAD(WaitReason.BULKHEAD, "bulkhead", policy -> policy.defaultMaxInFlightPerGroup(1)),
        CAP(WaitReason.GLOBAL_CAP, "group-queue", policy -> policy.globalMaxInFlight(1)),
        COMMON_QUEUE(
                WaitReason.GROUP_LIMIT,
                "global-queue",
                policy -> policy.defaultMaxConcurrencyPerGroup(1)
                        .defaultQueueThresholdPerGroup(2)
                        .globalQueueThreshold(1)),
        RATE(WaitReason.GROUP_RATE, "rate", policy -> policy.defaultRatePerGroup(ONE)),
        COMMON_RATE(WaitReason.GLOBAL_RATE, "rate", policy -> policy.globalRate(ONE)),
        FLEET(WaitReason.FLEET_LIMIT, "permits", policy -> policy.permits(new FakePermits())),
        HOLD(WaitReason.HOLD, "group-queue", policy -> policy, executor -> executor.holdGroup("a", ONE.period())),
        BREAKER(
                WaitReason.BREAKER,
                "group-queue",
                policy -> policy.breaker(key -> CircuitBreaker.failureRate(1).openWaits()),
                executor -> executor.openBreaker("a", ONE.period())),
        PAUSE(WaitReason.PAUSED, "group-queue", policy -> policy, executor -> executor.pauseGroup("a"));

        final WaitReason obstacle;
        final String word;
        final UnaryOperator<GroupPolicy.Builder> limits;
        final Consumer<GroupExecutor> change;

        Situation(WaitReason obstacle, String word, UnaryOperator<GroupPolicy.Builder> limits) {
            this(obstacle, word, limits, executor -> {});
        }

        Situation(
                WaitReason obstacle,
                String word,
                UnaryOperator<GroupPolicy.Builder> limits,
                Consumer<GroupExecutor> change) {
            this.obstacle = obstacle;
            this.word = word;
            this.limits = limits;
            this.change = change;
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_obstacle_of_a_rejected_task_is_what_the_one_before_it_waits_for(Situation situation) {
        GroupPolicy.Builder policy = TestTasks.stepped(steps)
                .timeSource(time)
                .rejectionPolicy(RejectionPolicy.DISCARD)
                .defaultMaxConcurrencyPerGroup(10)
                .defaultQueueThresholdPerGroup(1);
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                situation.limits.apply(policy).build())) {
            executor.submit("a", "runs", () -> 1);
            situation.change.accept(executor);
            if (steps.size() == 1) {
                executor.submit("a", "waits", () -> 1);
            }

            Explanation why = executor.explainNext("a").orElseThrow();
            TaskHandle<Integer> rejected = executor.submit("a", "rejected", () -> 1);

            assertThat(why.waitingFor()).isEqualTo(situation.obstacle);
            Rejection rejection = Objects.requireNonNull(rejected.join().rejection());
            assertThat(rejection.obstacle()).isEqualTo(situation.obstacle);
            assertThat(rejection.reason()).hasToString(situation.word);
            assertThat(rejection.nextStart()).isEqualTo(why.nextStart());
            executor.resumeGroup("a");
            executor.evictGroup("a");
            steps.runAll();
        }
    }
}
