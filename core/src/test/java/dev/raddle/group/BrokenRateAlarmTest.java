package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Rate;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tasks that wait for a rate while the time source cannot arm an alarm. */
@Timeout(60)
class BrokenRateAlarmTest {

    private static final int MANY = 10_000;
    private static final Rate TEN = Rate.perSecond(10).burst(2);
    private static final Duration INTERVAL = Duration.ofMillis(100);

    /** Virtual time whose next alarms cannot be armed. */
    private static final class BreakableTime implements TimeSource {
        private final VirtualTime time = new VirtualTime();
        private int failures; // of the next calls
        private int failed;
        private int deepest; // stack of a call that failed

        @Override
        public long nanoTime() {
            return time.nanoTime();
        }

        @Override
        public Alarm after(Duration delay, Runnable action) {
            if (failures > 0) {
                failures--;
                failed++;
                deepest = Math.max(deepest, new Throwable().getStackTrace().length);
                throw new ArithmeticException("no alarm");
            }
            return time.after(delay, action);
        }

        @Override
        public boolean follow(Runnable action) {
            return time.follow(action);
        }
    }

    private final BreakableTime time = new BreakableTime();
    private final StepScheduler steps = new StepScheduler();
    private final List<Throwable> reported = new CopyOnWriteArrayList<>();

    private GroupPolicy.Builder policy() {
        return TestTasks.stepped(steps)
                .timeSource(time)
                .idleGroupTtl(Duration.ZERO)
                .exceptionSink(ExceptionSink.to((source, failure) -> reported.add(failure)))
                .defaultMaxConcurrencyPerGroup(2 * MANY);
    }

    private static List<TaskHandle<String>> submit(GroupExecutor executor, int groups) {
        List<TaskHandle<String>> handles = new ArrayList<>(MANY);
        for (int task = 0; task < MANY; task++) {
            handles.add(executor.submit("g" + task % groups, "task", () -> "value"));
        }
        return handles;
    }

    // R3
    @ParameterizedTest
    @CsvSource({"1, false", "1000000, false", "1, true", "1000000, true"})
    void every_waiting_task_settles_when_the_alarm_of_a_rate_cannot_be_armed(int failures, boolean global) {
        GroupPolicy.Builder rated = global ? policy().globalRate(TEN) : policy().defaultRatePerGroup(TEN);
        int groups = global ? 100 : 1;
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(rated.build())) {
            List<TaskHandle<String>> handles = submit(executor, groups);
            assertThat(steps.size()).isEqualTo(2);
            assertThat(executor.stats().totalQueuedCount()).isEqualTo(MANY - 2);

            time.failures = failures;
            time.time.advance(INTERVAL); // one more starts, and the alarm for the next cannot be armed
            steps.runAll();

            assertThat(handles).allMatch(TaskHandle::isDone);
            assertThat(handles.stream().filter(each -> each.join().isSuccess())).hasSize(3);
            assertThat(executor.stats().totalQueuedCount()).isZero();
            assertThat(time.failed).as("alarms that failed").isLessThan(10);
            assertThat(time.deepest).as("frames").isLessThan(200);

            time.failures = 0;
            TaskHandle<String> first = executor.submit("g0", "first", () -> "value");
            TaskHandle<String> second = executor.submit("g0", "second", () -> "value");
            time.time.advance(INTERVAL);
            time.time.advance(INTERVAL);
            steps.runAll();
            assertThat(first.join().value()).isEqualTo("value");
            assertThat(second.join().value()).isEqualTo("value");
        }
    }

    // R3
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void a_task_that_has_to_wait_settles_although_no_alarm_can_be_armed(boolean global) {
        GroupPolicy.Builder rated = global ? policy().globalRate(TEN) : policy().defaultRatePerGroup(TEN);
        time.failures = Integer.MAX_VALUE;
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(rated.build())) {
            List<TaskHandle<String>> handles = submit(executor, 1);
            assertThat(steps.size()).isEqualTo(2);
            steps.runAll();
            assertThat(handles).allMatch(TaskHandle::isDone);
            time.failures = 0;
        }
    }

    // R7
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void a_hold_whose_alarm_cannot_be_armed_has_no_effect(boolean second) {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy().build())) {
            if (second) {
                executor.holdGroup("g0", Duration.ofSeconds(1));
            }
            time.failures = 1;
            assertThatThrownBy(() -> executor.holdGroup("g0", Duration.ofSeconds(9)))
                    .isInstanceOf(ArithmeticException.class);
            awaitHold(executor, second);
            TaskHandle<String> task = executor.submit("g0", "task", () -> "value");
            if (second) {
                assertThat(steps.size()).isZero();
                time.time.advance(Duration.ofSeconds(1));
            }
            assertThat(steps.size()).isEqualTo(1);
            steps.runAll();
            assertThat(task.join().value()).isEqualTo("value");
        }
    }

    /** Waits until the failed hold, which another thread undoes, is gone. */
    @SuppressWarnings("ThreadPriorityCheck") // the awaited thread may need this processor
    private static void awaitHold(GroupExecutor executor, boolean first) {
        Duration expected = first ? Duration.ofSeconds(1) : null;
        while (!Objects.equals(
                executor.groupStats("g0").map(GroupStats::holdLeft).orElse(null), expected)) {
            Thread.yield();
        }
    }
}
