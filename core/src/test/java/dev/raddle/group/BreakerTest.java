package dev.raddle.group;

import static dev.raddle.group.CircuitBreaker.State.CLOSED;
import static dev.raddle.group.CircuitBreaker.State.HALF_OPEN;
import static dev.raddle.group.CircuitBreaker.State.OPEN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.ExceptionSink;
import dev.raddle.task.OwnerChange;
import dev.raddle.task.Rejection;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.TaskListener;
import dev.raddle.task.TaskSpec;
import dev.raddle.task.TaskStatus;
import dev.raddle.task.WaitReason;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class BreakerTest {

    private static final CircuitBreaker HALF = CircuitBreaker.failureRate(0.5)
            .over(10)
            .atLeast(4)
            .openFor(Duration.ofSeconds(30))
            .probes(2);
    private static final Callable<String> GOOD = () -> "good";
    private static final Callable<String> BAD = () -> {
        throw new IOException("down");
    };

    private final VirtualTime time = new VirtualTime();
    private final StepScheduler steps = new StepScheduler();
    private final List<OwnerChange> changes = new CopyOnWriteArrayList<>();
    private final List<Throwable> reported = new CopyOnWriteArrayList<>();

    private GroupPolicy.Builder policy() {
        return TestTasks.stepped(steps)
                .timeSource(time)
                .defaultMaxConcurrencyPerGroup(100)
                .exceptionSink(ExceptionSink.to((source, failure) -> reported.add(failure)))
                .addListener(new TaskListener() {
                    @Override
                    public void onChanged(OwnerChange change) {
                        changes.add(change);
                    }
                });
    }

    private GroupExecutor executor(CircuitBreaker breaker) {
        return GroupExecutor.newVirtualThreadExecutor(
                policy().breaker(key -> breaker).build());
    }

    private static TaskHandle<String> submit(GroupExecutor executor, Callable<String> task) {
        return executor.submit("a", TaskSpec.named("task", task));
    }

    private TaskHandle<String> run(GroupExecutor executor, Callable<String> task) {
        TaskHandle<String> handle = submit(executor, task);
        steps.runAll();
        return handle;
    }

    /** Performs an action and everything that the executor offloads because of it, in the calling thread. */
    private void perform(Runnable action) {
        time.after(Duration.ZERO, action);
        time.advance(Duration.ZERO);
    }

    private void run(GroupExecutor executor, Callable<String> task, int times) {
        for (int i = 0; i < times; i++) {
            run(executor, task);
        }
    }

    private static GroupStats.Breaker breaker(GroupExecutor executor) {
        return Objects.requireNonNull(executor.groupStats("a").orElseThrow().breaker());
    }

    private static Rejection rejection(TaskHandle<String> handle) {
        return handle.toCompletableFuture()
                .handle((result, thrown) -> ((RejectedTaskException) Objects.requireNonNull(thrown)).rejection())
                .join();
    }

    private List<String> states() {
        return changes.stream()
                .map(change -> change.before() + " > " + change.after())
                .toList();
    }

    @Test // K1
    void it_opens_with_the_end_that_makes_the_rate_reach_the_threshold_and_only_once() {
        try (GroupExecutor executor = executor(HALF)) {
            run(executor, BAD, 1);
            run(executor, GOOD, 2);
            run(executor, GOOD, 1);
            assertThat(breaker(executor).state()).as("1 of 4").isEqualTo(CLOSED);
            run(executor, BAD, 1);
            assertThat(breaker(executor).state()).as("2 of 5").isEqualTo(CLOSED);
            run(executor, BAD, 1);

            assertThat(breaker(executor).state()).as("3 of 6").isEqualTo(OPEN);
            assertThat(breaker(executor).failureRate()).isEqualTo(0.5);
            assertThat(changes).containsExactly(new OwnerChange("a", OwnerChange.Kind.BREAKER, true, "closed", "open"));
        }
    }

    @Test // K1
    void it_decides_nothing_on_fewer_ends_than_it_needs() {
        try (GroupExecutor executor = executor(HALF)) {
            run(executor, BAD, 3);
            assertThat(breaker(executor).state()).isEqualTo(CLOSED);
            run(executor, GOOD, 1);
            assertThat(breaker(executor).state())
                    .as("a good end may be the one")
                    .isEqualTo(OPEN);
        }
    }

    @Test // K1
    void the_oldest_end_leaves_a_window_of_a_count() {
        try (GroupExecutor executor = executor(HALF.atLeast(10))) {
            run(executor, BAD, 4);
            run(executor, GOOD, 6);
            assertThat(breaker(executor).failureRate()).isEqualTo(0.4);
            run(executor, GOOD, 4);
            assertThat(breaker(executor).failureRate()).isZero();
            run(executor, BAD, 4);
            assertThat(breaker(executor).state()).isEqualTo(CLOSED);
        }
    }

    @Test // K1
    void a_window_of_a_time_forgets_a_tenth_of_it_at_a_time() {
        try (GroupExecutor executor = executor(HALF.over(Duration.ofSeconds(10)))) {
            run(executor, BAD, 3);
            time.advance(Duration.ofMillis(9_999));
            assertThat(breaker(executor).ends()).isEqualTo(3);
            run(executor, GOOD, 2);
            assertThat(breaker(executor).state()).as("3 of 5").isEqualTo(OPEN);
            executor.resetBreaker("a");

            run(executor, BAD, 3);
            time.advance(Duration.ofSeconds(5));
            run(executor, GOOD, 0);
            time.advance(Duration.ofSeconds(5));
            assertThat(breaker(executor).ends()).isZero();
            run(executor, BAD, 3);
            assertThat(breaker(executor).state()).isEqualTo(CLOSED);
        }
    }

    @Test // K1
    void slow_tasks_open_it_whether_they_fail_or_not() {
        Callable<String> slow = () -> {
            time.advance(Duration.ofMillis(2_001));
            return "slow";
        };
        Callable<String> notSlow = () -> {
            time.advance(Duration.ofSeconds(2));
            return "not slow";
        };
        try (GroupExecutor executor = executor(HALF.slowerThan(Duration.ofSeconds(2), 0.5))) {
            run(executor, notSlow, 5);
            run(executor, slow, 4);
            assertThat(breaker(executor).slowRate()).isBetween(0.44, 0.45);
            run(executor, slow, 1);

            assertThat(breaker(executor).state()).isEqualTo(OPEN);
            assertThat(breaker(executor).toString()).isEqualTo("open, 0 % of 10 tasks failed, 50 % were slow");
        }
    }

    @Test // K1
    void a_timeout_is_a_failure_if_the_task_has_run_for_half_of_it() {
        Callable<String> tenSeconds = () -> {
            time.advance(Duration.ofSeconds(10));
            return "too late";
        };
        GroupPolicy policy = policy().breaker(key -> HALF.countWhen(error -> false))
                .defaultMaxConcurrencyPerGroup(1)
                .build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            submit(executor, tenSeconds);
            submit(executor, tenSeconds);
            executor.submit(
                    "a", TaskSpec.named("waits for 20 s of 25", tenSeconds).timeout(Duration.ofSeconds(25)));
            steps.runAll();
            assertThat(breaker(executor).ends())
                    .as("the callee of the third need not be slow")
                    .isEqualTo(2);
            assertThat(breaker(executor).failureRate()).isZero();

            executor.submit("a", TaskSpec.named("only runs", tenSeconds).timeout(Duration.ofSeconds(10)));
            steps.runAll();
            assertThat(breaker(executor).failureRate()).isBetween(0.33, 0.34);
        }
    }

    @Test // K1
    void a_task_that_gives_up_because_its_next_attempt_would_be_too_late_has_failed() {
        try (GroupExecutor executor = executor(HALF.countWhen(error -> false))) {
            executor.submit(
                    "a",
                    TaskSpec.named("gives up", BAD)
                            .timeout(Duration.ofSeconds(1))
                            .retry(RetryPolicy.fixedDelay(3, Duration.ofSeconds(2))));
            steps.runAll();
            assertThat(breaker(executor).ends()).isEqualTo(1);
            assertThat(breaker(executor).failureRate()).isEqualTo(1);
        }
    }

    @Test // K1
    void cancels_and_rejections_do_not_count() {
        try (GroupExecutor executor = executor(HALF.countWhen(error -> false))) {
            run(executor, BAD, 4);
            assertThat(breaker(executor).failureRate())
                    .as("the callee has answered")
                    .isZero();
            assertThat(breaker(executor).ends()).isEqualTo(4);
            run(
                    executor,
                    () -> {
                        throw new RejectedExecutionException("of another executor");
                    },
                    1);
            run(
                    executor,
                    () -> {
                        throw new InterruptedException("of the caller");
                    },
                    1);
            submit(executor, GOOD).cancel(true);
            steps.runAll();
            assertThat(breaker(executor).ends()).isEqualTo(4);
        }
    }

    @Test // K1
    void a_failure_counts_if_the_function_that_is_asked_throws() {
        CircuitBreaker broken = HALF.countWhen(error -> {
            throw new IllegalStateException("broken");
        });
        try (GroupExecutor executor = executor(broken)) {
            run(executor, BAD, 4);
            assertThat(breaker(executor).state()).isEqualTo(OPEN);
            assertThat(reported)
                    .hasSize(4)
                    .allMatch(failure -> failure.getMessage().equals("broken"));
        }
    }

    @Test // K2
    void an_open_one_refuses_at_once_with_its_rate_and_the_moment_of_the_next_probe() {
        try (GroupExecutor executor = executor(HALF)) {
            run(executor, BAD, 4);
            time.advance(Duration.ofSeconds(10));
            Rejection rejection = rejection(submit(executor, GOOD));

            assertThat(rejection.reason()).isEqualTo(Rejection.Reason.BREAKER);
            assertThat(rejection.obstacle()).isEqualTo(WaitReason.BREAKER);
            assertThat(rejection.nextStart()).isEqualTo(Duration.ofSeconds(20));
            assertThat(rejection.text()).isEqualTo("breaker: open, 100 % of 4 tasks failed, next start in 20000 ms");
            assertThat(steps.size()).isZero();
        }
    }

    @Test // K2
    void it_does_not_run_refused_tasks_in_their_callers() {
        GroupPolicy policy = policy().breaker(key -> HALF)
                .rejectionPolicy(RejectionPolicy.CALLER_RUNS)
                .build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            run(executor, BAD, 4);
            assertThat(rejection(submit(executor, GOOD)).reason()).isEqualTo(Rejection.Reason.BREAKER);
        }
    }

    @Test // K2
    void an_opening_rejects_what_waits_in_order() {
        List<Integer> rejected = new CopyOnWriteArrayList<>();
        GroupPolicy policy = policy().breaker(key -> HALF.atLeast(1))
                .defaultMaxConcurrencyPerGroup(2)
                .build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            submit(executor, BAD);
            submit(executor, BAD);
            List<CompletableFuture<Boolean>> waiting = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                int number = i;
                waiting.add(submit(executor, GOOD).toCompletableFuture().handle((result, thrown) -> {
                    rejected.add(number);
                    return thrown instanceof RejectedTaskException refused
                            && refused.rejection().reason() == Rejection.Reason.BREAKER;
                }));
            }
            steps.runNext();
            assertThat(breaker(executor).ends()).isEqualTo(1);
            waiting.forEach(isRefused -> assertThat(isRefused.join()).isTrue());
            assertThat(rejected).containsExactly(0, 1, 2);
            steps.runAll();

            assertThat(breaker(executor).ends())
                    .as("the second ended when it was open")
                    .isEqualTo(1);
        }
    }

    @Test // K2
    void tasks_wait_for_the_first_probe_if_it_is_told_to_let_them() {
        try (GroupExecutor executor = executor(HALF.openWaits())) {
            run(executor, BAD, 4);
            int alarms = time.alarms();
            List<TaskHandle<String>> waiting = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                waiting.add(submit(executor, GOOD));
            }
            Explanation why = executor.explain(waiting.get(1));
            assertThat(why.waitingFor()).isEqualTo(WaitReason.BREAKER);
            assertThat(why.nextStart()).isEqualTo(Duration.ofSeconds(30));
            assertThat(why.toString())
                    .isEqualTo("waits for the breaker of its group, which is open, 100 % of 4 tasks failed,"
                            + " next start in 30000 ms, 1 before it");
            assertThat(time.alarms()).as("one for all").isEqualTo(alarms);

            time.advance(Duration.ofSeconds(30));
            assertThat(steps.size()).as("the probes").isEqualTo(2);
            assertThat(executor.explain(waiting.get(2)).waitingFor()).isEqualTo(WaitReason.BREAKER);
            steps.runNext();
            assertThat(steps.size()).isEqualTo(1);
            steps.runNext();
            assertThat(steps.size()).as("closed").isEqualTo(3);
            steps.runAll();
            assertThat(states()).containsExactly("closed > open", "open > half-open", "half-open > closed");
        }
    }

    @Test // K2
    void a_hold_and_an_open_one_end_each_at_its_time() {
        try (GroupExecutor executor = executor(HALF.openWaits())) {
            executor.openBreaker("a", Duration.ofSeconds(10));
            executor.holdGroup("a", Duration.ofSeconds(1));
            TaskHandle<String> waiting = submit(executor, GOOD);
            time.advance(Duration.ofSeconds(1));
            assertThat(executor.groupStats("a").orElseThrow().holdLeft()).isNull();
            assertThat(executor.explain(waiting).waitingFor()).isEqualTo(WaitReason.BREAKER);
            assertThat(executor.explain(waiting).nextStart()).isEqualTo(Duration.ofSeconds(9));
            executor.resetBreaker("a");
            assertThat(steps.size()).isEqualTo(1);

            executor.openBreaker("a", Duration.ofSeconds(1));
            executor.holdGroup("a", Duration.ofSeconds(10));
            submit(executor, GOOD);
            time.advance(Duration.ofSeconds(1));
            assertThat(breaker(executor).state()).isEqualTo(HALF_OPEN);
            time.advance(Duration.ofSeconds(9));
            assertThat(steps.size()).isEqualTo(2);
            steps.runAll();
        }
    }

    @Test // K3
    void half_open_it_admits_as_many_as_it_has_probes_and_refuses_the_next() {
        try (GroupExecutor executor = executor(HALF)) {
            run(executor, BAD, 4);
            time.advance(Duration.ofSeconds(30));
            assertThat(breaker(executor).nextProbe()).isEqualTo(Duration.ZERO);
            submit(executor, GOOD);
            executor.submit("a", TaskSpec.named("wide", GOOD).cost(7).priority(3));

            Rejection rejection = rejection(submit(executor, GOOD));
            assertThat(rejection.text()).startsWith("breaker: half-open, 100 % of 4 tasks failed");
            assertThat(rejection.nextStart()).isNull();
            executor.setMaxConcurrency("a", 1_000);
            assertThat(rejection(submit(executor, GOOD)).reason()).isEqualTo(Rejection.Reason.BREAKER);
            steps.runNext();
            assertThat(rejection(submit(executor, GOOD)).reason())
                    .as("its place stays taken")
                    .isEqualTo(Rejection.Reason.BREAKER);
            steps.runNext();

            assertThat(breaker(executor).state()).isEqualTo(CLOSED);
            assertThat(breaker(executor).ends()).isZero();
            assertThat(states())
                    .containsExactly("closed > open", "open > half-open", "100 > 1000", "half-open > closed");
        }
    }

    @Test // K3
    void threads_that_submit_at_once_admit_no_more_than_the_probes() throws InterruptedException {
        try (GroupExecutor executor = executor(HALF.probes(3))) {
            for (int round = 1; round <= 50; round++) {
                executor.openBreaker("a", Duration.ofSeconds(1));
                time.advance(Duration.ofSeconds(1));
                AtomicInteger arrivals = new AtomicInteger();
                List<Thread> threads = new ArrayList<>();
                for (int i = 0; i < 4; i++) {
                    threads.add(Thread.ofPlatform().start(() -> {
                        TestTasks.meet(arrivals, 4);
                        submit(executor, GOOD);
                        submit(executor, GOOD);
                    }));
                }
                for (Thread thread : threads) {
                    thread.join();
                }
                assertThat(steps.size()).isEqualTo(3);
                steps.runAll();
                assertThat(breaker(executor).state()).isEqualTo(CLOSED);
            }
        }
    }

    @Test // K3
    void tasks_that_wait_for_a_slot_have_the_places_of_the_probes_that_follow() {
        GroupPolicy policy =
                policy().breaker(key -> HALF).defaultMaxConcurrencyPerGroup(1).build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            run(executor, BAD, 4);
            time.advance(Duration.ofSeconds(30));
            submit(executor, GOOD);
            TaskHandle<String> second = submit(executor, GOOD);
            assertThat(rejection(submit(executor, GOOD)).reason()).isEqualTo(Rejection.Reason.BREAKER);
            second.cancel(true);
            submit(executor, GOOD);
            steps.runAll();
            assertThat(breaker(executor).state()).isEqualTo(CLOSED);
        }
    }

    @Test // K3
    void the_place_of_a_cancelled_probe_is_given_to_another() {
        try (GroupExecutor executor = executor(HALF)) {
            run(executor, BAD, 4);
            time.advance(Duration.ofSeconds(30));
            submit(executor, GOOD);
            TaskHandle<String> cancelled = submit(executor, GOOD);
            cancelled.cancel(true);
            steps.runAll();
            assertThat(breaker(executor).state()).as("one of two").isEqualTo(HALF_OPEN);
            submit(executor, GOOD);
            assertThat(rejection(submit(executor, GOOD)).reason()).isEqualTo(Rejection.Reason.BREAKER);
            steps.runAll();
            assertThat(breaker(executor).state()).isEqualTo(CLOSED);
        }
    }

    @Test // K3
    void a_probe_that_fails_opens_it_for_twice_as_long_up_to_the_longest_time() {
        try (GroupExecutor executor = executor(HALF.maxOpen(Duration.ofSeconds(100)))) {
            run(executor, BAD, 4);
            for (int seconds : new int[] {30, 60, 100, 100}) {
                assertThat(breaker(executor).nextProbe()).isEqualTo(Duration.ofSeconds(seconds));
                time.advance(Duration.ofSeconds(seconds).minusNanos(1));
                assertThat(run(executor, GOOD).isDone()).isTrue();
                assertThat(breaker(executor).state()).isEqualTo(OPEN);
                time.advance(Duration.ofNanos(1));
                TaskHandle<String> other = submit(executor, GOOD);
                run(executor, BAD);
                assertThat(other.isDone()).isTrue();
                assertThat(breaker(executor).state()).isEqualTo(OPEN);
            }
            time.advance(Duration.ofSeconds(100));
            run(executor, GOOD, 2);
            run(executor, BAD, 4);
            assertThat(breaker(executor).nextProbe()).as("anew").isEqualTo(Duration.ofSeconds(30));
        }
    }

    @Test // K3
    void a_probe_that_does_not_end_in_time_opens_it() {
        try (GroupExecutor executor = executor(HALF)) {
            run(executor, BAD, 4);
            time.advance(Duration.ofSeconds(30));
            Callable<String> hangs = () -> {
                time.advance(Duration.ofSeconds(5));
                return "too late";
            };
            executor.submit("a", TaskSpec.named("hangs", hangs).timeout(Duration.ofSeconds(5)));
            steps.runAll();

            assertThat(breaker(executor).state()).isEqualTo(OPEN);
        }
    }

    @Test // K3
    void a_call_is_a_probe_like_any_other_task() throws Exception {
        try (GroupExecutor executor = executor(HALF.probes(1))) {
            executor.openBreaker("a", Duration.ofSeconds(1));
            assertThatThrownBy(() -> executor.call("a", GOOD)).isInstanceOf(RejectedTaskException.class);
            time.advance(Duration.ofSeconds(1));
            String nested = executor.call("a", () -> {
                assertThat(breaker(executor).state()).isEqualTo(HALF_OPEN);
                return rejection(submit(executor, GOOD)).text();
            });

            assertThat(nested).startsWith("breaker: half-open");
            assertThat(breaker(executor).state()).isEqualTo(CLOSED);
        }
    }

    @Test // K3
    void a_probe_keeps_its_place_while_it_waits_for_a_permit_of_the_fleet() {
        FakePermits fleet = new FakePermits();
        GroupPolicy policy =
                policy().breaker(key -> HALF.probes(1)).permits(fleet).build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            executor.openBreaker("a", Duration.ofSeconds(1));
            time.advance(Duration.ofSeconds(1));
            perform(() -> submit(executor, GOOD));
            assertThat(executor.groupStats("a").orElseThrow().queuedCount()).isEqualTo(1);
            assertThat(fleet.wanted("a")).isEqualTo(1);
            assertThat(rejection(submit(executor, GOOD)).reason()).isEqualTo(Rejection.Reason.BREAKER);

            perform(() -> fleet.grant("a", 1));
            assertThat(breaker(executor).state()).isEqualTo(HALF_OPEN);
            assertThat(rejection(submit(executor, GOOD)).reason()).isEqualTo(Rejection.Reason.BREAKER);
            perform(steps::runAll);

            assertThat(breaker(executor).state()).isEqualTo(CLOSED);
        }
    }

    @Test // K2
    void tasks_that_wait_for_an_open_one_want_no_permits_of_the_fleet() {
        FakePermits fleet = new FakePermits();
        GroupPolicy policy =
                policy().breaker(key -> HALF.openWaits()).permits(fleet).build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            executor.openBreaker("a", Duration.ofSeconds(1));
            perform(() -> submit(executor, GOOD));
            assertThat(fleet.wanted("a")).isZero();

            time.advance(Duration.ofSeconds(1));

            assertThat(fleet.wanted("a")).isEqualTo(1);
        }
    }

    @Test // K3
    void a_task_from_before_the_opening_is_no_probe() {
        try (GroupExecutor executor = executor(HALF.probes(1))) {
            submit(executor, BAD);
            executor.openBreaker("a", Duration.ofSeconds(1));
            time.advance(Duration.ofSeconds(1));
            submit(executor, GOOD);
            steps.runNext();
            assertThat(breaker(executor).state()).as("the old one has failed").isEqualTo(HALF_OPEN);
            steps.runNext();
            assertThat(breaker(executor).state()).isEqualTo(CLOSED);
        }
    }

    @Test // K4
    void a_task_counts_once_with_its_attempts_and_an_open_breaker_refuses_the_next_attempt() {
        try (GroupExecutor executor = executor(HALF.atLeast(4))) {
            TaskSpec<String> twice = TaskSpec.named("twice", BAD).retry(RetryPolicy.attempts(3));
            executor.submit("a", twice);
            steps.runAll();
            assertThat(breaker(executor).ends()).isEqualTo(1);

            List<String> calls = new ArrayList<>();
            Callable<String> opensOthers = () -> {
                calls.add("call");
                executor.openBreaker("a", Duration.ofMinutes(1));
                throw new IOException("down");
            };
            TaskHandle<String> handle =
                    executor.submit("a", TaskSpec.named("opens", opensOthers).retry(RetryPolicy.attempts(3)));
            steps.runAll();
            GroupResult<String> result = handle.join(1, TimeUnit.SECONDS);

            assertThat(calls).hasSize(1);
            assertThat(result.status()).isEqualTo(TaskStatus.FAILED);
            assertThat(result.error())
                    .isInstanceOf(RejectedTaskException.class)
                    .hasMessageContaining("breaker: open, next start in 60000 ms")
                    .satisfies(error -> assertThat(error.getSuppressed()[0]).hasMessage("down"));
        }
    }

    @Test // K5
    void a_closed_one_is_forgotten_with_its_idle_group_and_an_open_one_only_later() {
        GroupPolicy policy = policy().breaker(key -> HALF)
                .idleGroupTtl(Duration.ofSeconds(1))
                .build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            run(executor, BAD, 3);
            time.advance(Duration.ofSeconds(2));
            assertThat(executor.groupStats("a")).isEmpty();
            run(executor, BAD, 4);
            time.advance(Duration.ofSeconds(59));
            assertThat(breaker(executor).state()).isEqualTo(OPEN);
            time.advance(Duration.ofSeconds(1));
            assertThat(executor.groupStats("a"))
                    .as("30 s after the first probe was due")
                    .isEmpty();
        }
    }

    @Test // K5
    void an_eviction_resets_it_and_what_ran_before_does_not_count() {
        try (GroupExecutor executor = executor(HALF.atLeast(1))) {
            submit(executor, BAD);
            run(executor, BAD, 1);
            executor.openBreaker("a", Duration.ofHours(1));
            submit(executor, GOOD);
            executor.evictGroup("a");
            submit(executor, BAD);
            executor.evictGroup("a");
            TaskHandle<String> next = submit(executor, GOOD);
            steps.runAll();

            assertThat(next.isDone()).isTrue();
            assertThat(breaker(executor).state()).isEqualTo(CLOSED);
            assertThat(breaker(executor).ends()).isEqualTo(1);
        }
    }

    @Test // K2
    void a_shutdown_of_its_group_ends_what_waits_for_it_and_the_running_task_does_not_count() {
        try (GroupExecutor executor = executor(HALF.openWaits().atLeast(1))) {
            submit(executor, BAD);
            executor.openBreaker("a", Duration.ofHours(1));
            TaskHandle<String> waits = submit(executor, GOOD);
            executor.shutdownGroup("a");
            assertThat(rejection(waits).reason()).isEqualTo(Rejection.Reason.SHUTDOWN);

            TaskHandle<String> next = submit(executor, GOOD);
            steps.runAll();
            assertThat(next.isDone()).isTrue();
            assertThat(breaker(executor).ends()).isEqualTo(1);
        }
    }

    @Test // K2
    void a_shutdown_with_a_timeout_waits_for_the_probes() throws InterruptedException {
        try (GroupExecutor executor = executor(HALF.openWaits().probes(1))) {
            executor.openBreaker("a", Duration.ofSeconds(1));
            TaskHandle<String> waits = submit(executor, GOOD);
            CompletableFuture<Boolean> drained = new CompletableFuture<>();
            int alarms = time.alarms();
            Thread closer = Thread.ofPlatform()
                    .start(() -> drained.complete(executor.shutdownGroup("a", Duration.ofSeconds(10))));
            time.awaitAlarms(alarms + 1);
            assertThat(rejection(submit(executor, GOOD)).reason()).isEqualTo(Rejection.Reason.SHUTDOWN);
            time.advance(Duration.ofSeconds(1));
            steps.runAll();
            closer.join();

            assertThat(drained).isCompletedWithValue(true);
            assertThat(waits.join().status()).isEqualTo(TaskStatus.SUCCESS);
        }
    }

    @Test // K6
    void calls_open_and_reset_it_whatever_its_group_has_done() {
        try (GroupExecutor executor = executor(HALF)) {
            executor.openBreaker("a", Duration.ofSeconds(5));
            assertThat(rejection(submit(executor, GOOD)).text()).isEqualTo("breaker: open, next start in 5000 ms");
            assertThat(executor.groups().findFirst().orElseThrow().stats().breaker())
                    .isEqualTo(new GroupStats.Breaker(OPEN, 0, 0, 0, Duration.ofSeconds(5)));
            executor.resetBreaker("a");
            run(executor, GOOD, 1);
            assertThat(breaker(executor).ends()).isEqualTo(1);
            executor.resetBreaker("a");
            executor.resetBreaker("unknown");
            assertThat(states()).containsExactly("closed > open", "open > closed");
            assertThat(changes).noneMatch(OwnerChange::isAdaptive);
        }
    }

    @Test // K6
    void a_group_without_one_has_none_to_open() {
        GroupPolicy policy =
                policy().breaker(key -> key.equals("a") ? HALF : null).build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            executor.submit("b", TaskSpec.named("task", BAD));
            steps.runAll();
            assertThat(executor.groupStats("b").orElseThrow().breaker()).isNull();
            executor.resetBreaker("b");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> executor.openBreaker("b", Duration.ofSeconds(1)))
                    .withMessage("group \"b\" has no breaker");
        }
    }

    @Test
    void values_out_of_their_range_are_refused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CircuitBreaker.failureRate(0))
                .withMessage("failureRate must be more than 0 and at most 1, was 0.0");
        assertThatIllegalArgumentException().isThrownBy(() -> CircuitBreaker.failureRate(Double.NaN));
        assertThatIllegalArgumentException().isThrownBy(() -> HALF.over(0));
        assertThatIllegalArgumentException().isThrownBy(() -> HALF.over(1_000_001));
        assertThatIllegalArgumentException().isThrownBy(() -> HALF.over(Duration.ZERO));
        assertThatIllegalArgumentException().isThrownBy(() -> HALF.probes(0));
        assertThat(HALF).isEqualTo(HALF.probes(2)).isNotEqualTo(HALF.probes(3)).hasSameHashCodeAs(HALF.probes(2));
    }
}
