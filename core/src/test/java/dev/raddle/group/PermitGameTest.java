package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Rate;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.TaskContext;
import dev.raddle.task.TaskSpec;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random operations on groups whose permits come from a source that is late, repeats itself, grants too much and
 * throws, on virtual time, compared with a model that counts permits.
 */
class PermitGameTest {

    private static final List<String> KEYS = List.of("a", "b", "c");

    /** What the source has given to one group. */
    private static final class Account {
        int reusable; // permits granted and neither revoked nor reclaimed
        int once; // the same, of those for one task
        int lost; // revoked while tasks used them: at most this many slots are taken without one
        int running; // slots taken after the last step
    }

    private final VirtualTime time = new VirtualTime();
    private final StepScheduler steps = new StepScheduler();
    private final Map<String, Account> accounts = new HashMap<>();
    private final ArrayDeque<Runnable> late = new ArrayDeque<>(); // answers that the source has not given yet
    private final List<TaskHandle<?>> handles = new ArrayList<>();
    private final Set<Long> fencesForOneTask = new HashSet<>();
    private final Set<Long> usedFences = new HashSet<>();
    private final List<String> violations = new ArrayList<>();
    private long fence;
    private int started; // callables that were entered
    private boolean isAdaptive; // whether the limits are adaptive
    private boolean isFair; // whether the source answers what it is asked

    private Account account(String key) {
        return accounts.computeIfAbsent(key, unknown -> new Account());
    }

    private final class Source extends FakePermits {
        private final Random random;

        Source(Random random) {
            this.random = random;
        }

        @Override
        void onDemand(String key, int wanted, int unused) {
            assertThat(wanted).isGreaterThanOrEqualTo(0);
            assertThat(unused).isGreaterThanOrEqualTo(0);
            if (isFair) {
                answer(key, wanted, unused);
                return;
            }
            int answers = random.nextInt(3); // none, one, or the same twice
            for (int i = 0; i < answers; i++) {
                late.add(() -> answer(key, wanted + (random.nextInt(4) == 0 ? 2 : 0), unused));
            }
            if (random.nextInt(8) == 0) {
                throw new IllegalStateException("the source fails");
            }
        }

        private void answer(String key, int wanted, int unused) {
            reclaim(key, unused);
            for (int i = 0; i < wanted; i++) {
                grantOne(key, !isFair && random.nextInt(5) == 0);
            }
        }

        void grantOne(String key, boolean once) {
            Account account = account(key);
            account.reusable += once ? 0 : 1; // before, because a task may start at once
            account.once += once ? 1 : 0;
            if (once) {
                fencesForOneTask.add(fence + 1);
            }
            boolean accepted = once ? holder().grantOnce(key, ++fence) : holder().grant(key, ++fence);
            if (!accepted) {
                account.reusable -= once ? 0 : 1;
                account.once -= once ? 1 : 0;
            }
        }

        void reclaim(String key, int most) {
            take(key, holder().reclaim(key, most).total());
        }

        void take(String key, int permits) {
            Account account = account(key);
            int ofOnce = Math.min(account.once, permits);
            account.once -= ofOnce;
            account.reusable -= permits - ofOnce;
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 100, 200, 300})
    void tasks_never_use_more_permits_than_were_granted_and_every_task_ends(int firstSeed) {
        for (int seed = firstSeed; seed < firstSeed + 100; seed++) {
            play(seed);
        }
    }

