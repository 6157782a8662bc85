package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.CancelledException;
import dev.raddle.task.TaskSpec;
import dev.raddle.task.TaskStatus;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Phaser;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class TaskHandleTest {

    private final VirtualTime time = new VirtualTime();
    private final StepScheduler steps = new StepScheduler();

    private static GroupPolicy.Builder closesAtOnce() {
        return GroupPolicy.builder().closeTimeout(Duration.ZERO);
    }

    /** The two ways to wait with a timeout. */
    enum TimedWait {
        AWAIT {
            @Override
            <T> GroupResult<T> on(TaskHandle<T> handle, long timeout, TimeUnit unit) throws InterruptedException {
                return handle.await(timeout, unit);
            }
        },
        JOIN {
            @Override
            <T> GroupResult<T> on(TaskHandle<T> handle, long timeout, TimeUnit unit) {
                return handle.join(timeout, unit);
            }
        };

        abstract <T> GroupResult<T> on(TaskHandle<T> handle, long timeout, TimeUnit unit) throws InterruptedException;
    }

    @Test
    void await_and_join_return_the_result_of_the_task() throws InterruptedException {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(closesAtOnce().build())) {
            TaskHandle<String> handle = executor.submit("a", "t1", () -> "hi");

            GroupResult<String> result = handle.await();

            assertThat(result.groupKey()).isEqualTo("a");
            assertThat(result.taskId()).isEqualTo("t1");
            assertThat(result.status()).isEqualTo(TaskStatus.SUCCESS);
            assertThat(result.value()).isEqualTo("hi");
            assertThat(handle.join()).isEqualTo(result);
            assertThat(handle.groupKey()).isEqualTo("a");
            assertThat(handle.taskId()).isEqualTo("t1");
        }
    }

    @Test
    void a_task_that_throws_a_cancellation_has_a_cancelled_result() throws InterruptedException {
        CancellationException thrown = new CancellationException("inside");
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(closesAtOnce().build())) {
            TaskHandle<String> handle = executor.submit("a", "t1", () -> {
                throw thrown;
            });

            assertThat(handle.await().status()).isEqualTo(TaskStatus.CANCELLED);
            assertThat(handle.join().error()).isSameAs(thrown);
        }
    }

    @Test
    void under_abort_every_wait_for_a_rejected_task_throws() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                TestTasks.stepped(steps).defaultQueueThresholdPerGroup(0).build())) {
            executor.submit("a", "holder", () -> "");
            TaskHandle<String> rejected = executor.submit("a", "t1", () -> "never");

            assertThatThrownBy(rejected::await).isInstanceOf(RejectedTaskException.class);
            assertThatThrownBy(rejected::join).isInstanceOf(RejectedTaskException.class);
            assertThatThrownBy(() -> rejected.await(1, TimeUnit.DAYS)).isInstanceOf(RejectedTaskException.class);
            assertThatThrownBy(() -> rejected.join(1, TimeUnit.DAYS))
                    .isInstanceOfSatisfying(RejectedTaskException.class, thrown -> {
                        assertThat(thrown.groupKey()).isEqualTo("a");
                        assertThat(thrown.taskId()).isEqualTo("t1");
                    });
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_wait_that_times_out_returns_a_timeout_and_the_task_goes_on(TimedWait wait) throws Exception {
        BlockingTask blocker = new BlockingTask();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                closesAtOnce().timeSource(time).build())) {
            TaskHandle<String> handle = executor.submit("a", "t1", blocker);
            blocker.awaitBegun();
            FutureTask<GroupResult<String>> waiter = new FutureTask<>(() -> wait.on(handle, 2, TimeUnit.SECONDS));
            Thread.ofPlatform().start(waiter);
            time.awaitAlarms(1);

            time.advance(Duration.ofSeconds(2));

            assertThat(waiter.get().status()).isEqualTo(TaskStatus.CANCELLED);
            assertThat(waiter.get().error())
                    .isInstanceOf(TimeoutException.class)
                    .hasMessage("task \"t1\" in group \"a\" had not ended after 2 seconds; it goes on");
            assertThat(handle.isDone()).isFalse();

            blocker.release();
            assertThat(handle.await().value()).isEqualTo("value");
            assertThat(blocker.interrupts()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_timed_wait_returns_the_result_when_the_task_ends_and_leaves_no_alarm(TimedWait wait) throws Exception {
        BlockingTask blocker = new BlockingTask();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                closesAtOnce().timeSource(time).idleGroupTtl(Duration.ZERO).build())) {
            TaskHandle<String> handle = executor.submit("a", "t1", blocker);
            FutureTask<GroupResult<String>> waiter = new FutureTask<>(() -> wait.on(handle, 2, TimeUnit.SECONDS));
            Thread.ofPlatform().start(waiter);
            time.awaitAlarms(1);

            blocker.release();

            assertThat(waiter.get().value()).isEqualTo("value");
            assertThat(time.alarms()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_timeout_of_zero_does_not_wait_and_every_length_is_accepted(TimedWait wait) throws Exception {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(TestTasks.stepped(steps).build())) {
            TaskHandle<String> handle = executor.submit("a", "t1", () -> "value");

            assertThat(wait.on(handle, 0, TimeUnit.SECONDS).error()).isInstanceOf(TimeoutException.class);
            assertThat(wait.on(handle, -1, TimeUnit.SECONDS).error()).isInstanceOf(TimeoutException.class);
            assertThat(wait.on(handle, Long.MIN_VALUE, TimeUnit.DAYS).error()).isInstanceOf(TimeoutException.class);
            steps.runAll();
            assertThat(wait.on(handle, Long.MAX_VALUE, TimeUnit.DAYS).value()).isEqualTo("value");
            assertThat(wait.on(handle, Long.MAX_VALUE, TimeUnit.NANOSECONDS).value())
                    .isEqualTo("value");
        }
    }

    @Test
    void join_of_an_interrupted_thread_returns_the_interrupt_keeps_its_status_and_does_not_affect_the_task()
            throws InterruptedException {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(TestTasks.stepped(steps).build())) {
            TaskHandle<String> handle = executor.submit("a", "t1", () -> "value");

            Thread.currentThread().interrupt();
            GroupResult<String> joined = handle.join();
            assertThat(Thread.interrupted()).isTrue();
            Thread.currentThread().interrupt();
            GroupResult<String> joinedForATime = handle.join(1, TimeUnit.DAYS);
            assertThat(Thread.interrupted()).isTrue();

            assertThat(joined.status()).isEqualTo(TaskStatus.CANCELLED);
            assertThat(joined.error()).isInstanceOf(InterruptedException.class);
            assertThat(joinedForATime.status()).isEqualTo(TaskStatus.CANCELLED);
            assertThat(joinedForATime.error()).isInstanceOf(InterruptedException.class);
            steps.runAll();
            assertThat(handle.await().status()).isEqualTo(TaskStatus.SUCCESS);
        }
    }

    @Test
    void await_of_an_interrupted_thread_throws_and_does_not_affect_the_task() throws InterruptedException {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(TestTasks.stepped(steps).build())) {
            TaskHandle<String> handle = executor.submit("a", "t1", () -> "value");

            Thread.currentThread().interrupt();
            assertThatThrownBy(handle::await).isInstanceOf(InterruptedException.class);
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> handle.await(1, TimeUnit.DAYS)).isInstanceOf(InterruptedException.class);

            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            steps.runAll();
            assertThat(handle.await().status()).isEqualTo(TaskStatus.SUCCESS);
        }
    }

    @Test
    void cancel_interrupts_a_running_task_once_and_its_slot_is_free_when_the_task_returns()
            throws InterruptedException {
        BlockingTask stubborn = BlockingTask.uninterruptible();
        BlockingTask next = new BlockingTask();
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(closesAtOnce().build())) {
            TaskHandle<String> handle = executor.submit("a", "t1", stubborn);
            TaskHandle<String> following = executor.submit("a", "t2", next);
            stubborn.awaitBegun();

            assertThat(handle.cancel(true)).isTrue();
            stubborn.awaitInterrupt();
            assertThat(handle.isDone()).isTrue();
            assertThat(handle.await().status()).isEqualTo(TaskStatus.CANCELLED);
            assertThat(handle.await().error())
                    .isInstanceOf(CancelledException.class)
                    .hasMessage("cancelled through its handle");
            assertThat(handle.cancel(true)).as("a second time").isFalse();
            assertThat(executor.groupStats("a").orElseThrow().activeCount()).isEqualTo(1);
            assertThat(next.hasBegun()).isFalse();

            stubborn.release();
            next.awaitBegun();
            assertThat(stubborn.interrupts()).isEqualTo(1);
            assertThat(handle.await().status()).as("a late value has no effect").isEqualTo(TaskStatus.CANCELLED);
            next.release();
            following.await();
        }
        assertThat(next.interrupts()).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void an_interrupt_meant_for_one_task_never_reaches_the_next_of_the_same_thread(boolean reuseThreads)
            throws Exception {
        int rounds = 5_000;
        Phaser phase = new Phaser(2);
        AtomicInteger leaked = new AtomicInteger();
        int cancelled = 0;
        int reported = 0;
        try (ExecutorService thread = Executors.newSingleThreadExecutor();
                GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(closesAtOnce()
                        .scheduler(key -> thread::execute)
                        .reuseThreads(reuseThreads)
                        .build())) {
            for (int i = 0; i < rounds; i++) {
                TaskHandle<String> victim = executor.submit("a", "victim", () -> {
                    phase.arriveAndAwaitAdvance(); // ends while another thread cancels it
                    return "value";
                });
                TaskHandle<Boolean> next = executor.submit("a", "next", () -> {
                    boolean early = Thread.currentThread().isInterrupted();
                    phase.arriveAndAwaitAdvance(); // by now an interrupt that was sent has arrived
                    return early || Thread.currentThread().isInterrupted();
                });

                phase.arriveAndAwaitAdvance();
                cancelled += victim.cancel(true) ? 1 : 0;
                phase.arriveAndAwaitAdvance();
                leaked.addAndGet(next.await().value() ? 1 : 0);
                reported += victim.await().status() == TaskStatus.CANCELLED ? 1 : 0;
            }
            assertThat(executor.stats().totalActiveCount()).isZero();
        }
        assertThat(leaked).hasValue(0);
        assertThat(cancelled).as("the result of cancel is correct").isEqualTo(reported);
    }

    @Test
    void a_waiting_task_that_is_cancelled_never_runs_and_frees_its_place_at_once() throws InterruptedException {
        List<String> ran = new ArrayList<>();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                TestTasks.stepped(steps).defaultQueueThresholdPerGroup(1).build())) {
            executor.submit("a", "t1", () -> ran.add("t1"));
            TaskHandle<Boolean> waiting = executor.submit("a", "t2", () -> ran.add("t2"));
            assertThat(executor.submit("a", "t3", () -> ran.add("t3")).isDone())
                    .as("rejected: the queue is full")
                    .isTrue();

            assertThat(waiting.cancel(false)).isTrue();
            assertThat(waiting.isDone()).isTrue();
            assertThat(waiting.await().status()).isEqualTo(TaskStatus.CANCELLED);
            assertThat(executor.groupStats("a").orElseThrow().queuedCount()).isZero();
            TaskHandle<Boolean> inItsPlace = executor.submit("a", "t4", () -> ran.add("t4"));
            steps.runAll();

            assertThat(inItsPlace.await().status()).isEqualTo(TaskStatus.SUCCESS);
            assertThat(ran).containsExactly("t1", "t4");
        }
    }

    @Test
    void when_a_wide_task_at_the_head_of_the_queue_is_cancelled_the_tasks_behind_it_start_at_once() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                TestTasks.stepped(steps).defaultMaxConcurrencyPerGroup(2).build())) {
            executor.submit("a", "narrow", () -> "");
            TaskHandle<String> wide =
                    executor.submit("a", TaskSpec.named("wide", () -> "").cost(2));
            executor.submit("a", "behind", () -> "");
            assertThat(steps.size()).isEqualTo(1);

            wide.cancel(true);

            assertThat(steps.size()).isEqualTo(2);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void a_granted_task_that_has_not_begun_can_be_cancelled_and_its_slot_is_granted_to_the_next(boolean mayInterrupt)
            throws InterruptedException {
        List<String> ran = new ArrayList<>();
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(TestTasks.stepped(steps).build())) {
            TaskHandle<Boolean> granted = executor.submit("a", "t1", () -> ran.add("t1"));
            TaskHandle<Boolean> next = executor.submit("a", "t2", () -> ran.add("t2"));

            assertThat(granted.cancel(mayInterrupt)).isTrue();
            assertThat(granted.isDone()).isTrue();
            steps.runAll();

            assertThat(next.await().status()).isEqualTo(TaskStatus.SUCCESS);
            assertThat(ran).containsExactly("t2");
            assertThat(executor.stats().totalActiveCount()).isZero();
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
        }
    }

    @Test
    void a_cancel_without_interrupt_of_a_running_task_has_no_effect_and_a_done_task_cannot_be_cancelled()
            throws InterruptedException {
        BlockingTask blocker = new BlockingTask();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                closesAtOnce().defaultQueueThresholdPerGroup(0).build())) {
            TaskHandle<String> handle = executor.submit("a", "t1", blocker);
            blocker.awaitBegun();
            TaskHandle<String> rejected = executor.submit("a", "t2", () -> "never");

            assertThat(handle.cancel(false)).isFalse();
            assertThat(handle.isDone()).isFalse();
            blocker.release();

            assertThat(handle.await().status()).isEqualTo(TaskStatus.SUCCESS);
            assertThat(handle.cancel(true)).isFalse();
            assertThat(handle.cancel(false)).isFalse();
            assertThat(handle.await().status()).isEqualTo(TaskStatus.SUCCESS);
            assertThat(blocker.interrupts()).isZero();
            assertThat(rejected.cancel(true)).isFalse();
            assertThatThrownBy(rejected::await).isInstanceOf(RejectedTaskException.class);
        }
    }

    @Test
    void a_cancelled_task_is_cancelled_for_its_handle_its_listener_and_the_statistics() throws InterruptedException {
        List<String> heard = new CopyOnWriteArrayList<>();
        TaskLifecycleListener listener = new TaskLifecycleListener() {
            @Override
            public void onStarted(String key, String id) {
                heard.add(id + " started");
            }

            @Override
            public void onCompleted(String key, String id, GroupResult<?> result) {
                heard.add(id + " " + result.status());
            }
        };
        BlockingTask running = new BlockingTask();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                closesAtOnce().taskLifecycleListener(listener).build())) {
            TaskHandle<String> runs = executor.submit("a", "runs", running);
            TaskHandle<String> waits = executor.submit("a", "waits", () -> "never");
            running.awaitBegun();

            assertThat(waits.cancel(true)).isTrue();
            assertThat(runs.cancel(true)).isTrue();

            for (TaskHandle<String> handle : List.of(runs, waits)) {
                assertThat(handle.await().status()).isEqualTo(TaskStatus.CANCELLED);
                assertThat(handle.toCompletableFuture().join().status()).isEqualTo(TaskStatus.CANCELLED);
                assertThat(handle.await().error()).isInstanceOf(CancellationException.class);
            }
            assertThat(executor.awaitIdle("a", Duration.ofDays(1))).isTrue();
            assertThat(executor.stats().totalActiveCount()).isZero();
            assertThat(executor.stats().totalQueuedCount()).isZero();
        }
        assertThat(heard).containsExactly("runs started", "waits CANCELLED", "runs CANCELLED");
    }

    @Test
    void a_task_that_its_listener_cancels_while_it_starts_is_not_called() throws InterruptedException {
        List<String> heard = new ArrayList<>();
        List<TaskHandle<?>> handles = new ArrayList<>();
        TaskLifecycleListener listener = new TaskLifecycleListener() {
            @Override
            public void onStarted(String key, String id) {
                heard.add("started, cancelled " + handles.getFirst().cancel(true));
            }

            @Override
            public void onCompleted(String key, String id, GroupResult<?> result) {
                heard.add("completed " + result.status());
            }
        };
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                TestTasks.stepped(steps).taskLifecycleListener(listener).build())) {
            handles.add(executor.submit("a", "t1", () -> heard.add("entered")));
            steps.runAll();

            assertThat(handles.getFirst().await().status()).isEqualTo(TaskStatus.CANCELLED);
            assertThat(executor.stats().totalActiveCount()).isZero();
        }
        assertThat(heard).containsExactly("started, cancelled true", "completed CANCELLED");
    }

    @Test
    void the_future_completes_with_the_result_or_with_the_rejection_that_a_wait_would_throw()
            throws InterruptedException {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                TestTasks.stepped(steps).defaultQueueThresholdPerGroup(0).build())) {
            TaskHandle<String> handle = executor.submit("a", "t1", () -> "value");
            TaskHandle<String> rejected = executor.submit("a", "t2", () -> "never");
            CompletableFuture<GroupResult<String>> early = handle.toCompletableFuture();
            assertThat(early).isNotDone();

            steps.runAll();

            assertThat(early).isCompletedWithValue(handle.await());
            assertThat(handle.toCompletableFuture()).isCompletedWithValue(handle.await());
            assertThatThrownBy(() -> rejected.toCompletableFuture().join())
                    .isInstanceOf(CompletionException.class)
                    .hasCauseInstanceOf(RejectedTaskException.class);
        }
    }

    @Test
    void the_future_completes_with_the_rejected_result_where_a_wait_would_not_throw() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(TestTasks.stepped(steps)
                .defaultQueueThresholdPerGroup(0)
                .rejectionPolicy(RejectionPolicy.DISCARD)
                .build())) {
            executor.submit("a", "t1", () -> "value");
            TaskHandle<String> rejected = executor.submit("a", "t2", () -> "never");

            assertThat(rejected.toCompletableFuture().join().status()).isEqualTo(TaskStatus.REJECTED);
        }
    }

    @Test
    void completing_or_cancelling_the_future_does_not_affect_the_task() throws InterruptedException {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(TestTasks.stepped(steps).build())) {
            TaskHandle<String> handle = executor.submit("a", "t1", () -> "value");
            GroupResult<String> forged = GroupResult.success("a", "t1", "forged", 0, 0);

            assertThat(handle.toCompletableFuture().complete(forged)).isTrue();
            assertThat(handle.toCompletableFuture().cancel(true)).isTrue();
            assertThat(handle.isDone()).isFalse();
            steps.runAll();

            assertThat(handle.await().value()).isEqualTo("value");
            assertThat(handle.toCompletableFuture().join().value()).isEqualTo("value");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void dependants_of_the_future_run_after_the_slot_is_free_and_delay_no_task(boolean reuseThreads) throws Exception {
        BlockingTask first = new BlockingTask();
        BlockingTask second = new BlockingTask();
        CountDownLatch blocked = new CountDownLatch(1);
        CountDownLatch letGo = new CountDownLatch(1);
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                closesAtOnce().reuseThreads(reuseThreads).build())) {
            TaskHandle<String> handle = executor.submit("a", "t1", first);
            TaskHandle<String> next = executor.submit("a", "t2", second);
            CompletableFuture<String> dependant = handle.toCompletableFuture().thenApply(result -> {
                blocked.countDown();
                Wait.uninterrupted(letGo);
                return result.value();
            });

            first.release();
            blocked.await();
            second.awaitBegun(); // although the dependant blocks
            second.release();
            assertThat(next.await().value()).isEqualTo("value");

            assertThat(dependant).isNotDone();
            letGo.countDown();
            assertThat(dependant.get()).isEqualTo("value");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void a_dependant_finds_the_slot_free(boolean reuseThreads) throws Exception {
        BlockingTask blocker = new BlockingTask();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(closesAtOnce()
                .reuseThreads(reuseThreads)
                .defaultQueueThresholdPerGroup(0)
                .globalMaxInFlight(1)
                .globalQueueThreshold(0)
                .build())) {
            CompletableFuture<GroupResult<String>> chained = executor.submit("a", "t1", blocker)
                    .toCompletableFuture()
                    .thenCompose(
                            result -> executor.submit("a", "t2", () -> "second").toCompletableFuture());
            blocker.release();

            assertThat(chained.get().value()).isEqualTo("second");
        }
    }

    @Test
    void a_handle_is_done_exactly_when_its_task_has_ended_for_every_outcome() throws InterruptedException {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(TestTasks.stepped(steps)
                .defaultMaxConcurrencyPerGroup(3)
                .defaultQueueThresholdPerGroup(0)
                .rejectionPolicy(RejectionPolicy.DISCARD)
                .build())) {
            TaskHandle<String> succeeds = executor.submit("a", "t1", () -> "value");
            TaskHandle<String> fails = executor.submit("a", "t2", () -> {
                throw new IllegalStateException();
            });
            TaskHandle<String> isCancelled = executor.submit("a", "t3", () -> "never");
            TaskHandle<String> isRejected = executor.submit("a", "t4", () -> "never");
            assertThat(isRejected.isDone()).isTrue();
            assertThat(succeeds.isDone()).isFalse();
            assertThat(fails.isDone()).isFalse();
            assertThat(isCancelled.isDone()).isFalse();

            isCancelled.cancel(false);
            assertThat(isCancelled.isDone()).isTrue();
            steps.runNext();
            assertThat(succeeds.isDone()).isTrue();
            assertThat(fails.isDone()).isFalse();
            steps.runAll();
            assertThat(fails.isDone()).isTrue();

            for (TaskHandle<String> handle : List.of(succeeds, fails, isCancelled, isRejected)) {
                GroupResult<String> once = handle.await();
                assertThat(handle.await()).isEqualTo(once);
                assertThat(handle.join()).isEqualTo(once);
                assertThat(handle.await(0, TimeUnit.SECONDS)).isEqualTo(once);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(TaskStatus.class)
    void a_handle_reports_every_result_of_a_rejection_handler(TaskStatus status) throws InterruptedException {
        RejectionHandler handler = new RejectionHandler() {
            @Override
            public <T> GroupResult<T> onRejected(String groupKey, String taskId, Callable<T> task) {
                return new GroupResult<>(groupKey, taskId, status, null, null, 3, 3);
            }
        };
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(TestTasks.stepped(steps)
                .defaultQueueThresholdPerGroup(0)
                .rejectionHandler(handler)
                .build())) {
            executor.submit("a", "holder", () -> "");
            TaskHandle<String> handle = executor.submit("a", "t1", () -> "never");

            GroupResult<String> result = handle.await();
            assertThat(result.status()).isEqualTo(status);
            assertThat(result.value()).isNull();
            assertThat(result.error() != null)
                    .as("a failure and a cancellation have an error even if the handler gave none")
                    .isEqualTo(status == TaskStatus.FAILED || status == TaskStatus.CANCELLED);
            assertThat(result.startTimeNanos()).isEqualTo(3);
            assertThat(handle.join()).isEqualTo(result);
        }
    }

    @Test
    void the_text_of_a_handle_names_task_and_group() {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(TestTasks.stepped(steps).build())) {
            assertThat(executor.submit("a", "t1", () -> "")).hasToString("task \"t1\" in group \"a\"");
        }
    }
}
