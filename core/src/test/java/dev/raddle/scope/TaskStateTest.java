package dev.raddle.scope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.CancelledException;
import dev.raddle.task.Outcome;
import dev.raddle.task.Scheduler;
import dev.raddle.task.Task;
import dev.raddle.task.TaskExecutionException;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Phaser;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class TaskStateTest {

    private final StepScheduler steps = new StepScheduler();

    private ThreadScope stepped() {
        return ThreadScope.open("s").withScheduler(steps);
    }

    @SuppressWarnings("unchecked")
    private static <T, X extends Throwable> T sneaky(Throwable thrown) throws X {
        throw (X) thrown;
    }

    @Test
    void a_task_is_pending_then_running_then_has_its_value() {
        try (ThreadScope scope = stepped()) {
            List<Task.State> seen = new ArrayList<>();
            List<Task<String>> itself = new ArrayList<>();
            Task<String> task = scope.submit("t", () -> {
                seen.add(itself.getFirst().state());
                return "value";
            });
            itself.add(task);
            seen.add(task.state());
            assertThat(task.isDone()).isFalse();
            assertThat(task.outcome()).isEmpty();

            steps.runAll();

            seen.add(task.state());
            assertThat(seen).containsExactly(Task.State.PENDING, Task.State.RUNNING, Task.State.SUCCESS);
            assertThat(task.isDone()).isTrue();
            assertThat(task.outcome()).contains(new Outcome.Success<>("value"));
            assertThat(task).hasToString("task \"t\" in scope \"s\", SUCCESS");
        }
    }

    @Test
    void a_final_state_never_changes() throws Exception {
        try (ThreadScope scope = stepped()) {
            Task<String> succeeded = scope.submit("ok", () -> "value");
            Task<String> failed = scope.submit("bad", () -> sneaky(new IOException("disk")));
            Task<String> cancelled = scope.submit("off", () -> "never");
            assertThat(cancelled.cancel()).isTrue();
            steps.runAll();
            ScopeMetrics before = scope.metrics();

            for (Task<String> task : List.of(succeeded, failed, cancelled)) {
                Task.State state = task.state();
                Outcome<String> outcome = task.outcome().orElseThrow();
                assertThat(task.cancel()).isFalse();
                scope.cancel("too late");
                assertThat(task.state()).isEqualTo(state);
                assertThat(task.outcome()).containsSame(outcome);
            }
            assertThat(succeeded.await()).isEqualTo("value");
            assertThat(scope.metrics()).isEqualTo(before);
            assertThat(succeeded.isCancelled()).isFalse();
            assertThat(cancelled.isCancelled()).isTrue();
            assertThat(failed.isFailed()).isTrue();
        }
    }

    @Test
    void a_task_that_is_cancelled_before_it_runs_is_never_called() {
        AtomicInteger calls = new AtomicInteger();
        try (ThreadScope scope = stepped()) {
            Task<Integer> task = scope.submit(calls::incrementAndGet);

            assertThat(task.cancel()).isTrue();
            assertThat(task.state()).isEqualTo(Task.State.CANCELLED);
            steps.runAll();

            assertThat(calls).hasValue(0);
            assertThat(task.state()).isEqualTo(Task.State.CANCELLED);
            assertThat(scope.metrics().started()).isZero();
            assertThat(scope.metrics().cancelledBeforeStart()).isEqualTo(1);
        }
    }

    @Test
    void of_a_cancel_and_a_start_exactly_one_wins() throws Exception {
        int rounds = 10_000;
        Phaser phase = new Phaser(2);
        AtomicReference<Task<?>> current = new AtomicReference<>();
        AtomicInteger cancels = new AtomicInteger();
        Thread canceller = Thread.ofPlatform().start(() -> {
            for (int i = 0; i < rounds; i++) {
                phase.arriveAndAwaitAdvance();
                cancels.addAndGet(current.get().cancel() ? 1 : 0);
                phase.arriveAndAwaitAdvance();
            }
        });
        int called = 0;
        int cancelled = 0;
        int both = 0;
        try (ThreadScope scope = stepped()) {
            for (int i = 0; i < rounds; i++) {
                AtomicBoolean entered = new AtomicBoolean();
                Task<Boolean> task = scope.submit(() -> entered.getAndSet(true));
                current.set(task);
                phase.arriveAndAwaitAdvance();
                steps.runNext();
                phase.arriveAndAwaitAdvance();
                called += entered.get() ? 1 : 0;
                cancelled += task.isCancelled() ? 1 : 0;
                both += !entered.get() && !task.isCancelled() ? 1 : 0;
            }
            canceller.join();
            ScopeMetrics metrics = scope.metrics();

            assertThat(cancels).as("a cancel that returned true has cancelled").hasValue(cancelled);
            assertThat(both).as("neither called nor cancelled").isZero();
            assertThat(metrics.started()).as("started means called").isEqualTo(called);
            assertThat(metrics.succeeded() + metrics.cancelled()).isEqualTo(called);
            assertThat(metrics.cancelled() + metrics.cancelledBeforeStart()).isEqualTo(cancelled);
        }
    }

    @Test
    void the_runner_is_always_the_executing_thread_while_the_task_runs() {
        try (ThreadScope scope = stepped()) {
            List<Task<Boolean>> itself = new ArrayList<>();
            List<Object> seen = new ArrayList<>();
            Task<Boolean> task =
                    scope.submit(() -> seen.add(itself.getFirst().runner().orElseThrow()));
            itself.add(task);
            assertThat(task.runner()).isEmpty();

            steps.runAll();

            assertThat(seen).containsExactly(Thread.currentThread());
            assertThat(task.runner()).isEmpty();
        }
    }

    @Test
    void a_cancelled_task_has_no_runner_although_its_callable_still_runs() throws Exception {
        BlockingTask blocker = BlockingTask.uninterruptible();
        try (ThreadScope scope = ThreadScope.open()) {
            Task<String> task = scope.submit(blocker::call);
            blocker.awaitBegun();
            assertThat(task.runner()).contains(blocker.thread());

            task.cancel();

            assertThat(task.runner()).isEmpty();
            assertThat(task.state()).isEqualTo(Task.State.CANCELLED);
            blocker.release();
        }
    }

    @Test
    void no_thread_sees_a_success_without_its_value_or_a_runner_after_the_end() throws Exception {
        int rounds = 5_000;
        AtomicReference<Task<Integer>> current = new AtomicReference<>();
        AtomicBoolean over = new AtomicBoolean();
        AtomicInteger wrong = new AtomicInteger();
        Thread observer = Thread.ofPlatform().start(() -> {
            while (!over.get()) {
                Task<Integer> task = current.get();
                if (task != null && task.state() == Task.State.SUCCESS) {
                    wrong.addAndGet(task.runner().isPresent() ? 1 : 0);
                    wrong.addAndGet(
                            task.outcome().orElseThrow() instanceof Outcome.Success<Integer>(Integer value)
                                            && value == 7
                                    ? 0
                                    : 1);
                }
            }
        });
        try (ThreadScope scope = stepped()) {
            for (int i = 0; i < rounds; i++) {
                current.set(scope.submit(() -> 7));
                steps.runNext();
            }
        } finally {
            over.set(true);
            observer.join();
        }
        assertThat(wrong).hasValue(0);
    }

    @Test
    void of_many_cancels_exactly_one_returns_true() throws Exception {
        try (ThreadScope scope = stepped()) {
            for (int round = 0; round < 1_000; round++) {
                Task<String> task = scope.submit(() -> "never");
                AtomicInteger cancels = new AtomicInteger();
                CountDownLatch go = new CountDownLatch(1);
                List<Thread> threads = new ArrayList<>();
                for (int i = 0; i < 3; i++) {
                    threads.add(Thread.startVirtualThread(() -> {
                        Wait.until(() -> go.getCount() == 0);
                        cancels.addAndGet(task.cancel() ? 1 : 0);
                    }));
                }
                go.countDown();
                for (Thread thread : threads) {
                    thread.join();
                }
                assertThat(cancels).hasValue(1);
            }
            steps.runAll();
        }
    }

    @Test
    void a_cancel_interrupts_the_runner_once() throws Exception {
        BlockingTask blocker = BlockingTask.uninterruptible();
        try (ThreadScope scope = ThreadScope.open()) {
            Task<String> task = scope.submit(blocker::call);
            blocker.awaitBegun();

            assertThat(task.cancel()).isTrue();
            blocker.awaitInterrupt();
            assertThat(task.cancel()).isFalse();
            scope.cancel("again");
            blocker.release();
        }
        assertThat(blocker.interrupts()).isEqualTo(1);
    }

    @Test
    void the_interrupt_of_a_cancel_never_reaches_another_task_of_the_same_thread() throws Exception {
        int rounds = 10_000;
        AtomicInteger leaked = new AtomicInteger();
        AtomicInteger cancelled = new AtomicInteger();
        try (ThreadScope scope = ThreadScope.open().withScheduler(Scheduler.fixed(2))) {
            for (int i = 0; i < rounds; i++) {
                AtomicBoolean begun = new AtomicBoolean();
                Task<Boolean> victim = scope.submit(() -> {
                    begun.set(true);
                    return true; // the task ends while it is being cancelled
                });
                Callable<Boolean> next = () -> {
                    boolean interrupted = Thread.currentThread().isInterrupted();
                    leaked.addAndGet(interrupted ? 1 : 0);
                    return interrupted;
                };
                Task<Boolean> one = scope.submit(next);
                Task<Boolean> other = scope.submit(next);
                Wait.until(begun::get);
                cancelled.addAndGet(victim.cancel() ? 1 : 0);
                one.await();
                other.await();
            }
            ScopeMetrics metrics = scope.metrics();
            assertThat(metrics.cancelled()).isEqualTo(cancelled.get());
            assertThat(metrics.succeeded()).isEqualTo(3L * rounds - cancelled.get());
        }
        assertThat(leaked).hasValue(0);
    }

    @Test
    void a_task_that_ignores_its_interrupt_stays_cancelled_and_keeps_its_permit_until_it_really_ends()
            throws Exception {
        BlockingTask blocker = BlockingTask.uninterruptible();
        BlockingTask next = new BlockingTask();
        try (ThreadScope scope = ThreadScope.open().withConcurrencyLimit(1)) {
            Task<String> task = scope.submit(blocker::call);
            Task<String> waits = scope.submit(next::call);
            blocker.awaitBegun();

            task.cancel();
            blocker.awaitInterrupt();
            assertThat(waits.state()).isEqualTo(Task.State.PENDING);
            assertThat(next.hasBegun()).isFalse();
            blocker.release();
            next.awaitBegun();

            assertThat(task.state()).isEqualTo(Task.State.CANCELLED);
            assertThatThrownBy(task::await).isInstanceOf(CancelledException.class);
            next.release();
            assertThat(waits.await()).isEqualTo("value");
        }
    }

    @Test
    void await_returns_the_value_also_if_it_is_null() throws Exception {
        try (ThreadScope scope = stepped()) {
            Task<String> value = scope.submit(() -> "value");
            Task<String> nothing = scope.submit(() -> null);
            steps.runAll();

            assertThat(value.await()).isEqualTo("value");
            assertThat(nothing.await()).isNull();
            assertThat(nothing.await(Duration.ZERO)).isNull();
            assertThat(nothing.state()).isEqualTo(Task.State.SUCCESS);
        }
    }

    @Test
    void await_throws_what_the_task_threw_and_wraps_only_checked_exceptions() {
        RuntimeException unchecked = new IllegalArgumentException("unchecked");
        Error error = new AssertionError("error");
        Exception checked = new IOException("checked");
        try (ThreadScope scope = stepped()) {
            Task<?> one = scope.submit(() -> sneaky(unchecked));
            Task<?> two = scope.submit(() -> sneaky(error));
            Task<?> three = scope.submit("three", () -> sneaky(checked));
            steps.runAll();

            assertThatThrownBy(one::await).isSameAs(unchecked);
            assertThatThrownBy(two::await).isSameAs(error);
            assertThatThrownBy(three::await)
                    .isInstanceOf(TaskExecutionException.class)
                    .hasMessage("task \"three\" in scope \"s\" failed")
                    .hasCause(checked);
            assertThatThrownBy(() -> three.await(Duration.ZERO)).hasCause(checked);
        }
    }

    @Test
    void await_of_a_cancelled_task_throws_the_reason() {
        try (ThreadScope scope = stepped()) {
            Task<?> byHandle = scope.submit("a", () -> "never");
            Task<?> byScope = scope.submit("b", () -> "never");
            byHandle.cancel();
            scope.cancel("no longer needed");
            steps.runAll();

            assertThatThrownBy(byHandle::await)
                    .isInstanceOf(CancelledException.class)
                    .isInstanceOf(CancellationException.class)
                    .hasMessage("task \"a\" was cancelled through its handle");
            assertThatThrownBy(byScope::await)
                    .isInstanceOf(CancelledException.class)
                    .hasMessage("scope \"s\" was cancelled: no longer needed");
        }
    }

    @Test
    void a_timed_await_throws_when_the_time_is_over_and_the_task_continues() throws Exception {
        VirtualTime time = new VirtualTime();
        try (ThreadScope scope = stepped().withTimeSource(time)) {
            Task<String> task = scope.submit("t", () -> "value");
            FutureTask<String> waiter = new FutureTask<>(() -> task.await(Duration.ofSeconds(2)));
            Thread thread = Thread.startVirtualThread(waiter);
            time.awaitAlarms(1);

            time.advance(Duration.ofSeconds(2));
            thread.join();

            assertThat(waiter.state()).isEqualTo(FutureTask.State.FAILED);
            assertThat(waiter.exceptionNow())
                    .isInstanceOf(TimeoutException.class)
                    .hasMessage("task \"t\" in scope \"s\" had not ended after 2000 ms; it goes on");
            assertThatThrownBy(() -> task.await(Duration.ZERO)).isInstanceOf(TimeoutException.class);
            assertThatThrownBy(() -> task.await(Duration.ofSeconds(-1))).isInstanceOf(TimeoutException.class);
            assertThat(task.state()).isEqualTo(Task.State.PENDING);
            steps.runAll();
            assertThat(task.await(Duration.ofSeconds(2))).isEqualTo("value");
            assertThat(time.alarms()).isZero();
        }
    }

    @Test
    void an_interrupted_wait_throws_and_the_task_continues() throws Exception {
        try (ThreadScope scope = stepped()) {
            Task<String> task = scope.submit(() -> "value");

            Thread.currentThread().interrupt();
            assertThatThrownBy(task::await).isInstanceOf(InterruptedException.class);
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> scope.await(task)).isInstanceOf(InterruptedException.class);
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> task.await(Duration.ofDays(1))).isInstanceOf(InterruptedException.class);

            List<FutureTask<?>> waiters =
                    List.of(new FutureTask<>(task::await), new FutureTask<>(() -> scope.await(task)));
            for (FutureTask<?> waiter : waiters) {
                Thread thread = Thread.ofPlatform().start(waiter);
                Wait.until(() -> thread.getState() == Thread.State.WAITING);
                thread.interrupt();
                thread.join();
                assertThat(waiter.state()).isEqualTo(FutureTask.State.FAILED);
                assertThat(waiter.exceptionNow()).isInstanceOf(InterruptedException.class);
            }

            assertThat(task.state()).isEqualTo(Task.State.PENDING);
            steps.runAll();
            assertThat(task.await()).isEqualTo("value");
        }
    }

    @Test
    void completing_a_future_of_a_task_does_not_affect_the_task() throws Exception {
        try (ThreadScope scope = stepped()) {
            Task<String> task = scope.submit(() -> "value");
            assertThat(task.toCompletableFuture().complete("mine")).isTrue();
            assertThat(task.toCompletableFuture().cancel(true)).isTrue();
            assertThat(task.toCompletableFuture().completeExceptionally(new IOException()))
                    .isTrue();
            CompletableFuture<String> copy = task.toCompletableFuture();
            assertThat(task.state()).isEqualTo(Task.State.PENDING);

            steps.runAll();

            assertThat(task.await()).isEqualTo("value");
            assertThat(copy.join()).isEqualTo("value");
            copy.obtrudeValue("mine");
            assertThat(task.await()).isEqualTo("value");
            assertThat(task.thenApply(String::length).join()).isEqualTo(5);
            assertThat(task.thenCompose(value -> CompletableFuture.completedFuture(value + "!"))
                            .join())
                    .isEqualTo("value!");
        }
    }

    @Test
    void a_future_completes_as_a_wait_would_return() {
        RuntimeException failure = new IllegalStateException("bad");
        try (ThreadScope scope = stepped()) {
            Task<String> failed = scope.submit(() -> sneaky(failure));
            Task<String> error = scope.submit(() -> sneaky(new StackOverflowError("deep")));
            Task<String> cancelled = scope.submit(() -> "never");
            CompletableFuture<String> before = cancelled.toCompletableFuture();
            cancelled.cancel();
            steps.runAll();

            assertThat(failed.toCompletableFuture().exceptionNow()).isSameAs(failure);
            assertThat(failed.exceptionally(thrown -> "instead of " + thrown.getMessage())
                            .join())
                    .isEqualTo("instead of bad");
            assertThat(error.toCompletableFuture().exceptionNow()).isInstanceOf(StackOverflowError.class);
            assertThat(before.isCancelled()).isTrue();
            assertThatThrownBy(before::join).isInstanceOf(CancellationException.class);
            assertThatThrownBy(() -> failed.thenApply(String::length).join())
                    .isInstanceOf(CompletionException.class)
                    .hasCause(failure);
        }
    }

    @Test
    void every_exception_of_a_callable_settles_its_task() {
        List<Throwable> failures = List.of(
                new IllegalStateException(),
                new IOException(),
                new OutOfMemoryError("simulated"),
                new StackOverflowError(),
                new Throwable("neither"));
        List<Throwable> cancellations = List.of(
                new InterruptedException("inside"),
                new CancelledException("inside"),
                new CancellationException("inside"));
        try (ThreadScope scope = stepped()) {
            for (Throwable thrown : failures) {
                Task<?> task = scope.submit(() -> sneaky(thrown));
                steps.runAll();
                assertThat(task.outcome()).contains(new Outcome.Failure<>(thrown));
                assertThat(task.state()).isEqualTo(Task.State.FAILED);
            }
            for (Throwable thrown : cancellations) {
                Task<?> task = scope.submit("t", () -> sneaky(thrown));
                steps.runAll();
                assertThat(task.outcome()).contains(new Outcome.Cancelled<>(thrown));
                assertThat(task.state()).isEqualTo(Task.State.CANCELLED);
                assertThatThrownBy(task::await).isInstanceOf(CancelledException.class);
            }
            assertThat(scope.metrics().failed()).isEqualTo(failures.size());
            assertThat(scope.metrics().cancelled()).isEqualTo(cancellations.size());
        }
    }

    @Test
    void a_callable_that_recurses_without_end_fails_and_the_next_task_of_its_thread_succeeds() throws Exception {
        try (ThreadScope scope = ThreadScope.open().withScheduler(Scheduler.fixed(1))) {
            Task<Integer> deep = scope.submit(() -> depth(0));
            Task<String> next = scope.submit(() -> "well");

            assertThatThrownBy(deep::await).isInstanceOf(StackOverflowError.class);
            assertThat(next.await()).isEqualTo("well");
        }
    }

    @SuppressWarnings("InfiniteRecursion")
    private static int depth(int soFar) {
        return depth(soFar + 1) + 1;
    }

    @Test
    void an_interrupt_status_that_a_callable_leaves_reaches_neither_hooks_nor_the_next_task() {
        List<Boolean> seen = new ArrayList<>();
        ThreadHook hook = new ThreadHook() {
            @Override
            public void onSuccess(TaskInfo task, Duration ran) {
                seen.add(Thread.currentThread().isInterrupted());
            }
        };
        try (ThreadScope scope = stepped().addHook(hook)) {
            scope.submit(() -> {
                Thread.currentThread().interrupt();
                return "value";
            });
            scope.submit(() -> seen.add(Thread.currentThread().isInterrupted()));
            steps.runAll();
        }
        assertThat(seen).containsExactly(false, false, false);
        assertThat(Thread.interrupted()).isFalse();
    }
}