    private void play(int seed) {
        Random random = new Random(seed);
        accounts.clear();
        late.clear();
        handles.clear();
        isFair = false;
        Source source = new Source(random);
        GroupPolicy.Builder policy = GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(1 + random.nextInt(4))
                .idleGroupTtl(random.nextBoolean() ? Duration.ZERO : Duration.ofMillis(1))
                .maxIdleGroups(random.nextInt(3))
                .defaultQueueThresholdPerGroup(random.nextInt(4) == 0 ? 1 + random.nextInt(3) : Integer.MAX_VALUE)
                .reuseThreads(random.nextInt(4) == 0)
                .closeTimeout(Duration.ZERO)
                .lostPermits(random.nextBoolean() ? LostPermitPolicy.INTERRUPT : LostPermitPolicy.CONTINUE)
                .timeSource(time)
                .exceptionSink(ExceptionSink.to((text, failure) -> {}))
                .rejectionPolicy(RejectionPolicy.DISCARD)
                .permits(source)
                .scheduler(key -> steps);
        if (random.nextInt(3) == 0) {
            policy.defaultRatePerGroup(Rate.of(1 + random.nextInt(5), Duration.ofNanos(1_000)));
        }
        if (random.nextInt(3) == 0) {
            policy.globalMaxInFlight(1 + random.nextInt(4));
        }
        isAdaptive = random.nextInt(3) == 0;
        if (isAdaptive) {
            policy.adaptiveLimit(key -> limit(random));
        }
        int largestCost = random.nextBoolean() ? 1 : 4;
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy.build())) {
            for (int step = 0; step < 200; step++) {
                perform(() -> step(executor, source, random, largestCost));
                check(executor, seed, step);
            }
            settle(executor, source);
            assertThat(handles.stream().filter(each -> !each.isDone()))
                    .as("tasks that never end, seed %d", seed)
                    .isEmpty();
            perform(steps::runAll); // granted tasks whose timeout has passed
            perform(() -> executor.shutdown(Duration.ZERO));
        }
        assertThat(source.closed).isEqualTo(1);
        assertThat(violations).as("seed %d", seed).isEmpty();
    }

    /** Returns a limit whose algorithm, with the drops and their predicate, does whatever it likes. */
    private static AdaptiveLimit limit(Random random) {
        AdaptiveLimit limit = switch (random.nextInt(4)) {
            case 0 -> AdaptiveLimit.gradient();
            case 1 -> AdaptiveLimit.vegas();
            default -> AdaptiveLimit.custom(sample -> wild(random));
        };
        return limit.initial(1 + random.nextInt(4)).max(4).dropWhen(error -> wild(random) > 0);
    }

    private static int wild(Random random) {
        return switch (random.nextInt(6)) {
            case 0 -> throw new IllegalStateException("the algorithm fails");
            case 1 -> Integer.MAX_VALUE;
            case 2 -> Integer.MIN_VALUE;
            default -> random.nextInt(5);
        };
    }

    /** Makes the source fair and lets everything end. From here on it only answers what it is notified of. */
    private void settle(GroupExecutor executor, Source source) {
        isFair = true;
        late.clear();
        for (String key : KEYS) {
            perform(() -> {
                executor.resumeGroup(key);
                handles.add(executor.submit(key, "last", () -> ++started));
            });
            perform(() -> source.answer(key, source.wanted(key), source.unused(key))); // it may not have answered
        }
        for (int round = 0; round < 10_000 && handles.stream().anyMatch(each -> !each.isDone()); round++) {
            perform(steps::runAll);
            time.advance(Duration.ofNanos(500));
        }
    }

    private void perform(Runnable action) {
        time.after(Duration.ZERO, action);
        time.advance(Duration.ZERO);
    }

    private void check(GroupExecutor executor, int seed, int step) {
        for (Group group : executor.engine.groups.values()) {
            LeasedGroup leased = (LeasedGroup) group;
            Account account = account(group.key);
            int granted = leased.permitsNow();
            assertThat(granted)
                    .as("permits of %s, seed %d, step %d", group.key, seed, step)
                    .isEqualTo(account.reusable + account.once);
            assertThat(leased.isConsistent()).as("seed %d, step %d", seed, step).isTrue();
            int[] sums = new int[3];
            leased.addTo(sums, time.nanoTime());
            int running = sums[1];
            assertThat(running)
                    .as("slots of %s, seed %d, step %d", group.key, seed, step)
                    .isLessThanOrEqualTo(account.reusable + account.once + account.lost);
            if (running > account.running) { // the last step has started a task
                assertThat(running)
                        .as("slots of %s after a start, seed %d, step %d", group.key, seed, step)
                        .isLessThanOrEqualTo(account.reusable + account.once);
            }
            account.running = running;
            if (running == 0) {
                account.lost = 0;
            }
        }
    }

    /** The callable of each task: it checks that its fence was granted, and for one task only if it was. */
    private int useFence() {
        long own = TaskContext.current().fence().orElse(0);
        if (own > fence || (fencesForOneTask.contains(own) && !usedFences.add(own))) {
            violations.add("fence " + own);
        }
        time.advance(Duration.ofNanos(own % 50));
        return ++started;
    }

    private static <T> TaskSpec<T> withOptions(TaskSpec<T> spec, Random random) {
        return switch (random.nextInt(16)) {
            case 0, 1 -> spec.queueTimeout(Duration.ofNanos(700));
            case 2 -> spec.queueTimeout(Duration.ZERO);
            case 3 -> spec.timeout(Duration.ofNanos(900));
            case 4 -> spec.retry(RetryPolicy.fixedDelay(2, Duration.ZERO));
            default -> spec;
        };
    }

    private void step(GroupExecutor executor, Source source, Random random, int largestCost) {
        String key = KEYS.get(random.nextInt(KEYS.size()));
        switch (random.nextInt(20)) {
            case 0, 1, 2, 3 ->
                handles.add(executor.submit(
                        key,
                        withOptions(TaskSpec.named("task", this::useFence), random)
                                .cost(1 + random.nextInt(largestCost))
                                .priority(random.nextInt(8) == 0 ? 1 : 0)));
            case 4 -> steps.runNext();
            case 5 -> steps.runAll();
            case 6 -> time.advance(Duration.ofNanos(random.nextInt(2_000)));
            case 7, 8, 9 -> {
                Runnable answer = late.poll();
                if (answer != null) {
                    answer.run();
                }
            }
            case 10 -> source.grantOne(key, random.nextBoolean());
            case 11 -> {
                int before = account(key).reusable + account(key).once;
                int revoked = source.holder().revoke(key, random.nextInt(4), "lost");
                assertThat(revoked).isLessThanOrEqualTo(before);
                account(key).lost += revoked;
                source.take(key, revoked);
            }
            case 12 -> source.reclaim(key, random.nextInt(4));
            case 13 -> source.holder().limit(key, 1 + random.nextInt(4));
            case 14 -> {
                if (!handles.isEmpty()) {
                    handles.get(random.nextInt(handles.size())).cancel(random.nextBoolean());
                }
            }
            case 15 -> {
                int rare = isAdaptive ? 20 : 4;
                if (random.nextInt(rare) == 0) {
                    executor.evictGroup(key);
                } else if (random.nextInt(rare) == 0) {
                    executor.shutdownGroup(key);
                }
            }
            case 16 -> {
                if (!isAdaptive || random.nextInt(20) == 0) {
                    executor.setMaxConcurrency(key, 1 + random.nextInt(4));
                }
            }
            case 17 -> {
                switch (random.nextInt(4)) {
                    case 0 -> executor.setGlobalMaxInFlight(1 + random.nextInt(4));
                    case 1 -> executor.setRate(key, Rate.of(1 + random.nextInt(5), Duration.ofNanos(1_000)));
                    case 2 -> executor.setRate(key, null);
                    default -> executor.resumeAdaptive(key);
                }
            }
            case 18 -> {
                if (random.nextBoolean()) {
                    executor.pauseGroup(key);
                } else if (random.nextBoolean()) {
                    executor.holdGroup(key, Duration.ofNanos(random.nextInt(2_000)));
                } else {
                    executor.resumeGroup(key);
                }
            }
            default -> executor.stats();
        }
    }
}
