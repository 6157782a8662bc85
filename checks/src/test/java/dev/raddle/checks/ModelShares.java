package dev.raddle.checks;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;

/**
 * Measures the share of time of groups with random weights and tasks of random lengths, each of which always has more
 * tasks than a global cap admits, against the share that its weight implies. One thread runs all tasks, in virtual
 * time.
 */
final class ModelShares {

    private static final int TASKS = 4_000;

    private final long seed;
    private final Random random;
    private final VirtualTime time = new VirtualTime();
    private final StepScheduler steps = new StepScheduler();
    private final GroupExecutor executor;
    private final int cap;
    private final List<Integer> weights = new ArrayList<>();
    private final List<Integer> lengthsMillis = new ArrayList<>();
    private final List<Queue<Long>> grants = new ArrayList<>(); // of each group's tasks, in the order of their starts
    private final long[] usedNanos; // from the grant to the end

    ModelShares(long seed) {
        this.seed = seed;
        this.random = new Random(seed);
        this.cap = 1 + random.nextInt(4);
        int groups = 2 + random.nextInt(4);
        for (int i = 0; i < groups; i++) {
            weights.add(1 + random.nextInt(4));
            lengthsMillis.add(1 + random.nextInt(20));
            grants.add(new ArrayDeque<>());
        }
        this.usedNanos = new long[groups];
        this.executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                .globalMaxInFlight(cap)
                .defaultMaxConcurrencyPerGroup(cap)
                .weightResolver(key -> weights.get(Integer.parseInt(key)))
                .timeSource(time)
                .scheduler(key -> granted -> {
                    grants.get(Integer.parseInt(key)).add(time.nanoTime());
                    steps.execute(granted);
                })
                .build());
    }

    /** Changes the weight of a group in the executor only. */
    void changeWeightInExecutorOnly() {
        executor.setWeight("0", 2 * weights.getFirst());
    }

    void run() {
        for (int i = 0; i <= 2 * cap; i++) { // more than can run at once, with a reserve
            for (int group = 0; group < weights.size(); group++) {
                submit(group);
            }
        }
        for (int i = 0; i < TASKS; i++) {
            if (!steps.runNext()) {
                throw new AssertionError("no task runs although " + executor.stats() + ", " + this);
            }
        }
        executor.shutdown();
        steps.runAll();
    }

    private void submit(int group) {
        executor.submit("" + group, "task", () -> use(group));
    }

    private int use(int group) {
        Duration length = Duration.ofMillis(lengthsMillis.get(group)).plusNanos(random.nextInt(1_000_000));
        time.advance(length);
        usedNanos[group] += time.nanoTime() - grants.get(group).remove();
        submit(group);
        return group;
    }

    /** Returns the largest difference between a group's share of the time and its share of the weights. */
    double largestError() {
        double all = 0;
        double weight = 0;
        for (int i = 0; i < usedNanos.length; i++) {
            all += usedNanos[i];
            weight += weights.get(i);
        }
        double largest = 0;
        for (int i = 0; i < usedNanos.length; i++) {
            largest = Math.max(largest, Math.abs(usedNanos[i] / all - weights.get(i) / weight));
        }
        return largest;
    }

    @Override
    public String toString() {
        return "seed " + seed + ", cap " + cap + ", weights " + weights + ", lengths in ms " + lengthsMillis;
    }
}
