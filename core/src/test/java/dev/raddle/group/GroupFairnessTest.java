package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.raddle.task.TaskSpec;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.concurrent.CountDownLatch;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GroupFairnessTest {

    private static final Percentage TWO_PERCENT = Percentage.withPercentage(2);

    /**
     * A simulation of tasks with given durations, on a clock that advances from the end of one task to the end of the
     * next. Between two steps every thread is inside its task or has ended, so the result does not depend on timing.
     */
    private static final class Simulation implements AutoCloseable {

        private record Inside(long number, String key, int cost, long start, long end, CountDownLatch exit) {}

        private final VirtualTime time = new VirtualTime();
        private final GroupExecutor executor;
        private final Map<Long, TaskHandle<Long>> handles = new HashMap<>();
        private final Map<String, Long> slotMillis = new HashMap<>();
        private final PriorityQueue<Inside> inside = new PriorityQueue<>(
                Comparator.comparingLong(Inside::end).thenComparingLong(Inside::number)); // guarded by this
        private int slotsInside; // guarded by this

        Simulation(GroupPolicy.Builder rules) {
            executor = GroupExecutor.newVirtualThreadExecutor(
                    rules.timeSource(time).closeTimeout(Duration.ZERO).build());
        }

        /** Submits a task whose value is the moment of its start. */
        TaskHandle<Long> submit(String key, long millis, int cost) {
            long number = handles.size();
            TaskHandle<Long> handle = executor.submit(
                    key,
                    TaskSpec.named("t" + number, () -> enter(number, key, millis, cost))
                            .cost(cost));
            handles.put(number, handle);
            return handle;
        }

        void flood(String key, int count, long millis) {
            for (int i = 0; i < count; i++) {
                submit(key, millis, 1);
            }
        }

        private long enter(long number, String key, long millis, int cost) throws InterruptedException {
            Inside self = new Inside(number, key, cost, now(), now() + millis, new CountDownLatch(1));
            synchronized (this) {
                inside.add(self);
                slotsInside += cost;
                notifyAll();
            }
            self.exit.await();
            return self.start;
        }

        long now() {
            return Duration.ofNanos(time.nanoTime()).toMillis();
        }

        /** Waits until all granted tasks have begun. */
        synchronized void settle() throws InterruptedException {
            while (slotsInside < executor.stats().totalActiveCount()) {
                wait();
            }
        }

        /** Advances the time to the end of the next task, and waits until the tasks that this starts have begun. */
        void step() throws InterruptedException {
            settle();
            Inside next;
            synchronized (this) {
                next = inside.remove();
                slotsInside -= next.cost;
            }
            time.advance(Duration.ofMillis(next.end - now()));
            slotMillis.merge(next.key, (next.end - next.start) * next.cost, Long::sum);
            next.exit.countDown();
            handles.get(next.number).await();
            settle();
        }

        void runUntil(long millis) throws InterruptedException {
            while (now() < millis) {
                step();
            }
        }

        long slotMillis(String key) {
            return slotMillis.get(key);
        }

        int waiting(String key) {
            return executor.groupStats(key).orElseThrow().queuedCount();
        }

        @Override
        public void close() {
            executor.close(); // interrupts what is inside
        }
    }

    @Tag("S11")
    @ParameterizedTest
    @ValueSource(ints = {10, 1_000, 20_000})
    void another_group_starts_within_two_task_lengths_regardless_of_the_length_of_a_flood(int flood) throws Exception {
        GroupPolicy.Builder rules =
                GroupPolicy.builder().defaultMaxConcurrencyPerGroup(1_000).globalMaxInFlight(4);

        try (Simulation simulation = new Simulation(rules)) {
            simulation.flood("a", flood, 10);
            simulation.step();
            TaskHandle<Long> early =
                    simulation.submit("b", 10, 1); // three tasks of A have ended or end now, one has begun
            long submitted = simulation.now();
            while (!early.isDone()) {
                simulation.step();
            }

            assertThat(early.await().value() - submitted).isBetween(0L, 20L);
        }
    }

    @Tag("S11")
    @Test
    void a_group_that_is_busy_from_time_to_time_starts_within_two_task_lengths_every_time_during_a_flood()
            throws Exception {
        GroupPolicy.Builder rules =
                GroupPolicy.builder().defaultMaxConcurrencyPerGroup(1_000).globalMaxInFlight(4);

        try (Simulation simulation = new Simulation(rules)) {
            simulation.flood("a", 5_000, 10);
            for (int visit = 0; visit < 100; visit++) {
                long submitted = simulation.now();
                TaskHandle<Long> visitor = simulation.submit("b", 10, 1);
                while (!visitor.isDone()) {
                    simulation.step();
                }
                assertThat(visitor.await().value() - submitted)
                        .as("visit " + visit)
                        .isBetween(0L, 20L);
            }
            assertThat(simulation.waiting("a")).isPositive();
        }
    }

    @Tag("S11")
    @Test
    void another_group_starts_within_two_task_lengths_during_many_floods() throws Exception {
        GroupPolicy.Builder rules =
                GroupPolicy.builder().defaultMaxConcurrencyPerGroup(1_000).globalMaxInFlight(4);

        try (Simulation simulation = new Simulation(rules)) {
            for (int group = 0; group < 50; group++) {
                simulation.flood("flood" + group, 100, 10);
            }
            simulation.runUntil(200);
            long submitted = simulation.now();
            TaskHandle<Long> visitor = simulation.submit("b", 10, 1);
            while (!visitor.isDone()) {
                simulation.step();
            }

            assertThat(visitor.await().value() - submitted).isBetween(0L, 20L);
        }
    }

    @Tag("S12")
    @Test
    void tasks_that_wait_for_their_group_leave_the_slots_of_the_cap_to_others() {
        StepScheduler steps = new StepScheduler();
        GroupPolicy policy = TestTasks.stepped(steps)
                .perGroupMaxConcurrency(Map.of("b", 10))
                .globalMaxInFlight(4)
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            for (int i = 0; i < 101; i++) {
                executor.submit("a", "a" + i, () -> "x");
            }
            for (int i = 0; i < 5; i++) {
                executor.submit("b", "b" + i, () -> "x");
            }

            assertThat(executor.groupStats("a").orElseThrow())
                    .isEqualTo(new GroupStats("a", 1, 100, 1, Integer.MAX_VALUE));
            assertThat(executor.groupStats("b").orElseThrow())
                    .isEqualTo(new GroupStats("b", 3, 2, 10, Integer.MAX_VALUE));
        }
    }

    @Tag("S15")
    @ParameterizedTest
    @CsvSource({
        "1, 10, 10, 10",
        "4, 10, 10, 10",
        "7, 10, 10, 10",
        "4, 20,  3,  7", // the shares are of time, independent of the durations
        "4,  3,  7, 20",
    })
    void under_the_cap_groups_get_slot_time_in_proportion_to_their_weights(int cap, long a, long b, long c)
            throws Exception {
        Map<String, Integer> weights = Map.of("a", 1, "b", 2, "c", 4);
        GroupPolicy.Builder rules = GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(1_000)
                .weightResolver(weights::get)
                .globalMaxInFlight(cap);
        long end = 14_000 / cap;

        try (Simulation simulation = new Simulation(rules)) {
            simulation.flood("a", (int) (14_000 / a), a);
            simulation.flood("b", (int) (14_000 / b), b);
            simulation.flood("c", (int) (14_000 / c), c);
            simulation.runUntil(end);
            for (String key : weights.keySet()) {
                assertThat(simulation.waiting(key)).isPositive(); // demand exceeded supply to the end
            }

            assertThat(simulation.slotMillis("a")).isCloseTo(2_000L, within(40L + cap * a));
            assertThat(simulation.slotMillis("b")).isCloseTo(4_000L, within(80L + cap * b));
            assertThat(simulation.slotMillis("c")).isCloseTo(8_000L, within(160L + cap * c));
        }
    }

    @Tag("S15")
    @Test
    void groups_of_equal_weight_get_equal_slot_time_although_the_tasks_of_one_take_ten_times_as_long()
            throws Exception {
        GroupPolicy.Builder rules =
                GroupPolicy.builder().defaultMaxConcurrencyPerGroup(1_000).globalMaxInFlight(4);

        try (Simulation simulation = new Simulation(rules)) {
            simulation.flood("long", 2_000, 20);
            simulation.flood("short", 15_000, 2);
            simulation.runUntil(10_000);
            assertThat(simulation.waiting("long")).isPositive();
            assertThat(simulation.waiting("short")).isPositive();

            assertThat(simulation.slotMillis("short")).isCloseTo(simulation.slotMillis("long"), TWO_PERCENT);
            assertThat(simulation.slotMillis("short")).isCloseTo(20_000L, TWO_PERCENT);
        }
    }

    @Tag("S15")
    @Test
    void a_task_that_takes_two_slots_is_charged_for_two() throws Exception {
        GroupPolicy.Builder rules =
                GroupPolicy.builder().defaultMaxConcurrencyPerGroup(1_000).globalMaxInFlight(5);

        try (Simulation simulation = new Simulation(rules)) {
            for (int i = 0; i < 1_500; i++) {
                simulation.submit("wide", 10, 2);
                simulation.submit("narrow", 10, 1);
                simulation.submit("narrow", 10, 1);
            }
            simulation.runUntil(5_000);
            assertThat(simulation.waiting("wide")).isPositive();
            assertThat(simulation.waiting("narrow")).isPositive();

            assertThat(simulation.slotMillis("wide")).isCloseTo(simulation.slotMillis("narrow"), TWO_PERCENT);
        }
    }

    @Tag("S15")
    @Test
    void a_changed_weight_holds_from_the_change_on() throws Exception {
        GroupPolicy.Builder rules =
                GroupPolicy.builder().defaultMaxConcurrencyPerGroup(1_000).globalMaxInFlight(4);

        try (Simulation simulation = new Simulation(rules)) {
            simulation.flood("a", 3_000, 10);
            simulation.flood("b", 3_000, 10);
            simulation.runUntil(2_500);
            long beforeA = simulation.slotMillis("a");
            long beforeB = simulation.slotMillis("b");
            assertThat(beforeA).isCloseTo(beforeB, TWO_PERCENT);

            simulation.executor.setWeight("a", 3);
            simulation.runUntil(7_500);
            assertThat(simulation.slotMillis("a") - beforeA).isCloseTo(15_000L, TWO_PERCENT);
            assertThat(simulation.slotMillis("b") - beforeB).isCloseTo(5_000L, TWO_PERCENT);
        }
    }
}
