package dev.raddle.scope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.CancelledException;
import dev.raddle.task.Outcome;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Task;
import dev.raddle.task.TaskSpec;
import dev.raddle.task.TaskTimeoutException;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RetryTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final StepScheduler steps = new StepScheduler();
    private final VirtualTime time = new VirtualTime();
    private final AtomicInteger calls = new AtomicInteger();

    private ThreadScope stepped() {
        return ThreadScope.open("s").withScheduler(steps).withTimeSource(time);
    }

    private ThreadScope threaded() {
        return ThreadScope.open("s").withTimeSource(time);
    }

    /** Throws the given exceptions one after the other, then returns the number of calls. */
    private Callable<Integer> throwing(Exception... failures) {
        return () -> {
            int call = calls.incrementAndGet();
            if (call <= failures.length) {
                throw failures[call - 1];
            }
            return call;
        };
    }

    @Test
    void a_task_is_attempted_until_it_succeeds() throws Exception {
        try (ThreadScope scope = stepped().withRetryPolicy(RetryPolicy.attempts(4))) {
            Task<Integer> task = scope.submit(throwing(new IOException("1"), new IllegalStateException("2")));
            steps.runAll();

            assertThat(task.await()).isEqualTo(3);
            assertThat(scope.metrics().started())
                    .as("one task, whatever it took")
                    .isEqualTo(1);
        }
    }

    @Test
    void the_last_failure_is_thrown_with_the_earlier_ones_in_order() {
        IOException last = new IOException("3");
        try (ThreadScope scope = stepped().withRetryPolicy(RetryPolicy.attempts(3))) {
            Task<Integer> task =
                    scope.submit(throwing(new IOException("1"), new IOException("2"), last, new IOException("4")));
            steps.runAll();

            assertThat(calls).hasValue(3);
            assertThat(task.outcome()).contains(new Outcome.Failure<>(last));
            assertThat(last.getSuppressed()).extracting(Throwable::getMessage).containsExactly("1", "2");
        }
    }

    @Test
    void a_failure_is_never_suppressed_in_itself() {
        IllegalStateException same = new IllegalStateException("same");
        IllegalStateException other = new IllegalStateException("other");
        try (ThreadScope scope = stepped().withRetryPolicy(RetryPolicy.attempts(4))) {
            Task<Integer> task = scope.submit(throwing(same, other, same, same));
            steps.runAll();

            assertThat(task.outcome()).contains(new Outcome.Failure<>(same));
            assertThat(same.getSuppressed()).containsExactly(other);
        }
    }

    @Test
    void interrupts_cancellations_and_errors_are_not_retried() {
        List<Throwable> never = List.of(
                new InterruptedException(),
                new CancelledException("inside"),
                new CancellationException("inside"),
                new AssertionError("an error"));
        try (ThreadScope scope = stepped().withRetryPolicy(RetryPolicy.attempts(3))) {
            for (Throwable thrown : never) {
                calls.set(0);
                Task<?> task = scope.submit(() -> {
                    calls.incrementAndGet();
                    return RetryTest.<Object, RuntimeException>sneaky(thrown);
                });
                steps.runAll();
                assertThat(calls).hasValue(1);
                assertThat(task.outcome()).contains(Outcome.ofThrown(thrown));
            }
        }
    }

    @SuppressWarnings("unchecked")
    private static <T, X extends Throwable> T sneaky(Throwable thrown) throws X {
        throw (X) thrown;
    }

    @Test
    void an_error_after_failures_carries_them() {
        Error error = new AssertionError("last");
        try (ThreadScope scope = stepped().withRetryPolicy(RetryPolicy.attempts(5))) {
            Task<?> task = scope.submit(() -> {
                if (calls.incrementAndGet() < 2) {
                    throw new IOException("1");
                }
                throw error;
            });
            steps.runAll();
            assertThat(task.outcome()).contains(new Outcome.Failure<>(error));
            assertThat(error.getSuppressed()).extracting(Throwable::getMessage).containsExactly("1");
        }
    }

    @Test
    void a_condition_decides_whether_to_retry() {
        List<String> asked = new ArrayList<>();
        RetryPolicy policy = RetryPolicy.builder()
                .maxAttempts(5)
                .retryIf((attempt, failure) -> {
                    asked.add(attempt + " " + failure.getMessage());
                    return failure instanceof IOException;
                })
                .build();
        try (ThreadScope scope = stepped().withRetryPolicy(policy)) {
            Task<Integer> task =
                    scope.submit(throwing(new IOException("a"), new IllegalStateException("b"), new IOException("c")));
            steps.runAll();
            assertThat(calls).hasValue(2);
            assertThat(asked).containsExactly("1 a", "2 b");
            assertThatThrownBy(task::await).hasMessage("b");
        }
    }

    @Test
    void an_exception_of_a_policy_is_the_tasks_failure_and_keeps_the_failure_before_it() {
        List<RetryPolicy> broken = List.of(
                RetryPolicy.builder()
                        .maxAttempts(3)
                        .retryIf((attempt, failure) -> {
                            throw new IllegalArgumentException("from the policy");
                        })
                        .build(),
                RetryPolicy.builder()
                        .maxAttempts(3)
                        .backoff((attempt, failure) -> {
                            throw new IllegalArgumentException("from the policy");
                        })
                        .build());
        try (ThreadScope scope = stepped()) {
            for (RetryPolicy policy : broken) {
                calls.set(0);
                Task<Integer> task =
                        scope.submit(TaskSpec.<Integer>named("t", throwing(new IOException("1"), new IOException("2")))
                                .retry(policy));
                steps.runAll();
                assertThat(calls).hasValue(1);
                assertThatThrownBy(task::await)
                        .hasMessage("from the policy")
                        .satisfies(thrown -> assertThat(thrown.getSuppressed())
                                .extracting(Throwable::getMessage)
                                .containsExactly("1"));
            }
        }
    }

    @Test
    void a_tasks_own_policy_overrides_that_of_its_scope() throws Exception {
        try (ThreadScope scope = stepped().withRetryPolicy(RetryPolicy.attempts(3))) {
            Task<Integer> once = scope.submit(TaskSpec.<Integer>named("once", throwing(new IOException("1")))
                    .retry(RetryPolicy.noRetry()));
            steps.runAll();
            assertThat(once.isFailed()).isTrue();
            assertThat(calls).hasValue(1);
        }
    }

    @Test
    void a_task_that_was_cancelled_during_an_attempt_is_not_tried_again() {
        List<Task<?>> itself = new ArrayList<>();
        try (ThreadScope scope = stepped().withRetryPolicy(RetryPolicy.attempts(3))) {
            itself.add(scope.submit(() -> {
                calls.incrementAndGet();
                scope.cancel("in the middle");
                Thread.interrupted(); // ignores the interrupt
                throw new IOException("because of it");
            }));
            steps.runAll();
            assertThat(itself.getFirst().isCancelled()).isTrue();
        }
        assertThat(calls).hasValue(1);
    }

    @Test
    void a_task_cancelled_while_its_hook_is_notified_of_the_start_is_never_attempted() {
        ThreadHook cancels = new ThreadHook() {
            @Override
            public void onStart(TaskInfo task) {
                ThreadScope.current().orElseThrow().cancel("by the hook");
            }
        };
        try (ThreadScope scope = stepped().addHook(cancels).withRetryPolicy(RetryPolicy.attempts(3))) {
            Task<Integer> task = scope.submit(calls::incrementAndGet);
            steps.runAll();
            assertThat(task.isCancelled()).isTrue();
        }
        assertThat(calls).hasValue(0);
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void a_cancel_during_the_retry_delay_ends_it_at_once() throws Exception {
        try (ThreadScope scope = threaded().withRetryPolicy(RetryPolicy.fixedDelay(3, Duration.ofDays(1)))) {
            Task<Integer> byHandle = scope.submit(throwing(new IOException("1")));
            time.awaitAlarms(1);

            assertThat(byHandle.cancel()).isTrue();

            assertThatThrownBy(byHandle::await).isInstanceOf(CancelledException.class);
            scope.tasks.pending.untilEmpty().await(); // its thread has finished
            assertThat(time.nanoTime()).isZero();
            assertThat(time.alarms()).isZero();
            assertThat(calls).hasValue(1);

            calls.set(0);
            scope.submit(throwing(new IOException("1")));
            time.awaitAlarms(1);
            scope.cancel("enough");
        }
        assertThat(calls).hasValue(1);
        assertThat(time.alarms()).isZero();
    }

    @Test
    void a_deadline_during_the_retry_delay_ends_it_at_once() throws Exception {
        try (ThreadScope scope = threaded()
                .withDeadline(SECOND.multipliedBy(5))
                .withRetryPolicy(RetryPolicy.fixedDelay(9, SECOND.multipliedBy(2)))) {
            Task<Integer> task =
                    scope.submit("t", throwing(new IOException("1"), new IOException("2"), new IOException("3")));
            time.awaitAlarms(2);
            time.advance(SECOND.multipliedBy(2));
            time.awaitAlarms(2);
            time.advance(SECOND.multipliedBy(2));

            assertThatThrownBy(task::await)
                    .isInstanceOf(TaskTimeoutException.class)
                    .hasMessage("task \"t\" gave up after attempt 3 of 9: the next would begin in 2000 ms, and of its"
                            + " 5000 ms only 1000 ms are left")
                    .hasRootCauseMessage("3")
                    .satisfies(thrown -> assertThat(thrown.getSuppressed())
                            .extracting(Throwable::getMessage)
                            .containsExactly("1", "2"));
        }
        assertThat(calls).hasValue(3);
        assertThat(time.alarms()).isZero();
    }

    @Test
    void retry_delays_are_as_long_as_the_policy_says() throws Exception {
        RetryPolicy policy = RetryPolicy.exponentialBackoff(4, SECOND, 3, SECOND.multipliedBy(5));
        List<Long> moments = new ArrayList<>();
        try (ThreadScope scope = threaded().withRetryPolicy(policy)) {
            Task<Integer> task = scope.submit(() -> {
                moments.add(Duration.ofNanos(time.nanoTime()).toSeconds());
                throw new IOException("again");
            });
            for (int rest : new int[] {1, 3, 5}) {
                time.awaitAlarms(1);
                time.advance(SECOND.multipliedBy(rest).minusNanos(1));
                assertThat(time.alarms()).as("a nanosecond early").isEqualTo(1);
                time.advance(Duration.ofNanos(1));
            }
            assertThatThrownBy(task::await).hasRootCauseMessage("again");
        }
        assertThat(moments).containsExactly(0L, 1L, 4L, 9L);
    }

    @Test
    void a_timeout_spans_all_attempts_and_retry_delays() throws Exception {
        try (ThreadScope scope = threaded()) {
            BlockingTask blocker = new BlockingTask();
            Task<String> task = scope.submit(TaskSpec.<String>named("t", () -> {
                        if (calls.incrementAndGet() < 2) {
                            throw new IOException("1");
                        }
                        return blocker.call();
                    })
                    .retry(RetryPolicy.fixedDelay(3, SECOND))
                    .timeout(SECOND.multipliedBy(3)));
            time.awaitAlarms(2);
            time.advance(SECOND);
            blocker.awaitBegun();

            time.advance(SECOND.multipliedBy(2));

            assertThatThrownBy(task::await).isInstanceOfSatisfying(TaskTimeoutException.class, late -> {
                assertThat(late).hasMessage("task \"t\" ran out of time after 3000 ms (its timeout), attempt 2 of 3");
                assertThat(late.task()).isEqualTo("t");
                assertThat(late.budget()).isEqualTo(SECOND.multipliedBy(3));
                assertThat(late.attempt()).isEqualTo(2);
            });
        }
        assertThat(calls).hasValue(2);
    }

    @Test
    void the_delay_of_a_retry_that_cannot_begin_in_time_is_skipped() {
        try (ThreadScope scope = stepped()) {
            Task<Integer> task = scope.submit(TaskSpec.<Integer>named("t", throwing(new IOException("1")))
                    .retry(RetryPolicy.fixedDelay(3, SECOND))
                    .timeout(SECOND));
            steps.runAll(); // would never return if a thread waited

            assertThatThrownBy(task::await)
                    .isInstanceOf(TaskTimeoutException.class)
                    .hasMessage("task \"t\" gave up after attempt 1 of 3: the next would begin in 1000 ms, and of its"
                            + " 1000 ms only 1000 ms are left")
                    .hasRootCauseMessage("1");
            assertThat(time.alarms()).isZero();
        }
        assertThat(calls).hasValue(1);
    }
}
