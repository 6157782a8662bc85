package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.group.AdaptiveLimit.Sample;
import dev.raddle.scope.FailurePolicy;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Rate;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.TaskSpec;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The rules of adaptive limits, one task after the other in the test's thread. */
class AdaptiveLimitTest {

    private static final int FIRST_WINDOW = 20; // tasks that count

    private final VirtualTime time = new VirtualTime();
    private final StepScheduler steps = new StepScheduler();
    private final List<Sample> samples = new ArrayList<>();
    private final List<String> reports = new ArrayList<>();
    private final List<LimitChange> changes = new ArrayList<>();
    private int next = 4; // what the algorithm returns
    private GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
            policy(AdaptiveLimit.custom(this::record).initial(4)).build());

    @AfterEach
    void shutDown() {
        executor.shutdown();
        while (steps.runNext()) {}
        executor.close();
    }

    private int record(Sample sample) {
        samples.add(sample);
        return next;
    }

    private GroupPolicy.Builder policy(AdaptiveLimit limit) {
        return TestTasks.stepped(steps)
                .adaptiveLimit(key -> key.equals("fixed") ? null : limit)
                .defaultMaxConcurrencyPerGroup(3)
                .taskLifecycleListener(new TaskLifecycleListener() {
                    @Override
                    public void onLimitChanged(LimitChange change) {
                        changes.add(change);
                    }
                })
                .exceptionSink(ExceptionSink.to((source, error) -> reports.add(source + ": " + error.getMessage())))
                .timeSource(time);
    }

    private void use(GroupPolicy.Builder policy) {
        executor.close();
        executor = GroupExecutor.newVirtualThreadExecutor(policy.build());
    }

    private void use(AdaptiveLimit limit) {
        use(policy(limit));
    }

    private int limit(String key) {
        return executor.groupStats(key).orElseThrow().maxConcurrency();
    }

    private Callable<String> lasting(int millis) {
        return () -> {
            time.advance(Duration.ofMillis(millis));
            return "done";
        };
    }

    /** Runs tasks of a group that is full all the time. Its last tasks are left waiting, so that it stays full. */
    private void run(int tasks, Callable<String> task) {
        for (int i = 0; i < tasks; i++) {
            executor.submit("a", task);
        }
        for (int i = 0; i < tasks; i++) {
            steps.runNext();
        }
    }

    private void fill() {
        for (int i = 0; i < 100; i++) {
            executor.submit("a", lasting(10));
        }
    }

    private void fillFirstWindow(Callable<String> task) {
        fill();
        run(limit("a"), task); // the first tasks do not count
        for (int i = 0; i < 100 && samples.isEmpty(); i++) {
            run(1, task);
        }
    }

    // The limit.

    @Test
    void the_limit_begins_at_the_initial_one_and_groups_without_an_adaptive_limit_have_a_fixed_one() {
        executor.submit("a", lasting(1));
        executor.submit("fixed", lasting(1));

        assertThat(limit("a")).isEqualTo(4);
        assertThat(limit("fixed")).isEqualTo(3);
    }

    @Test
    void a_full_window_is_given_to_the_algorithm_and_its_answer_becomes_the_limit() {
        next = 7;
        fillFirstWindow(lasting(10));

        assertThat(samples).hasSize(1);
        Sample sample = samples.getFirst();
        assertThat(sample.limit()).isEqualTo(4);
        assertThat(sample.count()).isEqualTo(FIRST_WINDOW);
        assertThat(sample.drops()).isZero();
        assertThat(sample.meanNanos()).isEqualTo(10_000_000);
        assertThat(sample.baselineNanos()).isEqualTo(10_000_000);
        assertThat(sample.maxRunning()).isEqualTo(4);
        assertThat(limit("a")).isEqualTo(7);
    }

    @Test
    void the_limit_stays_within_min_max_and_the_bulkhead_whatever_the_algorithm_returns() {
        use(AdaptiveLimit.custom(this::record).min(2).max(9).initial(4));
        next = Integer.MIN_VALUE;
        fillFirstWindow(lasting(10));
        assertThat(limit("a")).isEqualTo(2);

        use(policy(AdaptiveLimit.custom(this::record).max(9).initial(4)).defaultMaxInFlightPerGroup(6));
        samples.clear();
        next = Integer.MAX_VALUE;
        fillFirstWindow(lasting(10));
        assertThat(limit("a")).isEqualTo(6);

        use(AdaptiveLimit.custom(this::record).initial(4));
        samples.clear();
        next = 0;
        fillFirstWindow(lasting(10));
        assertThat(limit("a")).isEqualTo(1);
    }

    @Test
    void bounds_move_the_other_values_and_must_be_at_least_1() {
        AdaptiveLimit limit = AdaptiveLimit.gradient().min(20).max(30).initial(50);

        assertThat(limit.initial).isEqualTo(30);
        assertThat(limit.max(10).min).isEqualTo(10);
        assertThat(limit.min(40).max).isEqualTo(40);
        assertThat(limit).hasToString("gradient limit from 20 to 30");
        assertThatThrownBy(() -> limit.min(0)).hasMessage("min must be at least 1, was 0");
        assertThatThrownBy(() -> limit.max(-1)).hasMessage("max must be at least 1, was -1");
        assertThatThrownBy(() -> limit.initial(0)).hasMessage("initial must be at least 1, was 0");
    }

    @Test
    void an_algorithm_that_throws_leaves_the_limit_is_reported_and_is_called_again_after_the_next_window() {
        AtomicInteger calls = new AtomicInteger();
        use(AdaptiveLimit.custom(sample -> {
                    if (calls.incrementAndGet() == 1) {
                        throw new OutOfMemoryError("no heap");
                    }
                    return record(sample);
                })
                .initial(4));
        next = 5;
        fillFirstWindow(lasting(10));

        assertThat(calls).hasValue(2);
        assertThat(reports).containsExactly("adaptive limit of group \"a\": no heap");
        assertThat(limit("a")).isEqualTo(5);
    }

    @Test
    void a_function_that_throws_leaves_the_fixed_limit_and_is_reported() {
        use(policy(AdaptiveLimit.gradient()).adaptiveLimit(key -> {
            throw new IllegalStateException("no idea");
        }));
        executor.submit("a", lasting(1));

        assertThat(limit("a")).isEqualTo(3);
        assertThat(reports).containsExactly("adaptiveLimit for group \"a\": no idea");
    }

    // What counts.

    @Test
    void a_task_counts_only_if_the_group_was_near_its_limit() {
        for (int i = 0; i < 500; i++) {
            executor.submit("a", lasting(10));
            executor.submit("a", lasting(10));
            steps.runNext();
            steps.runNext();
        }

        assertThat(samples).isEmpty();
    }

    @Test
    void exceptions_that_drop_when_accepts_are_drops_and_others_do_not_count() {
        use(AdaptiveLimit.custom(this::record).initial(1).dropWhen(error -> error instanceof IOException));
        run(3, lasting(10));
        failing(3, new IOException("busy"));
        failing(7, new IllegalArgumentException("wrong"));
        for (int i = 0; i < 400 && samples.isEmpty(); i++) {
            run(1, lasting(10));
        }

        assertThat(samples.getFirst().drops()).isEqualTo(3);
        assertThat(samples.getFirst().count()).isEqualTo(FIRST_WINDOW - 3);
        assertThat(samples.getFirst().meanNanos()).isEqualTo(10_000_000);
    }

    private void failing(int tasks, Exception failure) {
        for (int i = 0; i < tasks; i++) {
            executor.submit("a", new Callable<String>() {
                @Override
                public String call() throws Exception {
                    time.advance(Duration.ofMillis(10));
                    throw failure;
                }
            });
        }
    }

    @Test
    void a_task_does_not_count_if_drop_when_throws() {
        use(AdaptiveLimit.custom(this::record).initial(1).dropWhen(error -> {
            throw new IllegalStateException("no idea");
        }));
        failing(1, new IOException("busy"));
        steps.runNext();
        steps.runNext();

        assertThat(samples).isEmpty();
        assertThat(reports).containsExactly("dropWhen for group \"a\": no idea");
    }

    @Test
    void a_timeout_is_a_drop_if_the_task_ran_for_most_of_it_and_not_if_it_waited() {
        use(AdaptiveLimit.custom(this::record).initial(1));
        run(1, lasting(10));
        Duration timeout = Duration.ofMillis(100);
        executor.submit("a", TaskSpec.named("ran", lasting(100)).timeout(timeout)); // starts at once
        executor.submit("a", lasting(5));
        steps.runNext();
        run(1, lasting(30));
        executor.submit("a", lasting(80)); // starts at once
        executor.submit("a", TaskSpec.named("waited", lasting(30)).timeout(timeout));
        steps.runNext();
        steps.runNext();
        steps.runNext();
        for (int i = 0; i < 100 && samples.isEmpty(); i++) {
            run(1, lasting(10));
        }

        assertThat(samples.getFirst().drops()).isEqualTo(1);
        assertThat(samples.getFirst().count()).isEqualTo(FIRST_WINDOW - 1);
    }

    @Test
    void cancelled_tasks_do_not_count() throws Exception {
        use(AdaptiveLimit.custom(this::record).initial(1));
        for (int i = 0; i < 300; i++) {
            List<TaskHandle<String>> self = new ArrayList<>();
            self.add(executor.submit("a", "self", () -> {
                time.advance(Duration.ofMillis(10));
                self.getFirst().cancel(true);
                return "late";
            }));
            TaskHandle<String> waiting = executor.submit("a", lasting(10));
            waiting.cancel(false);
            steps.runNext();
        }

        assertThat(samples).isEmpty();
    }

    @Test
    void a_task_that_was_repeated_by_its_retry_policy_does_not_count() {
        use(AdaptiveLimit.custom(this::record).initial(1));
        AtomicInteger calls = new AtomicInteger();
        RetryPolicy retry = RetryPolicy.fixedDelay(2, Duration.ZERO);
        for (int i = 0; i < 300; i++) {
            executor.submit(
                    "a",
                    TaskSpec.named("again", () -> {
                                time.advance(Duration.ofMillis(10));
                                if (calls.incrementAndGet() % 2 == 1) {
                                    throw new IOException("once more");
                                }
                                return "done";
                            })
                            .retry(retry));
            steps.runNext();
        }
        assertThat(samples).isEmpty();
        assertThat(calls).hasValue(600);

        for (int i = 0; i < 30; i++) {
            executor.submit("a", TaskSpec.named("first", lasting(10)).retry(retry));
            steps.runNext();
        }
        assertThat(samples).hasSize(1); // tasks with a retry policy count if it was not needed
    }

    @Test
    void the_first_task_in_the_queue_that_is_too_wide_for_the_rest_means_that_the_limit_is_near() {
        for (int i = 0; i < 60; i++) {
            executor.submit("a", TaskSpec.named("wide", lasting(10)).cost(3)); // one at a time under a limit of 4
        }
        for (int i = 0; i < 59; i++) {
            steps.runNext();
        }

        assertThat(samples).isNotEmpty();
    }

    // By hand.

    @Test
    void a_limit_that_is_set_by_hand_stays_until_it_is_told_to_adapt_again() {
        next = 9;
        executor.submit("a", lasting(1));
        executor.setMaxConcurrency("a", 2);
        fill();
        run(300, lasting(10));
        assertThat(samples).isEmpty();
        assertThat(limit("a")).isEqualTo(2);

        executor.resumeAdaptive("a");
        assertThat(limit("a")).isEqualTo(2);
        run(300, lasting(10));
        assertThat(samples.getFirst().limit()).isEqualTo(2);
        assertThat(limit("a")).isEqualTo(9);
    }

    @Test
    void resuming_has_no_effect_on_a_group_that_adapts_has_a_fixed_limit_or_does_not_exist() {
        executor.submit("fixed", lasting(1));
        executor.resumeAdaptive("fixed");
        executor.resumeAdaptive("nobody");
        fill();
        run(10, lasting(10));
        executor.resumeAdaptive("a"); // keeps what was counted
        run(15, lasting(10)); // the first step is the task of the other group

        assertThat(limit("fixed")).isEqualTo(3);
        assertThat(executor.activeGroupKeys()).containsExactlyInAnyOrder("a", "fixed");
        assertThat(samples).hasSize(1);
    }

    @Test
    void a_changed_rate_weight_hold_or_pause_does_not_stop_the_adaptation() {
        next = 6;
        executor.submit("a", lasting(1));
        executor.setRate("a", Rate.perSecond(1_000_000));
        executor.setWeight("a", 5);
        executor.pauseGroup("a");
        executor.resumeGroup("a");
        executor.holdGroup("a", Duration.ofMillis(5));
        time.advance(Duration.ofMillis(5));
        fillFirstWindow(lasting(10));

        assertThat(samples).hasSize(1);
        assertThat(limit("a")).isEqualTo(6);
    }

    @Test
    void a_group_that_was_evicted_begins_at_the_initial_limit_and_a_decision_for_the_old_life_is_dropped() {
        use(AdaptiveLimit.custom(sample -> {
                    record(sample);
                    executor.evictGroup("a");
                    executor.submit("a", lasting(1));
                    return 9;
                })
                .initial(4));
        fillFirstWindow(lasting(10));

        assertThat(samples).hasSize(1);
        assertThat(limit("a")).isEqualTo(4);
        assertThat(changes).isEmpty();
    }

    @Test
    void a_limit_that_is_set_by_hand_during_a_decision_wins() {
        use(AdaptiveLimit.custom(sample -> {
                    record(sample);
                    executor.setMaxConcurrency("a", 2);
                    return 9;
                })
                .initial(4));
        fillFirstWindow(lasting(10));

        assertThat(limit("a")).isEqualTo(2);
        assertThat(reports).isEmpty();
    }

    @Test
    void an_idle_group_with_a_changed_limit_is_removed_and_begins_at_the_initial_one_again() {
        next = 6;
        fillFirstWindow(lasting(10));
        while (steps.runNext()) {}
        assertThat(limit("a")).isEqualTo(6);
        time.advance(Duration.ofMinutes(3));

        assertThat(executor.activeGroupKeys()).isEmpty();
        executor.submit("a", lasting(1));
        assertThat(limit("a")).isEqualTo(4);
    }

    // Observing.

    @Test
    void each_change_is_reported_with_its_reason_to_the_listener_in_statistics_and_explanations() {
        next = 5;
        fillFirstWindow(lasting(10));
        fill();
        TaskHandle<String> last = executor.submit("a", lasting(10));

        LimitChange change = new LimitChange("a", 4, 5, "custom: mean 10.0 ms against 10.0 ms, 0 of 20 tasks dropped");
        assertThat(changes).containsExactly(change);
        assertThat(executor.groupStats("a").orElseThrow().limitChange()).isEqualTo(change);
        assertThat(executor.explain(last).toString())
                .startsWith("waits for a slot of its group, ")
                .endsWith(", limit 5 after 4, custom: mean 10.0 ms against 10.0 ms, 0 of 20 tasks dropped");
    }

    @Test
    void a_listener_that_throws_does_not_stop_the_adaptation() {
        use(policy(AdaptiveLimit.custom(this::record).initial(4)).taskLifecycleListener(new TaskLifecycleListener() {
            @Override
            public void onLimitChanged(LimitChange change) {
                throw new IllegalStateException("not now");
            }
        }));
        next = 5;
        fillFirstWindow(lasting(10));

        assertThat(limit("a")).isEqualTo(5);
        assertThat(reports).containsExactly("onLimitChanged of the listener, for group \"a\": not now");
    }

    @Test
    void each_change_is_in_a_flight_recording(@TempDir Path directory) throws Exception {
        try (Recording recording = new Recording()) {
            recording.enable("dev.raddle.LimitChange");
            recording.start();
            next = 5;
            fillFirstWindow(lasting(10));
            recording.dump(directory.resolve("limits.jfr"));
        }
        List<RecordedEvent> events = RecordingFile.readAllEvents(directory.resolve("limits.jfr"));

        assertThat(Files.exists(directory.resolve("limits.jfr"))).isTrue();
        assertThat(events).hasSize(1);
        assertThat(events.getFirst().getString("group")).isEqualTo("a");
        assertThat(events.getFirst().getInt("before")).isEqualTo(4);
        assertThat(events.getFirst().getInt("after")).isEqualTo(5);
        assertThat(events.getFirst().getString("reason")).startsWith("custom: mean 10.0 ms");
    }

    @Test
    void the_gradient_says_which_run_times_it_compares() {
        use(AdaptiveLimit.gradient().initial(4));
        fill();
        run(26, lasting(20));

        assertThat(changes.getFirst().reason()).isEqualTo("gradient 1.00: mean 10.0 ms against 10.0 ms");
        assertThat(changes.getFirst().after()).isEqualTo(6);
    }

    @Test
    void a_limit_that_adapts_again_does_not_retain_its_group() {
        executor.setMaxConcurrency("a", 2);
        time.advance(Duration.ofMinutes(3));
        assertThat(executor.activeGroupKeys()).containsExactly("a");

        executor.resumeAdaptive("a");
        time.advance(Duration.ofMinutes(3));
        assertThat(executor.activeGroupKeys()).isEmpty();

        executor.setMaxConcurrency("a", 2);
        executor.setWeight("a", 3);
        executor.resumeAdaptive("a");
        time.advance(Duration.ofMinutes(3));
        assertThat(executor.activeGroupKeys()).containsExactly("a");
    }

    @Test
    void an_algorithm_may_wait_for_another_task_of_its_group_if_threads_are_reused() throws Exception {
        AtomicReference<GroupResult<String>> inner = new AtomicReference<>();
        AdaptiveLimit waiting = AdaptiveLimit.custom(sample -> {
                    inner.set(executor.submit("a", () -> "inner").join(20, TimeUnit.SECONDS));
                    return sample.limit();
                })
                .initial(1);
        use(GroupPolicy.builder().reuseThreads(true).adaptiveLimit(key -> waiting));
        List<TaskHandle<String>> tasks = new ArrayList<>();
        for (int i = 0; i < FIRST_WINDOW + 10; i++) {
            tasks.add(executor.submit("a", () -> "outer"));
        }
        for (TaskHandle<String> task : tasks) {
            task.await();
        }

        assertThat(inner.get().value()).isEqualTo("inner");
    }

    @Test
    void a_failed_task_of_a_scope_that_runs_in_a_group_counts_as_a_failed_task_of_the_group() {
        use(AdaptiveLimit.custom(this::record).initial(1).dropWhen(error -> error instanceof IOException));
        try (ThreadScope scope = ThreadScope.open("s")
                .withScheduler(executor.scheduler("a"))
                .withFailurePolicy(FailurePolicy.SUPERVISOR)) {
            for (int i = 0; i < 60; i++) {
                Exception failure = i % 2 == 0 ? new IOException("busy") : new IllegalArgumentException("wrong");
                scope.submit("call", () -> {
                    time.advance(Duration.ofMillis(10));
                    throw failure;
                });
                steps.runAll();
            }
        }

        assertThat(samples.getFirst().drops()).isEqualTo(FIRST_WINDOW);
        assertThat(samples.getFirst().count()).isZero();
    }
}
