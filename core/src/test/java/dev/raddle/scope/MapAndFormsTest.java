package dev.raddle.scope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.CancelledException;
import dev.raddle.task.Outcome;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Task;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import dev.raddle.task.TaskPriority;
import dev.raddle.task.TaskSpec;
import dev.raddle.task.TaskTimeoutException;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The short forms of submitting and joining, and map. */
class MapAndFormsTest {

    private static final List<Integer> HUNDRED = IntStream.range(0, 100).boxed().toList();

    // Forms of submit.

    @Test
    void an_action_is_a_task_without_a_value() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        try (ThreadScope scope = ThreadScope.open()) {
            Task<Void> plain = scope.submit(() -> {
                runs.incrementAndGet();
            });
            Runnable action = runs::incrementAndGet;
            Task<Void> named = scope.submit("named", action);
            Task<Void> bounded = scope.submit(TaskSpec.named("bounded", action).timeout(Duration.ofDays(1)));
            Task<Void> later = scope.schedule(Duration.ZERO, action);
            assertThat(scope.awaitAll(plain, named, bounded, later)).containsExactly(null, null, null, null);
            assertThat(named.name()).isEqualTo("named");
            assertThat(plain.name()).isEqualTo("task-1");
            assertThatNullPointerException().isThrownBy(() -> scope.submit((Runnable) null));
        }
        assertThat(runs).hasValue(4);
    }

    @Test
    void an_exception_of_an_action_is_the_tasks_failure() throws Exception {
        IllegalStateException failure = new IllegalStateException("of the action");
        VirtualTime time = new VirtualTime();
        try (ThreadScope scope = ThreadScope.open().withTimeSource(time)) {
            Runnable fails = () -> {
                throw failure;
            };
            assertThatThrownBy(scope.submit(fails)::await).isSameAs(failure);
            BlockingTask blocker = new BlockingTask();
            Runnable slow = () -> {
                try {
                    blocker.call();
                } catch (InterruptedException interrupt) {
                    Thread.currentThread().interrupt();
                }
            };
            Task<Void> late = scope.submit(TaskSpec.named("late", slow).timeout(Duration.ofSeconds(1)));
            blocker.awaitBegun();
            time.advance(Duration.ofSeconds(1));
            assertThatThrownBy(late::await).isInstanceOf(TaskTimeoutException.class);
        }
    }

    @Test
    void a_task_has_a_retry_policy_and_a_priority_of_its_own_without_a_type_witness() throws Exception {
        AtomicInteger attempts = new AtomicInteger();
        List<String> order = new ArrayList<>();
        StepScheduler steps = new StepScheduler();
        try (ThreadScope scope = ThreadScope.open().withConcurrencyLimit(1).withScheduler(steps)) {
            Task<Boolean> first = scope.submit("first", () -> order.add("first"));
            Task<Boolean> low =
                    scope.submit(TaskSpec.named("low", () -> order.add("low")).priority(TaskPriority.LOW));
            Task<Integer> high = scope.submit(TaskSpec.named("high", () -> {
                        order.add("high");
                        if (attempts.incrementAndGet() < 3) {
                            throw new IOException("attempt " + attempts);
                        }
                        return attempts.get();
                    })
                    .priority(TaskPriority.HIGH)
                    .retry(RetryPolicy.attempts(3)));
            steps.runAll();
            assertThat(first.await() && low.await()).isTrue();
            assertThat(high.await()).isEqualTo(3);
            assertThat(high.name()).isEqualTo("high");
        }
        assertThat(order).containsExactly("first", "high", "high", "high", "low");
    }

    // Joins.

    @Test
    void alternatives_of_a_join_may_be_passed_as_arguments() throws Exception {
        try (ThreadScope scope = ThreadScope.open()) {
            String first = scope.join(JoinStrategy.firstSuccess(), () -> "near", () -> Tasks.forever());
            assertThat(first).isEqualTo("near");
            List<Integer> two = scope.join(JoinStrategy.quorum(2), () -> 1, () -> Tasks.forever(), () -> 2);
            assertThat(two).containsExactlyInAnyOrder(1, 2);
            String alone = scope.join(JoinStrategy.hedged(Duration.ofDays(1)), () -> "alone");
            assertThat(alone).isEqualTo("alone");
        }
    }

    // Map.

    @Test
    void values_of_a_map_are_in_the_order_of_the_elements() throws Exception {
        try (ThreadScope scope = ThreadScope.open()) {
            assertThat(scope.map(HUNDRED, 7, number -> number * number))
                    .containsExactlyElementsOf(
                            HUNDRED.stream().map(number -> number * number).toList());
            assertThat(scope.map(List.of(1, 2), 5, number -> (String) null)).containsExactly(null, null);
            assertThat(scope.map(List.<Integer>of(), 1, number -> number)).isEmpty();
            assertThat(scope.metrics().succeeded()).isEqualTo(102);
        }
    }

    @Test
    void a_map_calls_no_more_at_once_than_its_limit_and_begins_the_next_when_one_ends() throws Exception {
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        CountDownLatch three = new CountDownLatch(3);
        try (ThreadScope scope = ThreadScope.open()) {
            scope.map(HUNDRED, 3, number -> {
                most.accumulateAndGet(running.incrementAndGet(), Math::max);
                three.countDown();
                three.await(); // three calls wait here at once
                return running.decrementAndGet();
            });
        }
        assertThat(most).hasValue(3);
    }

    @Test
    void the_first_failure_of_a_map_ends_it_and_begins_no_further_calls() throws Exception {
        IOException failure = new IOException("of the third");
        AtomicInteger calls = new AtomicInteger();
        BlockingTask blocker = new BlockingTask();
        try (ThreadScope scope = ThreadScope.open()) {
            assertThatThrownBy(() -> scope.map(HUNDRED, 2, number -> {
                        calls.incrementAndGet();
                        if (number == 0) {
                            return blocker.call();
                        }
                        blocker.awaitBegun();
                        throw failure;
                    }))
                    .hasCause(failure);
            assertThat(scope.submit(() -> "value").await())
                    .as("the scope goes on")
                    .isEqualTo("value");
        }
        assertThat(blocker.interrupts()).isEqualTo(1);
        assertThat(calls).hasValue(2);
    }

    @Test
    void under_a_policy_that_does_not_cancel_a_map_calls_all() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        ThreadScope.Mapper<Integer, Integer> odd = number -> {
            calls.incrementAndGet();
            if (number % 2 == 0) {
                throw new IOException("even");
            }
            return number;
        };
        try (ThreadScope scope = ThreadScope.open().withFailurePolicy(FailurePolicy.COLLECT_ALL)) {
            assertThatThrownBy(() -> scope.map(HUNDRED, 4, odd))
                    .isInstanceOf(AggregateException.class)
                    .satisfies(thrown -> assertThat(thrown.getSuppressed()).hasSize(50));
        }
        assertThat(calls).hasValue(100);
        for (FailurePolicy policy : List.of(FailurePolicy.SUPERVISOR, FailurePolicy.CANCEL_OTHERS)) {
            try (ThreadScope scope = ThreadScope.open().withFailurePolicy(policy)) {
                assertThatIllegalStateException()
                        .isThrownBy(() -> scope.map(HUNDRED, 4, odd))
                        .withMessageContaining("has no value")
                        .havingRootCause() // a map has no handle that could be asked for it
                        .withMessage("even");
            }
        }
    }

    @Test
    void a_map_ends_with_its_scope() throws Exception {
        VirtualTime time = new VirtualTime();
        BlockingTask blocker = new BlockingTask();
        FutureTask<Class<?>> block = new FutureTask<>(() -> {
            try (ThreadScope scope = ThreadScope.open().withTimeSource(time).withDeadline(Duration.ofSeconds(1))) {
                scope.map(HUNDRED, 1, number -> blocker.call());
                return Object.class;
            } catch (ScopeTimeoutException expected) {
                return expected.getClass();
            }
        });
        Thread.ofPlatform().start(block);
        blocker.awaitBegun();
        time.advance(Duration.ofSeconds(1));
        assertThat(block.get()).isEqualTo(ScopeTimeoutException.class);

        try (ThreadScope scope = ThreadScope.open()) {
            assertThatThrownBy(() -> scope.map(HUNDRED, 1, number -> {
                        scope.cancel("enough");
                        return number;
                    }))
                    .isInstanceOf(CancelledException.class);
            assertThatThrownBy(() -> scope.map(HUNDRED, 1, number -> number)).isInstanceOf(CancelledException.class);
        }
    }

    @Test
    void an_interrupted_map_cancels_what_it_has_begun() throws Exception {
        BlockingTask blocker = new BlockingTask();
        List<Task.State> states = Collections.synchronizedList(new ArrayList<>());
        FutureTask<String> block = new FutureTask<>(() -> {
            try (ThreadScope scope = ThreadScope.open()) {
                try {
                    scope.map(HUNDRED, 1, number -> blocker.call());
                } catch (InterruptedException expected) {
                    states.add(Task.State.CANCELLED);
                    assertThat(scope.metrics().submitted()).isEqualTo(1);
                }
            }
            return "";
        });
        Thread thread = Thread.ofPlatform().start(block);
        blocker.awaitBegun();
        thread.interrupt();
        block.get();
        assertThat(states).hasSize(1);
        assertThat(blocker.interrupts()).isEqualTo(1);
    }

    @Test
    void an_interrupted_map_cancels_the_last_task_first_so_that_none_begins_in_the_place_of_another() throws Exception {
        List<TaskIdentity> submitted = Collections.synchronizedList(new ArrayList<>());
        List<TaskIdentity> cancelled = Collections.synchronizedList(new ArrayList<>());
        CountDownLatch threeSubmitted = new CountDownLatch(3);
        BlockingTask blocker = new BlockingTask();
        TaskListener order = new TaskListener() {
            @Override
            public void onSubmitted(TaskIdentity task) {
                submitted.add(task);
                threeSubmitted.countDown();
            }

            @Override
            public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
                if (outcome instanceof Outcome.Cancelled<?>) {
                    cancelled.add(task);
                }
            }
        };
        FutureTask<String> block = new FutureTask<>(() -> {
            try (ThreadScope scope = ThreadScope.open().withConcurrencyLimit(1).addListener(order)) {
                Task<String> first = scope.submit("first", blocker::call);
                assertThatThrownBy(() -> scope.map(HUNDRED, 2, number -> number))
                        .isInstanceOf(InterruptedException.class);
                blocker.release();
                return first.await();
            }
        });
        Thread thread = Thread.ofPlatform().start(block);
        threeSubmitted.await();
        thread.interrupt();
        assertThat(block.get()).isEqualTo("value");
        assertThat(cancelled).containsExactly(submitted.get(2), submitted.get(1));
    }

    @Test
    void a_map_in_a_task_of_a_full_scope_throws_instead_of_waiting_for_ever() throws Exception {
        for (int limit : new int[] {1, 5}) {
            try (ThreadScope scope = ThreadScope.open().withConcurrencyLimit(1)) {
                Task<List<Integer>> task = scope.submit(() -> scope.map(List.of(1, 2, 3), limit, number -> number));
                assertThatThrownBy(task::await)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("would never begin");
            }
        }
    }

    @Test
    void invalid_arguments_are_rejected() {
        try (ThreadScope scope = ThreadScope.open()) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> scope.map(HUNDRED, 0, number -> number))
                    .withMessage("limit of a map must be at least 1, was 0");
            assertThatNullPointerException().isThrownBy(() -> scope.map(HUNDRED, 1, null));
        }
    }
}
