package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowResult;
import dev.raddle.flow.InvalidFlowException;
import dev.raddle.flow.Node;
import dev.raddle.flow.RunOptions;
import dev.raddle.scope.ScopeOptions;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Task;
import dev.raddle.task.TaskSpec;
import dev.raddle.task.TaskStatus;
import dev.raddle.task.TaskTimeoutException;
import dev.raddle.task.UnacceptedValueException;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Attempts that take too long, and values that are not accepted, in groups, scopes and flows. */
@Timeout(60)
class AttemptTimeoutTest {

    private static final Duration LIMIT = Duration.ofMillis(200);
    private static final RetryPolicy TIMED =
            RetryPolicy.builder().maxAttempts(3).attemptTimeout(LIMIT).build();

    private final VirtualTime time = new VirtualTime();
    private final LinkedBlockingQueue<Integer> begun = new LinkedBlockingQueue<>();
    private final AtomicInteger attempts = new AtomicInteger();

    /** Blocks until it is interrupted in some attempts; the others return their number. */
    private Callable<Integer> blockingUntil(int firstThatReturns) {
        return () -> {
            int attempt = attempts.incrementAndGet();
            begun.add(attempt);
            if (attempt < firstThatReturns) {
                new CountDownLatch(1).await();
            }
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            return attempt;
        };
    }

    /** Advances the time by the limit when each of some attempts has begun. */
    private void advancePast(int attempt) throws InterruptedException {
        for (int each = 1; each <= attempt; each++) {
            assertThat(begun.take()).isEqualTo(each);
            time.advance(LIMIT);
        }
    }

