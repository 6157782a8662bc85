package dev.raddle.micrometer;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import dev.raddle.flow.RunOptions;
import dev.raddle.group.AdaptiveLimit;
import dev.raddle.group.CircuitBreaker;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.RejectionPolicy;
import dev.raddle.group.TaskHandle;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Outcome;
import dev.raddle.task.Rejection;
import dev.raddle.task.Task;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskSpec;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TaskMetersTest {

    private final MockClock clock = new MockClock();
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry(SimpleConfig.DEFAULT, clock);
    private final VirtualTime time = new VirtualTime();
    private final StepScheduler steps = new StepScheduler();
    private final List<Throwable> suppressed = new ArrayList<>();

    /** A task without an executor. */
    private static final class TestTask implements TaskIdentity {
        private final String owner;

        TestTask(String owner) {
            this.owner = owner;
        }

        @Override
        public String owner() {
            return owner;
        }

        @Override
        public String name() {
            return "task";
        }
    }

    private static TestTask submitted(TaskMeters meters, String key) {
        TestTask task = new TestTask(key);
        meters.onSubmitted(task);
        return task;
    }

    private static void settle(TaskMeters meters, TestTask task) {
        meters.onSettled(task, new Outcome.Success<>("value"), 1);
    }

    /** Submits, starts and settles tasks. */
    private static void run(TaskMeters meters, String key, int tasks) {
        for (int i = 0; i < tasks; i++) {
            TestTask task = submitted(meters, key);
            meters.onStarted(task, 1);
            settle(meters, task);
        }
    }

    private GroupPolicy.Builder metered(TaskMeters meters) {
        return GroupPolicy.builder()
                .addListener(meters)
                .exceptionSink(ExceptionSink.to((source, error) -> suppressed.add(error)))
                .timeSource(time)
                .scheduler(key -> steps)
                .defaultMaxConcurrencyPerGroup(1)
                .closeTimeout(Duration.ZERO)
                .rejectionPolicy(RejectionPolicy.DISCARD);
    }

    private double gauge(String name, String key) {
        return registry.get(name).tag("group", key).gauge().value();
    }

    private double gauges(String name) {
        return registry.get(name).gauges().stream()
                .mapToDouble(gauge -> gauge.value())
                .sum();
    }

    private Timer run(String key, String outcome) {
        return registry.get("raddle.group.run")
                .tag("group", key)
                .tag("outcome", outcome)
                .timer();
    }

    private double rejected(String key, String reason) {
        return registry.get("raddle.group.rejected")
                .tag("group", key)
                .tag("reason", reason)
                .counter()
                .count();
    }

    private Set<String> keys() {
        Set<String> keys = new TreeSet<>();
        for (Meter meter : registry.getMeters()) {
            keys.add(String.valueOf(meter.getId().getTag("group")));
        }
        return keys;
    }

    // What is measured.

    @Test
    void meters_follow_a_task_from_its_submission_to_its_end() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                metered(TaskMeters.forGroups(registry)).build())) {
            executor.submit("a", "t1", () -> {
                assertThat(gauge("raddle.group.running", "a")).isEqualTo(1);
                assertThat(gauge("raddle.group.waiting", "a")).isEqualTo(1);
                time.advance(Duration.ofSeconds(3));
                return "value";
            });
            executor.submit("a", "t2", () -> {
                time.advance(Duration.ofSeconds(1));
                throw new IllegalStateException("on purpose");
            });
            assertThat(gauge("raddle.group.running", "a")).isZero();
            assertThat(gauge("raddle.group.waiting", "a")).isEqualTo(2);

            time.advance(Duration.ofSeconds(2));
            steps.runAll();

            assertThat(gauge("raddle.group.running", "a")).isZero();
            assertThat(gauge("raddle.group.waiting", "a")).isZero();
            Timer wait = registry.get("raddle.group.wait").tag("group", "a").timer();
            assertThat(wait.count()).isEqualTo(2);
            assertThat(wait.totalTime(TimeUnit.SECONDS)).isEqualTo(2 + 5);
            assertThat(run("a", "success").totalTime(TimeUnit.SECONDS)).isEqualTo(3);
            assertThat(run("a", "failed").totalTime(TimeUnit.SECONDS)).isEqualTo(1);
            assertThat(run("a", "cancelled").count()).isZero();
            assertThat(suppressed).isEmpty();
        }
    }

    @Test
    void a_task_that_is_cancelled_while_it_waits_has_not_run() {
        TaskMeters meters = TaskMeters.forGroups(registry);
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(metered(meters).build())) {
            TaskHandle<String> handle = executor.submit("a", "t1", () -> "never");
            handle.cancel(true);
            steps.runAll();

            assertThat(gauge("raddle.group.waiting", "a")).isZero();
            assertThat(gauge("raddle.group.running", "a")).isZero();
            assertThat(run("a", "cancelled").count()).isZero();
            assertThat(registry.get("raddle.group.wait")
                            .tag("group", "a")
                            .timer()
                            .count())
                    .isZero();
        }
        assertThat(meters.rememberedTasks()).isZero();
    }

    @Test
    void a_task_that_is_cancelled_while_it_runs_has_run_until_then() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                metered(TaskMeters.forGroups(registry)).build())) {
            TaskHandle<?>[] self = new TaskHandle<?>[1];
            self[0] = executor.submit("a", "t1", () -> {
                time.advance(Duration.ofSeconds(3));
                self[0].cancel(true);
                assertThat(gauge("raddle.group.running", "a")).isZero();
                return "late";
            });
            steps.runAll();

            assertThat(run("a", "cancelled").totalTime(TimeUnit.SECONDS)).isEqualTo(3);
        }
    }

    @Test
    void rejections_of_an_executor_are_counted_by_the_rule_that_caused_them() {
        TaskMeters meters = TaskMeters.forGroups(registry);
        GroupPolicy policy = metered(meters)
                .defaultQueueThresholdPerGroup(1)
                .queueTimeout(Duration.ofSeconds(5))
                .build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            executor.submit("a", "runs", () -> "value");
            executor.submit("a", "waits", () -> "never");
            executor.submit("a", "too many", () -> "never");
            assertThat(rejected("a", "group-queue")).isEqualTo(1);

            executor.evictGroup("a");
            assertThat(rejected("a", "evicted")).isEqualTo(1);
            assertThat(gauge("raddle.group.waiting", "a")).isEqualTo(1); // placed on a thread that has not started
            assertThat(rejected("a", "shutdown")).isZero();
            steps.runAll();
        }
        assertThat(meters.rememberedTasks()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void the_word_of_a_reason_is_its_tag(Rejection.Reason reason) {
        TaskMeters meters = TaskMeters.forGroups(registry);
        meters.onSettled(submitted(meters, "a"), new Outcome.Rejected<>(Rejection.of(reason, "numbers")), 0);

        assertThat(rejected("a", reason.toString())).isEqualTo(1);
        assertThat(registry.get("raddle.group.rejected").counters().stream()
                        .mapToDouble(counter -> counter.count())
                        .sum())
                .isEqualTo(1);
    }

    @Test
    void the_tag_of_a_long_key_is_cut_and_its_own() {
        TaskMeters meters = TaskMeters.forGroups(registry);
        String prefix = "k".repeat(190) + "🦊".repeat(50);
        for (String key : List.of(prefix + "a", prefix + "b", "k".repeat(200))) {
            run(meters, key, 1);
        }
        assertThat(registry.find("raddle.group.running").gauges())
                .extracting(gauge -> gauge.getId().getTag("group"))
                .allSatisfy(tag ->
                        assertThat(tag).hasSizeLessThanOrEqualTo(200).isEqualTo(new String(tag.getBytes(UTF_8), UTF_8)))
                .contains("k".repeat(200))
                .doesNotHaveDuplicates()
                .hasSize(4); // with that of the others
    }

    @Test
    void scopes_have_names_and_a_tag_of_their_own() {
        TaskMeters meters = TaskMeters.forScopes(registry);
        try (ThreadScope scope = ThreadScope.open("checkout")
                .withTimeSource(time)
                .withScheduler(steps)
                .addListener(meters)) {
            Task<?>[] self = new Task<?>[1];
            self[0] = scope.submit("price", () -> {
                time.advance(Duration.ofSeconds(1));
                self[0].cancel();
                return "late";
            });
            time.advance(Duration.ofSeconds(2));
            steps.runAll();
        }

        assertThat(meters.rememberedTasks()).isZero();
        assertThat(registry.getMeters())
                .allSatisfy(meter -> assertThat(meter.getId().getName()).startsWith("raddle.scope."));
        assertThat(registry.get("raddle.scope.wait")
                        .tag("scope", "checkout")
                        .timer()
                        .totalTime(TimeUnit.SECONDS))
                .isEqualTo(2);
        assertThat(registry.get("raddle.scope.run")
                        .tag("scope", "checkout")
                        .tag("outcome", "cancelled")
                        .timer()
                        .totalTime(TimeUnit.SECONDS))
                .isEqualTo(1);
    }

    @Test
    void further_tags_are_on_every_meter() {
        TaskMeters.forGroups(registry, 5, Tags.of("executor", "imports"));
        TaskMeters meters = TaskMeters.forScopes(registry, 5, Tags.of("executor", "imports"));
        run(meters, "a", 1);

        assertThat(registry.getMeters())
                .hasSize(3 * RowMeters.COUNT - 2 * CircuitBreaker.State.values().length) // scopes have no breakers
                .allSatisfy(
                        meter -> assertThat(meter.getId().getTag("executor")).isEqualTo("imports"));
    }

    @Test
    void a_task_that_was_submitted_before_the_listener_was_added_is_ignored() {
        TaskMeters meters = TaskMeters.forGroups(registry);
        TestTask unknown = new TestTask("a");
        meters.onStarted(unknown, 1);
        settle(meters, unknown);

        assertThat(gauge("raddle.group.running", "other")).isZero();
        assertThat(keys()).containsExactly("other");
    }

    // Which keys have meters.

    @Test
    void a_million_keys_do_not_create_a_million_meters() {
        TaskMeters meters = TaskMeters.forGroups(registry);
        run(meters, "busy", 1_000);
        for (int i = 0; i < 1_000_000; i++) {
            run(meters, "tenant-" + i, 1);
        }

        assertThat(registry.getMeters()).hasSize((TaskMeters.DEFAULT_TOP_KEYS + 1) * RowMeters.COUNT);
        assertThat(meters.rememberedKeys()).isEqualTo(11 * TaskMeters.DEFAULT_TOP_KEYS);
        assertThat(meters.rememberedTasks()).isZero();
        assertThat(keys()).contains("busy", "tenant-0", "tenant-98", "other").doesNotContain("tenant-99");
        assertThat(run("busy", "success").count()).isEqualTo(1_000);
        assertThat(run("other", "success").count()).isEqualTo(1_000_000 - 99);
    }

    @Test
    void a_late_key_with_much_traffic_among_many_quiet_ones_gets_meters() {
        TaskMeters meters = TaskMeters.forGroups(registry, 10, Tags.empty());
        for (int i = 0; i < 100_000; i++) {
            run(meters, "tenant-" + i, 1);
            if (i >= 50_000 && i % 50 == 0) {
                run(meters, "late", 1);
            }
        }

        assertThat(keys()).hasSize(11).contains("late");
        assertThat(registry.getMeters()).hasSize(11 * RowMeters.COUNT);
    }

    @Test
    void a_key_replaces_the_quietest_when_it_has_more_than_twice_its_traffic() {
        TaskMeters meters = TaskMeters.forGroups(registry, 2, Tags.empty());
        run(meters, "a", 10);
        run(meters, "b", 3);
        run(meters, "c", 6);
        assertThat(keys()).containsExactly("a", "b", "other");

        run(meters, "c", 1);

        assertThat(keys()).containsExactly("a", "c", "other");
        assertThat(registry.getMeters()).hasSize(3 * RowMeters.COUNT);
        assertThat(run("c", "success").count()).isEqualTo(1); // earlier tasks are counted among the others
        assertThat(run("other", "success").count()).isEqualTo(6);
    }

    @Test
    void tasks_of_a_replaced_key_count_among_the_others_until_they_have_ended() {
        TaskMeters meters = TaskMeters.forGroups(registry, 1, Tags.empty());
        TestTask runs = submitted(meters, "a");
        meters.onStarted(runs, 1);
        TestTask waits = submitted(meters, "a");
        assertThat(gauge("raddle.group.running", "other")).isZero();

        run(meters, "b", 5);

        assertThat(keys()).containsExactly("b", "other");
        assertThat(gauge("raddle.group.running", "other")).isEqualTo(1);
        assertThat(gauge("raddle.group.waiting", "other")).isEqualTo(1);
        assertThat(gauge("raddle.group.running", "b")).isZero();

        run(meters, "a", 9); // the key returns
        assertThat(keys()).containsExactly("a", "other");
        assertThat(gauge("raddle.group.running", "a")).isZero();
        assertThat(gauge("raddle.group.running", "other")).isEqualTo(1);

        settle(meters, runs);
        settle(meters, waits);
        assertThat(gauges("raddle.group.running")).isZero();
        assertThat(gauges("raddle.group.waiting")).isZero();
    }

    @Test
    void a_key_without_recent_traffic_is_replaced() {
        TaskMeters meters = TaskMeters.forGroups(registry, 1, Tags.empty());
        run(meters, "yesterday", 1_000);
        run(meters, "today", 10);
        assertThat(keys()).containsExactly("other", "yesterday");

        clock.add(TopKeys.HALF_LIFE.multipliedBy(8)); // 1000 >> 8 is 3
        run(meters, "today", 6);
        assertThat(keys()).containsExactly("other", "yesterday");
        run(meters, "today", 1);

        assertThat(keys()).containsExactly("other", "today");
    }

    @Test
    void traffic_is_halved_once_for_each_half_life_even_without_submissions() {
        TaskMeters meters = TaskMeters.forGroups(registry, 1, Tags.empty());
        run(meters, "yesterday", 1_000);

        clock.add(TopKeys.HALF_LIFE.minusNanos(1));
        run(meters, "today", 1_999);
        assertThat(keys()).containsExactly("other", "yesterday");
        clock.add(Duration.ofDays(365));
        run(meters, "tomorrow", 1);

        assertThat(keys()).containsExactly("other", "tomorrow");
    }

    @Test
    void a_key_named_other_is_among_the_others() {
        TaskMeters meters = TaskMeters.forGroups(registry);
        TestTask task = submitted(meters, "other");
        assertThat(gauge("raddle.group.waiting", "other")).isEqualTo(1);
        settle(meters, task);

        assertThat(registry.getMeters()).hasSize(RowMeters.COUNT);
    }

    @Test
    void without_top_keys_all_keys_are_others() {
        TaskMeters meters = TaskMeters.forGroups(registry, 0, Tags.empty());
        run(meters, "a", 10);

        assertThat(keys()).containsExactly("other");
        assertThat(run("other", "success").count()).isEqualTo(10);
        assertThat(meters.rememberedKeys()).isZero();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> TaskMeters.forGroups(registry, -1, Tags.empty()))
                .withMessage("topKeys must be at least 0, was -1");
    }

    @Test
    void tasks_of_a_key_whose_meters_a_registry_refuses_are_timed_with_the_others() {
        TaskMeters meters = TaskMeters.forGroups(registry);
        registry.config().meterFilter(new MeterFilter() {
            @Override
            public Meter.Id map(Meter.Id id) {
                if ("broken".equals(id.getTag("group"))) {
                    throw new IllegalStateException("on purpose");
                }
                return id;
            }
        });
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(metered(meters).build())) {
            executor.submit("broken", "t1", () -> "value");
            executor.submit("broken", "t2", () -> "value");
            executor.submit("whole", "t3", () -> "value");
            steps.runAll();
        }

        assertThat(suppressed).hasSize(1);
        assertThat(run("other", "success").count()).isEqualTo(2);
        assertThat(run("whole", "success").count()).isEqualTo(1);
        assertThat(gauges("raddle.group.running")).isZero();
    }

    @Test
    void a_task_that_started_before_its_key_had_meters_has_its_wait_and_its_run_among_the_others() {
        TaskMeters meters = TaskMeters.forGroups(registry);
        List<TestTask> early = new ArrayList<>();
        registry.config().meterFilter(new MeterFilter() {
            @Override
            public Meter.Id map(Meter.Id id) { // called while the first task's thread adds the meters
                if (early.isEmpty() && "a".equals(id.getTag("group"))) {
                    early.add(new TestTask("a"));
                    meters.onSubmitted(early.getFirst());
                    meters.onStarted(early.getFirst(), 1);
                }
                return id;
            }
        });

        TestTask first = submitted(meters, "a");
        settle(meters, early.getFirst());
        meters.onStarted(first, 1);
        settle(meters, first);

        for (String key : List.of("a", "other")) {
            assertThat(run(key, "success").count()).as(key).isEqualTo(1);
            assertThat(registry.get("raddle.group.wait")
                            .tag("group", key)
                            .timer()
                            .count())
                    .as(key)
                    .isEqualTo(1);
        }
    }

    // Concurrency.

    @Test
    void keys_replaced_by_many_threads_leave_neither_tasks_nor_meters_behind() throws Exception {
        int threads = 4;
        TaskMeters meters = TaskMeters.forGroups(registry, 3, Tags.empty());
        CyclicBarrier start = new CyclicBarrier(threads);
        List<Future<?>> ends = new ArrayList<>();
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            for (int thread = 0; thread < threads; thread++) {
                Random random = new Random(thread);
                ends.add(executor.submit(() -> {
                    start.await();
                    for (int phase = 0; phase < 50; phase++) {
                        String busy = "busy-" + phase % 7;
                        run(meters, busy, 3 << Math.min(phase, 10));
                        run(meters, "quiet-" + random.nextInt(1_000), 1);
                    }
                    return "done";
                }));
            }
            for (Future<?> end : ends) {
                end.get();
            }
        } finally {
            executor.shutdownNow();
        }

        assertThat(meters.rememberedTasks()).isZero();
        assertThat(gauges("raddle.group.running")).isZero();
        assertThat(gauges("raddle.group.waiting")).isZero();
        assertThat(registry.getMeters()).hasSize(4 * RowMeters.COUNT);
        assertThat(keys()).filteredOn(Predicate.not("other"::equals)).allSatisfy(key -> {
            long before = run(key, "success").count();
            run(meters, key, 1);
            assertThat(run(key, "success").count()).isEqualTo(before + 1);
        });
    }

    private double unstarted(String owner, String outcome) {
        return registry.get("raddle." + owner + ".unstarted").tag("outcome", outcome).counters().stream()
                .mapToDouble(Counter::count)
                .sum();
    }

    @Test
    void a_task_whose_timeout_passes_while_it_waits_is_counted_as_failed_without_a_start() throws InterruptedException {
        TaskMeters meters = TaskMeters.forGroups(registry);
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(metered(meters).build())) {
            executor.submit("a", "runs", () -> "value");
            TaskHandle<String> late =
                    executor.submit("a", TaskSpec.named("late", () -> "never").timeout(Duration.ofSeconds(1)));
            TaskHandle<String> cancelled = executor.submit("a", "cancelled", () -> "never");
            time.advance(Duration.ofSeconds(1));
            late.await();
            cancelled.cancel(true);
            steps.runAll();
        }
        assertThat(unstarted("group", "failed")).isEqualTo(1);
        assertThat(unstarted("group", "cancelled")).isEqualTo(1);
        assertThat(run("a", "failed").count()).isZero();
    }

    @Test
    void nodes_that_end_without_running_are_counted_by_their_outcomes() throws Exception {
        TaskMeters meters = TaskMeters.forFlows(registry);
        FlowBuilder<Void> f = FlowPlan.define("checkout");
        Node<String> fails = f.node("fails", () -> {
            throw new IllegalStateException("on purpose");
        });
        f.node("has no upstream", fails, x -> x);
        f.node("is not wanted", () -> "never").when(context -> false);
        f.build().run(null, RunOptions.defaults().inCallersThread().addListener(meters));

        assertThat(unstarted("flow", "failed")).isEqualTo(1);
        assertThat(unstarted("flow", "skipped")).isEqualTo(1);
        assertThat(registry.get("raddle.flow.run")
                        .tag("flow", "checkout")
                        .tag("outcome", "failed")
                        .timer()
                        .count())
                .isEqualTo(1);
    }

    @Test
    void closed_meters_leave_nothing_in_the_registry_even_if_tasks_are_submitted_later() {
        TaskMeters meters = TaskMeters.forGroups(registry, 50, Tags.empty());
        for (int i = 0; i < 60; i++) {
            run(meters, "key " + i, 1);
        }
        TestTask goesOn = submitted(meters, "key 1");
        assertThat(registry.getMeters()).hasSize(51 * RowMeters.COUNT);

        meters.close();
        meters.onStarted(goesOn, 1);
        settle(meters, goesOn);
        run(meters, "key 1", 1);
        run(meters, "new key", 1);
        meters.close();

        assertThat(registry.getMeters()).isEmpty();
        assertThat(meters.rememberedTasks()).isZero();
    }

    @Test
    void limits_caps_and_capacities_have_gauges() {
        TaskMeters meters = TaskMeters.forGroups(registry);
        GroupPolicy policy = metered(meters)
                .defaultMaxConcurrencyPerGroup(4)
                .defaultQueueThresholdPerGroup(7)
                .globalMaxInFlight(20)
                .build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            executor.submit("a", "before", () -> "value");
            meters.watch(executor);
            executor.submit("b", "after", () -> "value");
            executor.setMaxConcurrency("b", 9);

            assertThat(gauge("raddle.group.limit", "a")).isEqualTo(4);
            assertThat(gauge("raddle.group.queue.capacity", "a")).isEqualTo(7);
            assertThat(gauge("raddle.group.limit", "b")).isEqualTo(9);
            assertThat(gauges("raddle.group.cap")).isEqualTo(20);
            assertThat(gauges("raddle.group.cap.used")).isEqualTo(2);
            assertThat(gauges("raddle.group.queue.threshold")).isInfinite();
            steps.runAll();
            meters.close();
            assertThat(registry.getMeters()).isEmpty();
        }
    }

    @Test
    void the_gauge_of_a_limit_follows_an_adaptive_one() {
        TaskMeters meters = TaskMeters.forGroups(registry);
        GroupPolicy policy = metered(meters)
                .adaptiveLimit(key -> AdaptiveLimit.custom(sample -> 9).initial(1))
                .build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            meters.watch(executor);
            for (int i = 0; i < 30; i++) {
                executor.submit("a", () -> time.advance(Duration.ofMillis(50)));
            }
            assertThat(gauge("raddle.group.limit", "a")).isEqualTo(1);
            for (int i = 0; i < 25; i++) { // a window has 20 tasks and half a second
                steps.runNext();
            }
            assertThat(gauge("raddle.group.limit", "a")).isEqualTo(9);
            steps.runAll();
        }
        meters.close();
    }

    private double changesTo(String state, String key) {
        return registry.get("raddle.group.breaker.changes")
                .tags("group", key, "state", state)
                .counter()
                .count();
    }

    @Test
    void the_state_of_a_breaker_is_a_gauge_and_its_changes_are_counted() {
        TaskMeters meters = TaskMeters.forGroups(registry, 1, Tags.empty());
        GroupPolicy policy = metered(meters)
                .breaker(key -> key.equals("none")
                        ? null
                        : CircuitBreaker.failureRate(1).over(1).probes(2))
                .build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            meters.watch(executor);
            executor.submit("a", () -> "value");
            steps.runAll();
            assertThat(gauge("raddle.group.breaker", "a")).isZero();

            executor.openBreaker("a", Duration.ofSeconds(1));
            assertThat(gauge("raddle.group.breaker", "a")).isEqualTo(2);

            time.advance(Duration.ofSeconds(1));
            executor.submit("a", () -> "probe");
            steps.runAll();
            assertThat(gauge("raddle.group.breaker", "a")).isEqualTo(1);

            executor.resetBreaker("a");
            assertThat(gauge("raddle.group.breaker", "a")).isZero();
            assertThat(changesTo("open", "a")).isEqualTo(1);
            assertThat(changesTo("half-open", "a")).isEqualTo(1);
            assertThat(changesTo("closed", "a")).isEqualTo(1);

            executor.openBreaker("b", Duration.ofSeconds(1)); // has no meters of its own
            assertThat(changesTo("open", "other")).isEqualTo(1);
            meters.close();
            assertThat(registry.getMeters()).isEmpty();
        }
        assertThat(suppressed).isEmpty();
    }

    @Test
    void a_group_without_a_breaker_has_no_state_of_one() {
        TaskMeters meters = TaskMeters.forGroups(registry);
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(metered(meters).build())) {
            meters.watch(executor);
            executor.submit("a", () -> "value");

            assertThat(gauge("raddle.group.breaker", "a")).isNaN();
            steps.runAll();
        }
        meters.close();
    }

    @Test
    void only_meters_of_groups_watch_executors() {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder().build())) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> TaskMeters.forScopes(registry).watch(executor));
        }
    }
}
