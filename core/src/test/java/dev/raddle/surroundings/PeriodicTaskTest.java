package dev.raddle.surroundings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.scope.ScopeOptions;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Task;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A periodic task that stops is reported, and may skip the rounds that it has missed. */
class PeriodicTaskTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    /** The ways in which a job is repeated. */
    enum Rhythm {
        RATE,
        RATE_SKIPPING,
        DELAY;

        Task<?> schedule(ThreadScope scope, Runnable job) {
            return schedule(scope, SECOND, job);
        }

        Task<?> schedule(ThreadScope scope, Duration delay, Runnable job) {
            return switch (this) {
                case RATE -> scope.scheduleAtFixedRate(delay, SECOND, job);
                case RATE_SKIPPING -> scope.scheduleAtFixedRateSkippingMissed(delay, SECOND, job);
                case DELAY -> scope.scheduleWithFixedDelay(delay, SECOND, job);
            };
        }
    }

    /** Virtual time whose clock may fail once, and whose alarms may fail. */
    private static final class BrokenTime implements TimeSource {
        private final VirtualTime time = new VirtualTime();
        private boolean isClockBroken;
        private boolean areAlarmsBroken;

        @Override
        public long nanoTime() {
            if (isClockBroken) {
                isClockBroken = false;
                throw new IllegalStateException("clock is broken");
            }
            return time.nanoTime();
        }

        @Override
        public Alarm after(Duration delay, Runnable action) {
            if (areAlarmsBroken) {
                throw new IllegalStateException("no alarm");
            }
            return time.after(delay, action);
        }

        @Override
        public boolean follow(Runnable action) {
            return time.follow(action);
        }
    }

    private final BrokenTime time = new BrokenTime();
    private final StepScheduler steps = new StepScheduler();
    private final AtomicInteger rounds = new AtomicInteger();
    private final List<Throwable> reported = new ArrayList<>();
    private final List<String> sources = new ArrayList<>();
    private final ScopeOptions options = ScopeOptions.defaults()
            .withTimeSource(time)
            .withScheduler(steps)
            .withExceptionSink(ExceptionSink.to((source, error) -> {
                sources.add(source);
                reported.add(error);
            }));

    private void advance(Duration length) {
        time.time.advance(length);
        while (steps.runNext()) {
            time.time.advance(Duration.ZERO);
        }
    }

    @ParameterizedTest
    @EnumSource
    void with_a_negative_delay_the_first_round_begins_now_and_none_was_missed(Rhythm rhythm) {
        try (ThreadScope scope = ThreadScope.open("heart", options)) {
            rhythm.schedule(scope, Duration.ofMillis(-2500), rounds::incrementAndGet);
            advance(Duration.ZERO);
            assertThat(rounds).hasValue(1);
            advance(SECOND.minusNanos(1));
            assertThat(rounds).hasValue(1);
            advance(Duration.ofNanos(1));

            assertThat(rounds).hasValue(2);
            assertThat(scope.metrics().totalWait()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_round_that_throws_is_reported_once_and_stops_the_job(Rhythm rhythm) {
        IllegalStateException lost = new IllegalStateException("lost");
        try (ThreadScope scope = ThreadScope.open("heart", options)) {
            Task<?> job = rhythm.schedule(scope, () -> {
                if (rounds.incrementAndGet() == 2) {
                    throw lost;
                }
            });
            advance(SECOND);
            assertThat(reported).isEmpty();
            advance(SECOND);
            advance(SECOND.multipliedBy(9));

            assertThat(rounds).hasValue(2);
            assertThat(reported).containsExactly(lost);
            assertThat(sources.getFirst()).contains(job.name(), "heart", "stops");
            assertThat(job.state()).isEqualTo(Task.State.FAILED);
        }
    }

    @Test
    void an_attempt_that_another_one_follows_is_not_reported_and_the_job_goes_on() {
        try (ThreadScope scope = ThreadScope.open("heart", options.withRetryPolicy(RetryPolicy.attempts(2)))) {
            Task<?> job = Rhythm.RATE.schedule(scope, () -> {
                if (rounds.incrementAndGet() % 2 == 1) {
                    throw new IllegalStateException("once");
                }
            });
            advance(SECOND);
            advance(SECOND);

            assertThat(rounds).hasValue(4);
            assertThat(reported).isEmpty();
            assertThat(job.state()).isEqualTo(Task.State.PENDING);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_job_that_is_cancelled_is_not_reported(Rhythm rhythm) {
        try (ThreadScope scope = ThreadScope.open("heart", options)) {
            rhythm.schedule(scope, rounds::incrementAndGet).cancel();
            rhythm.schedule(scope, rounds::incrementAndGet);
            time.time.advance(SECOND);
            scope.cancel("over");
            steps.runAll();
        }

        assertThat(rounds).hasValue(0);
        assertThat(reported).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void a_job_whose_next_round_cannot_be_scheduled_fails_and_is_reported(Rhythm rhythm) {
        try (ThreadScope scope = ThreadScope.open("heart", options)) {
            Task<?> job = rhythm.schedule(scope, () -> {
                rounds.incrementAndGet();
                time.areAlarmsBroken = true;
            });
            advance(SECOND);
            time.areAlarmsBroken = false;
            advance(SECOND);

            assertThat(rounds).hasValue(1);
            assertThat(job.state()).isEqualTo(Task.State.FAILED);
            assertThat(reported).extracting(Throwable::getMessage).containsExactly("no alarm");
        }
    }

    @Test
    void a_job_whose_round_cannot_be_submitted_fails_and_is_reported() {
        ScopeOptions retrying = options.withRetryPolicy(RetryPolicy.attempts(2)).withDeadline(SECOND.multipliedBy(9));
        try (ThreadScope scope = ThreadScope.open("heart", retrying)) {
            Task<?> job = Rhythm.RATE.schedule(scope, rounds::incrementAndGet);
            time.time.after(SECOND.minusMillis(1), () -> time.isClockBroken = true);
            time.time.advance(SECOND);

            assertThat(rounds).hasValue(0);
            assertThat(job.state()).isEqualTo(Task.State.FAILED);
            assertThat(reported).extracting(Throwable::getMessage).containsExactly("clock is broken");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_job_whose_first_round_cannot_be_scheduled_is_refused_and_leaves_nothing(Rhythm rhythm) {
        BiFunction<ThreadScope, Runnable, Task<?>> later = (scope, action) -> scope.schedule(SECOND, action);
        try (ThreadScope scope = ThreadScope.open("heart", options)) {
            scope.submit(() -> 1);
            steps.runAll();
            time.areAlarmsBroken = true;
            assertThatThrownBy(() -> rhythm.schedule(scope, rounds::incrementAndGet))
                    .hasMessage("no alarm");
            assertThatThrownBy(() -> later.apply(scope, rounds::incrementAndGet))
                    .hasMessage("no alarm");
            time.areAlarmsBroken = false;
            advance(SECOND);

            assertThat(rounds).hasValue(0);
            assertThat(scope.metrics().submitted()).isEqualTo(1);
            assertThat(scope.metrics().cancelledBeforeStart()).isZero();
        }
    }

    @Test
    void missed_rounds_at_a_fixed_rate_follow_each_other_at_once() {
        try (ThreadScope scope = ThreadScope.open("heart", options)) {
            Rhythm.RATE.schedule(scope, rounds::incrementAndGet);
            time.time.advance(SECOND); // the first round waits for its thread
            advance(SECOND.multipliedBy(100));

            assertThat(rounds).hasValue(101);
        }
    }

    @Test
    void missed_rounds_are_skipped_if_that_is_wanted_and_the_rhythm_is_kept() {
        List<Long> moments = new ArrayList<>();
        try (ThreadScope scope = ThreadScope.open("heart", options)) {
            Rhythm.RATE_SKIPPING.schedule(
                    scope, () -> moments.add(Duration.ofNanos(time.nanoTime()).toMillis()));
            time.time.advance(SECOND); // the first round waits for its thread
            advance(Duration.ofMillis(100_300));
            advance(Duration.ofMillis(699));
            assertThat(moments).containsExactly(101_300L);
            advance(Duration.ofMillis(1));
            advance(SECOND);
            assertThat(moments).containsExactly(101_300L, 102_000L, 103_000L);
        }
    }

    @Test
    void a_round_whose_moment_is_now_is_not_skipped() {
        try (ThreadScope scope = ThreadScope.open("heart", options)) {
            Rhythm.RATE_SKIPPING.schedule(scope, rounds::incrementAndGet);
            time.time.advance(SECOND);
            advance(SECOND); // the first round ends at the moment of the second

            assertThat(rounds).hasValue(2);
        }
    }
}
