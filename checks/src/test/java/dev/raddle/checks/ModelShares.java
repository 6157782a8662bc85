package dev.raddle.checks;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Groups with random weights and tasks of random lengths, each of which always has more tasks than a global cap lets run; and
 * what share of the time each should get, and got. One thread does everything, and a task takes virtual time.
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
    private final long[] usedNanos;

    ModelShares(long seed) {
        this.seed = seed;
        this.random = new Random(seed);
        this.cap = 1 + random.nextInt(4);
        int groups = 2 + random.nextInt(4);
        for (int i = 0; i < groups; i++) {
            weights.add(1 + random.nextInt(4));
            lengthsMillis.add(1 + random.nextInt(20));
        }
        this.usedNanos = new long[groups];
        this.executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                .globalMaxInFlight(cap)
                .defaultMaxConcurrencyPerGroup(cap)
                .weightResolver(key -> weights.get(Integer.parseInt(key)))
                .timeSource(time)
                .scheduler(key -> steps)
                .build());
    }

    /** Gives a group a weight that the model does not know of. */
    void changeWeightBehindTheModel() {
        executor.setWeight("0", 2 * weights.getFirst());
    }

    void run() {
        for (int i = 0; i <= 2 * cap; i++) { // more than may run, plus those that are about to follow
            for (int group = 0; group < weights.size(); group++) {
                submit(group);
            }
        }
        for (int i = 0; i < TASKS; i++) {
            if (!steps.runNext()) {
                throw new AssertionError("nobody runs although " + executor.stats() + ", " + this);
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
        usedNanos[group] += length.toNanos();
        submit(group);
        return group;
    }

    /** Returns by how much of the whole the share of a group is not what its weight says. */
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
