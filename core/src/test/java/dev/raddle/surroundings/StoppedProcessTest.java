package dev.raddle.surroundings;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.group.AdaptiveLimit;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.task.Rate;
import dev.raddle.task.Scheduler;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A time in which the process was stopped is charged to no group, and no limit takes it for a slow callee. */
@Timeout(60)
class StoppedProcessTest {

    private static final Duration RUN = Duration.ofMillis(10);
    private static final int TASKS = 400;

    /** A clock that goes on while the process, and so its alarms, are stopped. */
    private static final class Stoppable implements TimeSource {
        private final VirtualTime running = new VirtualTime();
        private long stoppedNanos;

        @Override
        public long nanoTime() {
            return running.nanoTime() + stoppedNanos;
        }

        @Override
        public Alarm after(Duration delay, Runnable action) {
            return running.after(delay, action);
        }

        void stopFor(Duration length) {
            stoppedNanos += length.toNanos();
        }
    }

    private final Stoppable time = new Stoppable();
    private final StepScheduler a = new StepScheduler();
    private final StepScheduler b = new StepScheduler();
    private final Map<String, Scheduler> schedulers = Map.of("a", a, "b", b);

    private final AtomicReference<Runnable> longer = new AtomicReference<>(() -> {}); // for the next task of "a"

    private GroupPolicy.Builder policy() {
        return GroupPolicy.builder()
                .scheduler(schedulers::get)
                .closeTimeout(Duration.ZERO)
                .timeSource(time);
    }

    /** Opens an executor with one slot, for which two groups of equal weight compete with tasks of 10 ms. */
    private GroupExecutor competing(TimeSource clock) {
        GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                policy().timeSource(clock).globalMaxInFlight(1).build());
        for (int i = 0; i < TASKS; i++) {
            executor.submit("a", () -> {
                longer.getAndSet(() -> {}).run();
                time.running.advance(RUN);
                return 1;
            });
            executor.submit("b", () -> {
                time.running.advance(RUN);
                return 1;
            });
        }
        step(10);
        return executor;
    }

    /** Runs some tasks, one after the other. Returns how many of them were of "b". */
    private int step(int tasks) {
        int ofB = 0;
        for (int i = 0; i < tasks; i++) {
            if (b.runNext()) {
                ofB++;
            } else {
                a.runNext();
            }
        }
        return ofB;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 20, 8 * 3_600})
    void a_stop_of_any_length_is_not_charged_to_the_group_that_held_the_slot(long seconds) {
        try (GroupExecutor executor = competing(time)) {
            longer.set(() -> time.stopFor(Duration.ofSeconds(seconds)));

            assertThat(step(100)).isBetween(40, 60);
            assertThat(executor.stats().totalActiveCount()).isEqualTo(1);
        }
    }

    @Test
    void a_task_that_runs_long_while_the_process_runs_is_charged_for_all_of_it() {
        try (GroupExecutor executor = competing(time)) {
            longer.set(() -> time.running.advance(Duration.ofSeconds(20)));

            assertThat(step(100)).isGreaterThan(90);
            assertThat(executor.stats().totalActiveCount()).isEqualTo(1);
        }
    }

    @Test
    void a_jump_of_a_virtual_time_is_no_stop() {
        try (GroupExecutor executor = competing(time.running)) {
            assertThat(time.running.alarms()).isZero();
            longer.set(() -> time.running.advance(Duration.ofSeconds(20)));

            assertThat(step(100)).isGreaterThan(90);
            assertThat(executor.stats().totalActiveCount()).isEqualTo(1);
        }
    }

    @Test
    void no_alarm_remains_when_nothing_runs_and_after_the_close() {
        GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                policy().globalMaxInFlight(1).idleGroupTtl(Duration.ZERO).build());
        for (int i = 0; i < 4; i++) {
            executor.submit("a", () -> 1);
        }
        step(2);
        assertThat(time.running.alarms()).isEqualTo(1);
        a.runAll();
        time.running.advance(Duration.ofSeconds(1));
        assertThat(time.running.alarms()).isZero();

        for (int i = 0; i < 4; i++) {
            executor.submit("a", () -> 1);
        }
        step(2);
        assertThat(time.running.alarms()).isEqualTo(1);
        executor.close();
        assertThat(time.running.alarms()).isZero();
    }

    @Test
    void an_adaptive_limit_does_not_count_the_tasks_that_a_stop_has_lengthened() {
        AtomicInteger stops = new AtomicInteger(3);
        List<AdaptiveLimit.Sample> samples = new ArrayList<>();
        AdaptiveLimit limit = AdaptiveLimit.custom(sample -> {
                    samples.add(sample);
                    return sample.limit();
                })
                .initial(1);
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                policy().adaptiveLimit(key -> limit).build())) {
            for (int i = 0; i < TASKS; i++) {
                executor.submit("a", () -> {
                    time.running.advance(RUN);
                    if (samples.size() == 1 && stops.getAndDecrement() > 0) {
                        time.stopFor(Duration.ofSeconds(20));
                    }
                    return 1;
                });
            }
            while (a.runNext()) {
                assertThat(samples).hasSizeLessThan(TASKS);
            }
        }

        assertThat(samples)
                .hasSizeGreaterThan(1)
                .allSatisfy(sample -> assertThat(sample.meanNanos()).isEqualTo(RUN.toNanos()));
    }

    @Test
    void an_idle_group_is_removed_after_a_stop_of_26_days() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                policy().idleGroupTtl(Duration.ofSeconds(1)).build())) {
            executor.submit("a", () -> 1);
            a.runAll();
            assertThat(executor.groupStats("a")).isPresent();

            time.stopFor(Duration.ofDays(26));
            time.running.advance(Duration.ofSeconds(1));
            Wait.until(() -> executor.groupStats("a").isEmpty());
        }
    }

    @Test
    void a_rate_allows_one_burst_after_a_stop() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                policy().rateResolver(key -> Rate.perSecond(10).burst(5)).build())) {
            for (int i = 0; i < TASKS; i++) {
                executor.submit("a", () -> 1);
            }
            a.runAll();
            time.stopFor(Duration.ofHours(1));
            time.running.advance(Duration.ofMillis(99));
            executor.submit("a", () -> 1);

            assertThat(a.size()).isLessThanOrEqualTo(5);
        }
    }
}
