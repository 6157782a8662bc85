package dev.raddle.scope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.CancelledException;
import dev.raddle.task.Task;
import dev.raddle.task.TaskExecutionException;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class AwaitPolicyTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final VirtualTime time = new VirtualTime();
    private final StepScheduler steps = new StepScheduler();

    private ThreadScope stepped(FailurePolicy policy) {
        return ThreadScope.open("s").withScheduler(steps).withTimeSource(time).withFailurePolicy(policy);
    }

    private static ThreadScope threaded(FailurePolicy policy) {
        return ThreadScope.open("s").withFailurePolicy(policy);
    }

    private static Callable<String> failing(Throwable thrown) {
        return () -> sneaky(thrown);
    }

    @SuppressWarnings("unchecked")
    private static <T, X extends Throwable> T sneaky(Throwable thrown) throws X {
        throw (X) thrown;
    }

    /** Fails when it is released. */
    private static Callable<String> failing(BlockingTask blocker, Throwable thrown) {
        return () -> {
            blocker.call();
            return sneaky(thrown);
        };
    }

    @Test
    void under_fail_fast_the_first_failure_cancels_the_others_and_is_thrown_at_once() throws Exception {
        BlockingTask bad = new BlockingTask();
        BlockingTask stubborn = BlockingTask.uninterruptible();
        BlockingTask bystander = new BlockingTask();
        IllegalStateException failure = new IllegalStateException("bad");
        try (ThreadScope scope = threaded(FailurePolicy.FAIL_FAST)) {
            Task<String> first = scope.submit("first", stubborn::call); // a wait in list order would never end
            Task<String> second = scope.submit("second", failing(bad, failure));
            Task<String> notWaitedFor = scope.submit("bystander", bystander::call);
            stubborn.awaitBegun();
            bystander.awaitBegun();
            FutureTask<ScopeResult> waiter = new FutureTask<>(() -> scope.await(first, second));
            Thread thread = Thread.startVirtualThread(waiter);
            bad.awaitBegun();
            bad.release();

            thread.join();

            assertThat(waiter.exceptionNow()).isSameAs(failure).hasNoSuppressedExceptions();
            assertThat(first.isCancelled()).isTrue();
            assertThat(notWaitedFor.isCancelled()).isTrue();
            stubborn.awaitInterrupt();
            bystander.awaitInterrupt();
            stubborn.release();
        }
    }

    @Test
    void the_first_failure_is_first_in_time_and_the_later_ones_are_suppressed_in_it() throws Exception {
        IllegalStateException one = new IllegalStateException("one");
        IOException two = new IOException("two");
        AssertionError three = new AssertionError("three");
        List<Runnable> placed = new ArrayList<>();
        try (ThreadScope scope = stepped(FailurePolicy.FAIL_FAST).withScheduler(placed::add)) {
            List<Task<String>> tasks = List.of(
                    scope.submit("one", failing(one)),
                    scope.submit("two", failing(two)),
                    scope.submit("three", failing(three)));
            for (int next : new int[] {1, 2, 0}) { // before the wait, so no task is cancelled
                time.advance(SECOND);
                placed.get(next).run();
            }

            for (int wait = 0; wait < 2; wait++) {
                assertThatThrownBy(() -> scope.await(tasks))
                        .isInstanceOf(TaskExecutionException.class)
                        .hasMessage("task \"two\" in scope \"s\" failed")
                        .hasCause(two);
                assertThat(two.getSuppressed()).as("once each").containsExactly(one, three);
            }
        }
    }

    @Test
    void an_error_is_thrown_as_it_is() {
        AssertionError error = new AssertionError("error");
        try (ThreadScope scope = stepped(FailurePolicy.FAIL_FAST)) {
            Task<String> task = scope.submit(failing(error));
            steps.runAll();
            assertThatThrownBy(() -> scope.await(task)).isSameAs(error);
        }
    }

    @Test
    void a_failure_before_the_wait_cancels_the_others_as_well() {
        try (ThreadScope scope = stepped(FailurePolicy.FAIL_FAST)) {
            Task<String> bad = scope.submit(failing(new IllegalStateException("bad")));
            steps.runAll();
            Task<String> other = scope.submit(() -> "never");

            assertThatThrownBy(() -> scope.await(other, bad)).hasMessage("bad");
            assertThat(other.isCancelled()).isTrue();
        }
    }

    @Test
    void tasks_waiting_behind_a_failed_one_are_never_placed() throws Exception {
        AtomicInteger placed = new AtomicInteger();
        AtomicInteger calls = new AtomicInteger();
        BlockingTask bad = new BlockingTask();
        try (ThreadScope scope = ThreadScope.open().withConcurrencyLimit(1).withScheduler(task -> {
            placed.incrementAndGet();
            dev.raddle.task.Scheduler.virtualThreads().execute(task);
        })) {
            Task<String> fails = scope.submit(failing(bad, new IllegalStateException("bad")));
            Task<Integer> waits = scope.submit(calls::incrementAndGet);
            FutureTask<ScopeResult> waiter = new FutureTask<>(() -> scope.await(fails));
            Thread thread = Thread.ofPlatform().start(waiter);
            dev.raddle.testing.Wait.until(() -> thread.getState() == Thread.State.WAITING);
            bad.release();
            thread.join();

            assertThat(waiter.exceptionNow()).hasMessage("bad");
            assertThat(waits.isCancelled()).isTrue();
        }
        assertThat(placed).hasValue(1);
        assertThat(calls).hasValue(0);
    }

    @Test
    void scheduled_tasks_are_cancelled_with_the_others() throws Exception {
        try (ThreadScope scope = stepped(FailurePolicy.FAIL_FAST)) {
            Task<String> later = scope.schedule(SECOND, () -> "never");
            Task<?> job = scope.scheduleAtFixedRate(SECOND, SECOND, () -> {});
            Task<String> bad = scope.submit(failing(new IllegalStateException("bad")));
            steps.runAll();

            assertThatThrownBy(() -> scope.await(later, bad)).hasMessage("bad");
            assertThat(later.isCancelled()).isTrue();
            assertThat(job.isCancelled()).isTrue();
            assertThat(time.alarms()).isZero();
        }
    }

    @Test
    void a_failure_after_a_wait_has_ended_cancels_no_tasks() throws Exception {
        try (ThreadScope scope = stepped(FailurePolicy.FAIL_FAST)) {
            Task<String> good = scope.submit(() -> "value");
            steps.runAll();
            assertThat(scope.await(good).succeeded()).isEqualTo(1);
            scope.submit(failing(new IllegalStateException("bad")));
            Task<String> other = scope.submit(() -> "value");
            steps.runAll();
            assertThat(other.await()).isEqualTo("value");
        }
    }

    @Test
    void an_interrupted_wait_cancels_no_task_later() throws Exception {
        try (ThreadScope scope = stepped(FailurePolicy.FAIL_FAST)) {
            Task<String> bad = scope.submit(failing(new IllegalStateException("bad")));
            Task<String> other = scope.submit(() -> "value");
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> scope.await(bad, other)).isInstanceOf(InterruptedException.class);
            steps.runAll();
            assertThat(bad.isFailed()).isTrue();
            assertThat(other.await()).isEqualTo("value");
        }
    }

    @Test
    void after_a_failure_the_scope_takes_new_tasks() throws Exception {
        try (ThreadScope scope = threaded(FailurePolicy.FAIL_FAST)) {
            Task<String> bad = scope.submit(failing(new IllegalStateException("bad")));
            assertThatThrownBy(() -> scope.await(bad)).hasMessage("bad");
            assertThat(scope.submit(() -> "of use").await()).isEqualTo("of use");
        }
    }

    @Test
    void collect_all_waits_for_all_and_throws_every_failure_in_order_of_submission() throws Exception {
        IllegalStateException one = new IllegalStateException("one");
        IOException three = new IOException("three");
        List<Runnable> placed = new ArrayList<>();
        try (ThreadScope scope = stepped(FailurePolicy.COLLECT_ALL).withScheduler(placed::add)) {
            Task<String> first = scope.submit(failing(one));
            Task<String> second = scope.submit(() -> "value");
            Task<String> third = scope.submit(failing(three));
            placed.reversed().forEach(Runnable::run);

            assertThatThrownBy(() -> scope.await(third, second, first))
                    .isInstanceOfSatisfying(AggregateException.class, all -> {
                        assertThat(all.failures()).containsExactly(one, three);
                        assertThat(all).hasCause(one).hasMessage("2 of 3 tasks in scope \"s\" failed");
                    });
            assertThat(second.await()).isEqualTo("value");
            assertThat(scope.await(second)).isEqualTo(new ScopeResult(1, 1, 0, 0, List.of()));
        }
    }

    @Test
    void a_supervisor_never_throws_and_lists_what_failed() throws Exception {
        AssertionError error = new AssertionError("error");
        IOException checked = new IOException("checked");
        try (ThreadScope scope = stepped(FailurePolicy.SUPERVISOR)) {
            Task<String> one = scope.submit(failing(error));
            Task<String> two = scope.submit(() -> "value");
            Task<String> three = scope.submit(failing(checked));
            Task<String> four = scope.submit(() -> "never");
            four.cancel();
            steps.runAll();

            ScopeResult result = scope.await(three, two, one, four);

            assertThat(result).isEqualTo(new ScopeResult(4, 1, 2, 1, List.of(error, checked)));
        }
    }

    @Test
    void under_cancel_others_the_first_failure_cancels_the_rest_and_the_result_is_returned() throws Exception {
        BlockingTask bad = new BlockingTask();
        BlockingTask other = new BlockingTask();
        IllegalStateException failure = new IllegalStateException("bad");
        try (ThreadScope scope = threaded(FailurePolicy.CANCEL_OTHERS)) {
            Task<String> cancelled = scope.submit("other", other::call);
            Task<String> failed = scope.submit("bad", failing(bad, failure));
            FutureTask<ScopeResult> waiter = new FutureTask<>(() -> scope.await(cancelled, failed));
            Thread thread = Thread.startVirtualThread(waiter);
            other.awaitBegun();
            bad.awaitBegun();
            bad.release();
            thread.join();

            assertThat(waiter.resultNow()).isEqualTo(new ScopeResult(2, 0, 1, 1, List.of(failure)));
            other.awaitInterrupt();
        }
    }

    @Test
    void ignore_all_counts_failures_and_lists_none() throws Exception {
        try (ThreadScope scope = stepped(FailurePolicy.IGNORE_ALL)) {
            Task<String> one = scope.submit(failing(new AssertionError("error")));
            Task<String> two = scope.submit(() -> "value");
            steps.runAll();

            ScopeResult result = scope.await(one, two);

            assertThat(result).isEqualTo(new ScopeResult(2, 1, 1, 0, List.of()));
        }
    }

    @Test
    void a_cancelled_task_is_no_failure_under_any_policy() throws Exception {
        for (FailurePolicy policy : FailurePolicy.values()) {
            try (ThreadScope scope = stepped(policy)) {
                Task<String> cancelled = scope.submit(() -> "never");
                Task<String> interrupted = scope.submit(failing(new InterruptedException("inside")));
                Task<String> other = scope.submit(() -> "value");
                cancelled.cancel();
                steps.runAll();

                assertThat(scope.await(cancelled, interrupted, other))
                        .as(policy.name())
                        .isEqualTo(new ScopeResult(3, 1, 0, 2, List.of()));
            }
        }
    }

    @Test
    void a_cancellation_because_of_a_failure_carries_it() {
        IllegalStateException failure = new IllegalStateException("bad");
        try (ThreadScope scope = stepped(FailurePolicy.CANCEL_OTHERS)) {
            Task<String> bad = scope.submit("bad", failing(failure));
            steps.runAll();
            Task<String> other = scope.submit(() -> "never");
            assertThat(bad.isFailed()).isTrue();

            assertThat(org.assertj.core.api.Assertions.catchThrowable(() -> scope.await(bad, other)))
                    .isNull();

            assertThatThrownBy(other::await)
                    .isInstanceOf(CancelledException.class)
                    .hasMessage("cancelled because task \"bad\" of scope \"s\" failed")
                    .hasCause(failure);
        }
    }

    @Test
    void await_all_returns_the_values_in_the_order_of_the_arguments() throws Exception {
        List<Runnable> placed = new ArrayList<>();
        for (FailurePolicy policy : FailurePolicy.values()) {
            placed.clear();
            try (ThreadScope scope = stepped(policy).withScheduler(placed::add)) {
                Task<String> a = scope.submit(() -> "a");
                Task<String> nothing = scope.submit(() -> null);
                Task<String> c = scope.submit(() -> "c");
                placed.reversed().forEach(Runnable::run);

                assertThat(scope.awaitAll(c, nothing, a)).containsExactly("c", null, "a");
                assertThat(scope.awaitAll(List.of(a, a))).containsExactly("a", "a");
                assertThat(scope.<String>awaitAll(List.of())).isEmpty();
                assertThat(scope.await(List.of())).isEqualTo(new ScopeResult(0, 0, 0, 0, List.of()));
            }
        }
    }

    @Test
    void await_all_throws_as_its_policy_does() {
        IllegalStateException failure = new IllegalStateException("bad");
        for (FailurePolicy policy : FailurePolicy.values()) {
            try (ThreadScope scope = stepped(policy)) {
                Task<String> good = scope.submit("good", () -> "value");
                Task<String> bad = scope.submit("bad", failing(failure));
                steps.runAll();
                switch (policy) {
                    case FAIL_FAST ->
                        assertThatThrownBy(() -> scope.awaitAll(good, bad)).isSameAs(failure);
                    case COLLECT_ALL ->
                        assertThatThrownBy(() -> scope.awaitAll(good, bad)).isInstanceOf(AggregateException.class);
                    default ->
                        assertThatIllegalStateException()
                                .isThrownBy(() -> scope.awaitAll(good, bad))
                                .withMessage("task \"bad\" in scope \"s\" has no value, it is FAILED; under " + policy
                                        + " use await and outcome()")
                                .withCause(failure);
                }
            }
        }
    }

    @Test
    void await_all_of_a_cancelled_task_throws_the_reason_or_names_the_task() {
        for (FailurePolicy policy : FailurePolicy.values()) {
            try (ThreadScope scope = stepped(policy)) {
                Task<String> off = scope.submit("off", () -> "never");
                off.cancel();
                if (policy.isThrowing()) {
                    assertThatThrownBy(() -> scope.awaitAll(List.of(off)))
                            .isInstanceOf(CancelledException.class)
                            .hasMessage("task \"off\" was cancelled through its handle");
                } else {
                    assertThatIllegalStateException()
                            .isThrownBy(() -> scope.awaitAll(List.of(off)))
                            .withMessageStartingWith("task \"off\" in scope \"s\" has no value, it is CANCELLED")
                            .havingCause()
                            .withMessage("task \"off\" was cancelled through its handle");
                }
            }
        }
    }

    @Test
    void a_scope_waits_only_for_its_own_tasks_and_any_thread_may_wait() throws Exception {
        try (ThreadScope scope = stepped(FailurePolicy.FAIL_FAST);
                ThreadScope other = ThreadScope.open("other").withScheduler(steps)) {
            Task<String> foreign = other.submit("f", () -> "foreign");
            Task<String> own = scope.submit(() -> "value");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> scope.await(own, foreign))
                    .withMessage("scope \"s\" can wait only for its own tasks, was given task \"f\" in scope"
                            + " \"other\", PENDING");
            assertThatIllegalArgumentException().isThrownBy(() -> scope.awaitAll(List.of(foreign)));
            FutureTask<List<String>> waiter = new FutureTask<>(() -> scope.awaitAll(List.of(own)));
            Thread thread = Thread.startVirtualThread(waiter);
            FutureTask<String> task = new FutureTask<>(foreign::await);
            Thread.startVirtualThread(task);

            steps.runAll();

            thread.join();
            assertThat(waiter.resultNow()).containsExactly("value");
            assertThat(task.get()).isEqualTo("foreign");
        }
    }

    @Test
    void two_waits_for_one_task_are_both_notified_of_its_failure() throws Exception {
        BlockingTask bad = new BlockingTask();
        IllegalStateException failure = new IllegalStateException("bad");
        try (ThreadScope scope = threaded(FailurePolicy.FAIL_FAST)) {
            Task<String> task = scope.submit(failing(bad, failure));
            FutureTask<ScopeResult> one = new FutureTask<>(() -> scope.await(task));
            FutureTask<ScopeResult> two = new FutureTask<>(() -> scope.await(List.of(task)));
            Thread first = Thread.startVirtualThread(one);
            Thread second = Thread.startVirtualThread(two);
            bad.awaitBegun();
            bad.release();
            first.join();
            second.join();
            assertThat(one.exceptionNow()).isSameAs(failure);
            assertThat(two.exceptionNow()).isSameAs(failure);
        }
    }
}
