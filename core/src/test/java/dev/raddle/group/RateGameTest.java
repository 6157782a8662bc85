package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.Rate;
import dev.raddle.task.TaskSpec;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Random operations on groups with rates, on virtual time, compared with what the rates promise. */
class RateGameTest {

    private static final List<String> KEYS = List.of("a", "b", "c");

    private final VirtualTime time = new VirtualTime();
    private final StepScheduler steps = new StepScheduler();
    private final Map<String, Rate> rates = new HashMap<>();
    private final Map<String, List<Long>> starts = new HashMap<>(); // each start as often as its cost
    private final List<TaskHandle<?>> handles = new ArrayList<>();
    private final Map<String, Long> heldUntil = new HashMap<>();

    private Rate randomRate(Random random) {
        Rate rate = Rate.of(1 + random.nextInt(7), Duration.ofNanos(1 + random.nextInt(1_000)));
        return random.nextBoolean() ? rate.strict() : rate.burst(1 + random.nextInt(5));
    }

    /** Records the tasks that were started by the last operation: a task starts when it is given to the scheduler. */
    private final class Recording implements dev.raddle.task.Scheduler {
        @Override
        public void execute(Runnable task) {
            GroupRun<?> run = (GroupRun<?>) task;
            for (int i = 0; i < run.cost(); i++) {
                starts.computeIfAbsent(run.groupKey(), key -> new ArrayList<>()).add(time.nanoTime());
                starts.computeIfAbsent("all", key -> new ArrayList<>()).add(time.nanoTime());
            }
            assertThat(time.nanoTime()).isGreaterThanOrEqualTo(heldUntil.getOrDefault(run.groupKey(), Long.MIN_VALUE));
            steps.execute(task);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 100, 200, 300, 400})
    void no_window_has_more_starts_than_its_rate_and_every_task_starts_in_the_end(int firstSeed) {
        for (int seed = firstSeed; seed < firstSeed + 100; seed++) {
            play(new Random(seed));
        }
    }

    private void play(Random random) {
        starts.clear();
        handles.clear();
        heldUntil.clear();
        KEYS.forEach(key -> rates.put(key, randomRate(random)));
        rates.put("all", randomRate(random));
        boolean global = random.nextBoolean();
        boolean capped = random.nextBoolean();
        int largestCost = random.nextBoolean() ? 1 : 4;
        GroupPolicy.Builder policy = GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(1 + random.nextInt(3))
                .perGroupRate(Map.of("a", rates.get("a"), "b", rates.get("b"), "c", rates.get("c")))
                .idleGroupTtl(random.nextBoolean() ? Duration.ZERO : Duration.ofMillis(1))
                .maxIdleGroups(random.nextInt(3))
                .defaultQueueThresholdPerGroup(random.nextInt(4) == 0 ? random.nextInt(3) : Integer.MAX_VALUE)
                .timeSource(time)
                .rejectionPolicy(RejectionPolicy.DISCARD)
                .scheduler(key -> new Recording());
        if (global) {
            policy.globalRate(rates.get("all"));
        }
        if (capped) {
            policy.globalMaxInFlight(2);
        }
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy.build())) {
            for (int step = 0; step < 150; step++) {
                step(executor, random, largestCost);
            }
            KEYS.forEach(executor::resumeGroup);
            for (int round = 0; round < 100_000 && handles.stream().anyMatch(each -> !each.isDone()); round++) {
                steps.runAll();
                time.advance(Duration.ofNanos(500));
            }
            assertThat(handles).allMatch(TaskHandle::isDone);
        }
        starts.forEach((key, moments) -> {
            if (global || !key.equals("all")) {
                checkWindows(moments, rates.get(key), largestCost);
            }
        });
    }

    private void step(GroupExecutor executor, Random random, int largestCost) {
        String key = KEYS.get(random.nextInt(KEYS.size()));
        switch (random.nextInt(16)) {
            case 0, 1, 2, 3 ->
                handles.add(executor.submit(
                        key,
                        TaskSpec.named("task", () -> "done")
                                .cost(1 + random.nextInt(largestCost))
                                .priority(random.nextInt(8) == 0 ? 1 : 0)));
            case 4 -> steps.runNext();
            case 5 -> steps.runAll();
            case 6 -> time.advance(Duration.ofNanos(random.nextInt(200)));
            case 7 -> time.advance(Duration.ofNanos(random.nextInt(5_000)));
            case 8 -> {
                if (!handles.isEmpty()) {
                    handles.get(random.nextInt(handles.size())).cancel(false);
                }
            }
            case 9 -> {
                if (random.nextInt(3) == 0) {
                    executor.evictGroup(key);
                }
            }
            case 10 -> {
                if (random.nextInt(3) == 0) {
                    int nanos = random.nextInt(3_000);
                    executor.holdGroup(key, Duration.ofNanos(nanos));
                    heldUntil.merge(key, time.nanoTime() + nanos, Math::max);
                }
            }
            case 11 -> executor.setMaxConcurrency(key, 1 + random.nextInt(4));
            case 12 -> {
                if (random.nextBoolean()) {
                    executor.pauseGroup(key);
                } else {
                    executor.resumeGroup(key);
                }
            }
            case 13 -> {
                if (random.nextInt(4) == 0) {
                    executor.setGlobalMaxInFlight(1 + random.nextInt(4));
                }
            }
            case 14 -> {
                if (random.nextInt(4) == 0) {
                    assertThat(executor.shutdownGroup(key, Duration.ZERO)).isIn(true, false);
                }
            }
            default -> executor.stats();
        }
    }

    /** A cost above the burst is allowed when the bucket is full, so a window may have the largest cost instead. */
    private static void checkWindows(List<Long> moments, Rate rate, int largestCost) {
        long period = rate.period().toNanos();
        if (rate.isStrict()) {
            int most = Math.max(rate.count(), largestCost);
            for (int first = 0; first + most < moments.size(); first++) {
                assertThat(moments.get(first + most) - moments.get(first))
                        .as("%s, from %d on", rate, moments.get(first))
                        .isGreaterThanOrEqualTo(period);
            }
            return;
        }
        int burst = Math.max(rate.burst(), largestCost);
        for (int first = 0; first < moments.size(); first++) {
            for (int last = first; last < moments.size(); last++) {
                long window = moments.get(last) - moments.get(first);
                assertThat(last - first + 1)
                        .as("%s in %d ns from %d on", rate, window, moments.get(first))
                        .isLessThanOrEqualTo((int) Math.min(
                                Integer.MAX_VALUE,
                                burst
                                        + (window * rate.count() + (largestCost > 1 ? largestCost * period : 0))
                                                / period));
            }
        }
    }
}