    private GroupExecutor groups() {
        return GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                .timeSource(time)
                .defaultMaxConcurrencyPerGroup(1)
                .build());
    }

    @Test
    void an_attempt_that_takes_too_long_is_interrupted_and_the_next_one_begins_in_a_group() throws Exception {
        try (GroupExecutor executor = groups()) {
            TaskHandle<Integer> handle = executor.submit(
                    "key", TaskSpec.named("task", blockingUntil(3)).retry(TIMED));
            advancePast(2);
            assertThat(handle.join().value()).isEqualTo(3);
        }
        assertThat(time.alarms()).isZero();
    }

    @Test
    void a_call_in_the_callers_thread_is_interrupted_and_leaves_no_interrupt() throws Exception {
        try (GroupExecutor executor = groups()) {
            Thread advancing = Thread.startVirtualThread(() -> {
                try {
                    advancePast(1);
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            assertThat(executor.call(
                            "key", TaskSpec.named("task", blockingUntil(2)).retry(TIMED)))
                    .isEqualTo(2);
            assertThat(Thread.interrupted()).isFalse();
            advancing.join();
        }
    }

    @Test
    void a_task_fails_whose_last_attempt_takes_too_long_and_names_the_earlier_ones() throws Exception {
        try (GroupExecutor executor = groups()) {
            TaskHandle<Integer> handle = executor.submit(
                    "key", TaskSpec.named("task", blockingUntil(9)).retry(TIMED));
            advancePast(3);
            GroupResult<Integer> result = handle.join();
            assertThat(result.status()).isEqualTo(TaskStatus.FAILED);
            assertThat(result.error())
                    .isInstanceOf(TaskTimeoutException.class)
                    .hasMessage(
                            "attempt 3 of 3 of task \"task\" ran out of time after 200 ms (the timeout of an attempt)")
                    .hasCauseInstanceOf(InterruptedException.class);
            assertThat(result.error().getSuppressed())
                    .extracting(Throwable::getMessage)
                    .containsExactly(
                            "attempt 1 of 3 of task \"task\" ran out of time after 200 ms (the timeout of an attempt)",
                            "attempt 2 of 3 of task \"task\" ran out of time after 200 ms (the timeout of an attempt)");
        }
    }

    @Test
    void the_value_of_an_attempt_that_ignores_its_interrupt_does_not_count_and_the_next_begins_after_it()
            throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        try (GroupExecutor executor = groups()) {
            TaskHandle<Integer> handle = executor.submit(
                    "key",
                    TaskSpec.named("task", () -> {
                                int attempt = attempts.incrementAndGet();
                                begun.add(attempt);
                                while (attempt == 1 && end.getCount() > 0) {
                                    Thread.onSpinWait();
                                }
                                return attempt;
                            })
                            .retry(TIMED));
            advancePast(1);
            assertThat(attempts).hasValue(1);
            end.countDown();
            assertThat(handle.join().value()).isEqualTo(2);
        }
    }

    @Test
    void a_single_attempt_has_a_limit_too_and_a_cancelled_one_is_not_repeated() throws Exception {
        RetryPolicy once = RetryPolicy.builder().attemptTimeout(LIMIT).build();
        try (GroupExecutor executor = groups()) {
            TaskHandle<Integer> late = executor.submit(
                    "key", TaskSpec.named("late", blockingUntil(2)).retry(once));
            advancePast(1);
            assertThat(late.join().error()).isInstanceOf(TaskTimeoutException.class);

            TaskHandle<Integer> cancelled = executor.submit(
                    "key", TaskSpec.named("cancelled", blockingUntil(9)).retry(TIMED));
            assertThat(begun.take()).isEqualTo(2);
            assertThat(cancelled.cancel(true)).isTrue();
            time.advance(LIMIT);
            assertThat(cancelled.join().status()).isEqualTo(TaskStatus.CANCELLED);
        }
        assertThat(attempts).hasValue(2);
    }

    @Test
    void no_attempt_begins_after_a_shutdown_whose_interrupt_is_lost_in_that_of_the_limit() throws Exception {
        try (GroupExecutor executor = groups()) {
            CountDownLatch end = new CountDownLatch(1);
            TaskHandle<Integer> handle = executor.submit(
                    "key",
                    TaskSpec.named("task", () -> {
                                begun.add(attempts.incrementAndGet());
                                while (end.getCount() > 0) {
                                    try {
                                        end.await();
                                    } catch (InterruptedException ignored) {
                                        // as code that does not respond to an interrupt
                                    }
                                }
                                return attempts.get();
                            })
                            .retry(TIMED));
            advancePast(1);
            executor.shutdownGroup("key");
            end.countDown();

            assertThat(handle.join().error()).isInstanceOf(TaskTimeoutException.class);
            assertThat(attempts).hasValue(1);
        }
    }

    @Test
    void no_attempt_begins_after_one_that_fails_because_of_a_shutdown() throws Exception {
        try (GroupExecutor executor = groups()) {
            TaskHandle<Integer> handle = executor.submit(
                    "key",
                    TaskSpec.named("task", () -> {
                                begun.add(attempts.incrementAndGet());
                                if (attempts.get() == 1) {
                                    try {
                                        new CountDownLatch(1).await();
                                    } catch (InterruptedException stopped) {
                                        throw new IllegalStateException(stopped);
                                    }
                                }
                                return attempts.get();
                            })
                            .retry(RetryPolicy.attempts(3)));
            assertThat(begun.take()).isEqualTo(1);
            executor.shutdown();

            assertThat(handle.join().error()).isInstanceOf(IllegalStateException.class);
            assertThat(attempts).hasValue(1);
        }
    }

    @Test
    void an_attempt_that_takes_too_long_is_interrupted_and_the_next_one_begins_in_a_scope() throws Exception {
        ScopeOptions options = ScopeOptions.defaults().withTimeSource(time).withRetryPolicy(TIMED);
        try (ThreadScope scope = ThreadScope.open("scope", options)) {
            Task<Integer> task = scope.submit("task", blockingUntil(3));
            advancePast(2);
            assertThat(task.await()).isEqualTo(3);
        }
    }

    @Test
    void an_attempt_that_takes_too_long_is_interrupted_and_the_next_one_begins_in_a_flow() throws Exception {
        FlowBuilder<String> f = FlowPlan.define("flow", String.class);
        Callable<Integer> action = blockingUntil(3);
        Node<Integer> node = f.node("node", c -> action.call()).retry(TIMED);
        var run = f.returning(node).start(null, RunOptions.defaults().withTimeSource(time));
        advancePast(2);
        FlowResult<Integer> result = run.join();
        assertThat(result.value()).isEqualTo(3);
    }

    @Test
    void a_value_that_is_not_accepted_is_followed_by_another_attempt_and_the_last_one_is_the_value() throws Exception {
        RetryPolicy policy = RetryPolicy.builder()
                .maxAttempts(3)
                .retryWhen(value -> value.equals(1) || value.equals(2) || value.equals(3))
                .retryIf((attempt, failure) -> false)
                .backoff((attempt, failure) -> failure instanceof UnacceptedValueException unaccepted
                                && unaccepted.value().equals(attempt)
                        ? Duration.ZERO
                        : Duration.ofDays(1))
                .build();
        try (GroupExecutor executor = groups();
                ThreadScope scope = ThreadScope.open("scope")) {
            assertThat(executor.call(
                            "key", TaskSpec.named("task", blockingUntil(0)).retry(policy)))
                    .isEqualTo(3);
            attempts.set(0);
            assertThat(scope.submit(TaskSpec.named("task", blockingUntil(0)).retry(policy))
                            .await())
                    .isEqualTo(3);
            attempts.set(0);
            FlowBuilder<String> f = FlowPlan.define("flow", String.class);
            Callable<Integer> action = blockingUntil(0);
            Node<Integer> node = f.node("node", c -> action.call()).retry(policy);
            assertThat(f.returning(node).run(null).value()).isEqualTo(3);
        }
        assertThat(List.copyOf(begun)).containsExactly(1, 2, 3, 1, 2, 3, 1, 2, 3);
    }

    @Test
    void a_value_that_is_not_accepted_is_that_of_the_task_if_its_group_was_shut_down_meanwhile() {
        RetryPolicy never =
                RetryPolicy.builder().maxAttempts(3).retryWhen(value -> true).build();
        try (GroupExecutor executor = groups()) {
            TaskHandle<Integer> handle = executor.submit(
                    "key",
                    TaskSpec.named("task", () -> {
                                executor.shutdownGroup("key");
                                return attempts.incrementAndGet();
                            })
                            .retry(never));
            assertThat(handle.join().value()).isEqualTo(1);
        }
        assertThat(attempts).hasValue(1);
    }

    @Test
    void a_node_that_is_not_interrupted_has_no_limit_for_an_attempt() {
        FlowBuilder<String> f = FlowPlan.define("flow", String.class);
        Node<String> node = f.node("node", c -> "value").noInterrupt().retry(TIMED);
        assertThatThrownBy(() -> f.returning(node))
                .isInstanceOf(InvalidFlowException.class)
                .hasMessageContaining("node \"node\" has noInterrupt() and a retry policy with attemptTimeout, which"
                        + " interrupts; leave out one of them");
    }

    @Test
    void the_limit_of_an_attempt_must_be_more_than_zero() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RetryPolicy.builder().attemptTimeout(Duration.ZERO))
                .withMessage("attemptTimeout must be more than zero, was PT0S");
    }
}
