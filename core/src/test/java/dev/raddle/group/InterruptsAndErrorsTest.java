package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Outcome;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import dev.raddle.task.TaskStatus;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.Together;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class InterruptsAndErrorsTest {

    private final StepScheduler steps = new StepScheduler();
    private final List<Throwable> swallowed = new CopyOnWriteArrayList<>();
    private final ExceptionSink sink = ExceptionSink.to((source, error) -> swallowed.add(error));

    private GroupPolicy.Builder closesAtOnce() {
        return GroupPolicy.builder().closeTimeout(Duration.ZERO).exceptionSink(sink);
    }

    @SuppressWarnings("unchecked")
    private static <T, X extends Throwable> T sneaky(Throwable thrown) throws X {
        throw (X) thrown;
    }

    private static <T> Callable<T> throwing(Throwable thrown) {
        return () -> InterruptsAndErrorsTest.<T, RuntimeException>sneaky(thrown);
    }

    private static void assertNothingHeld(GroupExecutor executor) {
        GroupExecutorStats stats = executor.stats();
        assertThat(stats.totalActiveCount()).isZero();
        assertThat(stats.totalQueuedCount()).isZero();
        assertThat(stats.globalInFlightUsed()).isZero();
    }

    @Test
    void a_caller_that_is_interrupted_while_it_waits_for_a_permit_releases_only_what_it_has() throws Exception {
        List<GroupResult<?>> heard = new CopyOnWriteArrayList<>();
        TaskLifecycleListener listener = new TaskLifecycleListener() {
            @Override
            public void onCompleted(String key, String id, GroupResult<?> result) {
                heard.add(result);
            }
        };
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(TestTasks.stepped(steps)
                .globalMaxInFlight(1)
                .globalQueueThreshold(1)
                .taskLifecycleListener(listener)
                .build())) {
            executor.submit("a", "holder", () -> "");

            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> executor.call("b", () -> "never")).isInstanceOf(InterruptedException.class);

            assertThat(heard).hasSize(1);
            assertThat(heard.getFirst().status()).isEqualTo(TaskStatus.CANCELLED);
            assertThat(heard.getFirst().error()).isInstanceOf(InterruptedException.class);
            assertThat(executor.stats().totalQueuedCount()).isZero();
            assertThat(executor.stats().globalInFlightUsed()).isEqualTo(1);
            steps.runAll();
            assertNothingHeld(executor);
            assertThat(executor.call("b", () -> "its turn")).isEqualTo("its turn");
        }
    }

    @Test
    void a_task_that_throws_interrupted_exception_is_cancelled() throws InterruptedException {
        InterruptedException thrown = new InterruptedException("inside");
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(closesAtOnce().build())) {
            TaskHandle<String> handle = executor.submit("a", "t1", throwing(thrown));

            assertThat(handle.await().status()).isEqualTo(TaskStatus.CANCELLED);
            assertThat(handle.await().error()).isSameAs(thrown);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void an_interrupt_is_visible_to_the_task_and_to_neither_listener_nor_next_task(boolean reuseThreads)
            throws Exception {
        List<String> seen = new CopyOnWriteArrayList<>();
        TaskLifecycleListener listener = new TaskLifecycleListener() {
            @Override
            public void onStarted(String key, String id) {
                seen.add("started " + Thread.currentThread().isInterrupted());
            }

            @Override
            public void onCompleted(String key, String id, GroupResult<?> result) {
                seen.add("completed " + Thread.currentThread().isInterrupted());
            }
        };
        try (ExecutorService thread = Executors.newSingleThreadExecutor();
                GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(closesAtOnce()
                        .scheduler(key -> thread::execute)
                        .reuseThreads(reuseThreads)
                        .taskLifecycleListener(listener)
                        .build())) {
            BlockingTask blocker = new BlockingTask();
            executor.submit("a", "holder", blocker);
            executor.submit("a", "t1", () -> {
                Thread.currentThread().interrupt();
                return seen.add("inside " + Thread.currentThread().isInterrupted());
            });
            TaskHandle<Boolean> last = executor.submit(
                    "a", "t2", () -> seen.add("next " + Thread.currentThread().isInterrupted()));
            blocker.release();
            last.await();
        }
        assertThat(seen)
                .containsExactly(
                        "started false",
                        "completed false",
                        "started false",
                        "inside true",
                        "completed false",
                        "started false",
                        "next false",
                        "completed false");
    }

    @Test
    void a_task_that_throws_a_cancellation_is_cancelled_and_every_other_exception_fails_the_task() throws Exception {
        CancellationException cancellation = new CancellationException();
        List<Throwable> failures = List.of(
                new IllegalStateException(),
                new IOException(),
                new OutOfMemoryError("simulated"),
                new StackOverflowError(),
                new NoClassDefFoundError(),
                new Throwable());
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                closesAtOnce().defaultQueueThresholdPerGroup(0).build())) {
            for (Throwable thrown : failures) {
                GroupResult<Object> result =
                        executor.submit("a", "t1", throwing(thrown)).await();
                assertThat(result.status()).isEqualTo(TaskStatus.FAILED);
                assertThat(result.error()).isSameAs(thrown);
                assertThat(result.value()).isNull();
            }
            GroupResult<Object> cancelled =
                    executor.submit("a", "t1", throwing(cancellation)).await();
            assertThat(cancelled.status()).isEqualTo(TaskStatus.CANCELLED);
            assertThat(cancelled.error()).isSameAs(cancellation);
            assertNothingHeld(executor);
        }
    }

    /** Policies in which a part of the user's code throws. */
    static Stream<GroupPolicy.Builder> policiesThatThrow() {
        Error thrown = new OutOfMemoryError("simulated");
        TaskLifecycleListener listener = new TaskLifecycleListener() {
            @Override
            public void onSubmitted(String key, String id) {
                throw thrown;
            }

            @Override
            public void onStarted(String key, String id) {
                throw thrown;
            }

            @Override
            public void onCompleted(String key, String id, GroupResult<?> result) {
                throw thrown;
            }

            @Override
            public void onRejected(String key, String id, String reason) {
                throw thrown;
            }
        };
        TaskListener kernelListener = new TaskListener() {
            @Override
            public void onSubmitted(TaskIdentity task) {
                throw thrown;
            }

            @Override
            public void onStarted(TaskIdentity task, long waitNanos) {
                throw thrown;
            }

            @Override
            public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
                throw thrown;
            }
        };
        return Stream.of(
                GroupPolicy.builder().taskLifecycleListener(listener),
                GroupPolicy.builder().addListener(kernelListener),
                GroupPolicy.builder().concurrencyResolver(key -> {
                    throw thrown;
                }),
                GroupPolicy.builder().weightResolver(key -> {
                    throw thrown;
                }),
                GroupPolicy.builder().scheduler(key -> {
                    throw thrown;
                }),
                GroupPolicy.builder().scheduler(key -> null));
    }

    @ParameterizedTest
    @MethodSource("policiesThatThrow")
    void an_error_in_a_listener_or_resolver_loses_no_permit_and_goes_to_the_sink(GroupPolicy.Builder builder)
            throws InterruptedException {
        GroupPolicy policy = builder.exceptionSink(sink)
                .closeTimeout(Duration.ZERO)
                .globalMaxInFlight(1)
                .globalQueueThreshold(1)
                .build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            for (int i = 0; i < 3; i++) {
                BlockingTask blocker = new BlockingTask();
                TaskHandle<String> runs = executor.submit("a", "t1", blocker);
                TaskHandle<String> waits = executor.submit("a", "t2", () -> "after it");
                TaskHandle<String> refused = executor.submit("a", "t3", () -> "never");
                blocker.release();

                assertThat(runs.await().value()).isEqualTo("value");
                assertThat(waits.await().value()).isEqualTo("after it");
                assertThatThrownBy(refused::await).isInstanceOf(RejectedTaskException.class);
                assertNothingHeld(executor);
            }
        }
        assertThat(swallowed).isNotEmpty();
        assertThat(sink.count()).isEqualTo(swallowed.size());
    }

    @Test
    void an_error_in_a_rejection_handler_fails_the_task_and_loses_no_permit() throws InterruptedException {
        Error thrown = new StackOverflowError();
        RejectionHandler handler = new RejectionHandler() {
            @Override
            public <T> GroupResult<T> onRejected(String groupKey, String taskId, Callable<T> task) {
                throw thrown;
            }
        };
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(TestTasks.stepped(steps)
                .defaultQueueThresholdPerGroup(0)
                .rejectionHandler(handler)
                .build())) {
            TaskHandle<String> runs = executor.submit("a", "t1", () -> "value");
            TaskHandle<String> refused = executor.submit("a", "t2", () -> "never");
            steps.runAll();

            assertThat(refused.await().status()).isEqualTo(TaskStatus.FAILED);
            assertThat(refused.await().error()).isSameAs(thrown);
            assertThat(runs.await().value()).isEqualTo("value");
            assertNothingHeld(executor);
        }
    }

    /** A scheduler that accepts a task if a flag is set, and throws otherwise. */
    private static final class Refusing implements Scheduler {
        final StepScheduler steps = new StepScheduler();
        volatile Throwable refusal;
        boolean acceptsNevertheless;

        @Override
        public void execute(Runnable task) {
            Throwable thrown = refusal;
            if (thrown == null || acceptsNevertheless) {
                steps.execute(task);
            }
            if (thrown != null) {
                InterruptsAndErrorsTest.<Object, RuntimeException>sneaky(thrown);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {OutOfMemoryError.class, RejectedExecutionException.class})
    void a_thread_that_cannot_be_started_fails_the_task_and_its_permits_are_released(Class<? extends Throwable> type)
            throws Exception {
        Throwable refusal = type.getConstructor(String.class).newInstance("unable to create native thread");
        Refusing scheduler = new Refusing();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                closesAtOnce().scheduler(key -> scheduler).globalMaxInFlight(1).build())) {
            scheduler.refusal = refusal;
            GroupResult<String> failed =
                    executor.submit("a", "t1", () -> "never").await();
            assertThat(failed.status()).isEqualTo(TaskStatus.FAILED);
            assertThat(failed.error()).isSameAs(refusal);
            assertNothingHeld(executor);

            scheduler.refusal = null;
            TaskHandle<String> runs = executor.submit("a", "t2", () -> "value");
            TaskHandle<String> waits = executor.submit("b", "t3", () -> "never");
            scheduler.refusal = refusal;
            scheduler.steps.runAll();
            assertThat(runs.await().value()).isEqualTo("value");
            assertThat(waits.await().error()).isSameAs(refusal);
            assertNothingHeld(executor);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void ten_thousand_starts_that_fail_do_not_exhaust_the_stack(boolean capped) throws InterruptedException {
        Refusing scheduler = new Refusing();
        RejectedExecutionException refusal = new RejectedExecutionException("pool is shut down");
        List<TaskHandle<String>> waiting = new ArrayList<>();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(closesAtOnce()
                .scheduler(key -> scheduler)
                .globalMaxInFlight(capped ? 1 : Integer.MAX_VALUE)
                .build())) {
            executor.submit("a", "holder", () -> "");
            for (int i = 0; i < 10_000; i++) {
                waiting.add(executor.submit("a", "t" + i, () -> "never"));
            }
            scheduler.refusal = refusal;

            scheduler.steps.runAll();

            for (TaskHandle<String> handle : waiting) {
                assertThat(handle.isDone()).isTrue();
                assertThat(handle.await().error()).isSameAs(refusal);
            }
            assertNothingHeld(executor);
        }
    }

    @Test
    void a_scheduler_that_throws_although_it_took_the_task_does_not_make_it_run_twice_or_lose_its_permit()
            throws InterruptedException {
        Refusing scheduler = new Refusing();
        scheduler.acceptsNevertheless = true;
        List<String> ran = new ArrayList<>();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                closesAtOnce().scheduler(key -> scheduler).build())) {
            scheduler.refusal = new IllegalStateException();
            TaskHandle<Boolean> failed = executor.submit("a", "t1", () -> ran.add("t1"));
            assertThat(failed.await().status()).isEqualTo(TaskStatus.FAILED);

            scheduler.refusal = null;
            TaskHandle<Boolean> next = executor.submit("a", "t2", () -> ran.add("t2"));
            assertThat(executor.stats().totalActiveCount()).isEqualTo(1);
            scheduler.steps.runAll();

            assertThat(next.await().status()).isEqualTo(TaskStatus.SUCCESS);
            assertThat(ran).containsExactly("t2");
            assertNothingHeld(executor);
        }
    }

    @Test
    void a_scheduler_that_throws_after_the_task_has_begun_does_not_affect_the_task() throws InterruptedException {
        BlockingTask blocker = new BlockingTask();
        Scheduler startsAndThrows = task -> {
            Thread.ofVirtual().start(task);
            try {
                blocker.awaitBegun();
            } catch (InterruptedException interrupt) {
                throw new AssertionError(interrupt);
            }
            throw new IllegalStateException("after the start");
        };
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                closesAtOnce().scheduler(key -> startsAndThrows).build())) {
            TaskHandle<String> handle = executor.submit("a", "t1", blocker);

            assertThat(handle.isDone()).isFalse();
            assertThat(executor.stats().totalActiveCount()).isEqualTo(1);
            blocker.release();

            assertThat(handle.await().value()).isEqualTo("value");
            assertNothingHeld(executor);
        }
    }

    @Test
    void a_task_that_was_cancelled_while_its_scheduler_failed_releases_its_permit() throws InterruptedException {
        List<TaskHandle<?>> handles = new CopyOnWriteArrayList<>();
        Scheduler cancelsAndThrows = task -> {
            ((TaskHandle<?>) task).cancel(true);
            throw new IllegalStateException("after the cancel");
        };
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                closesAtOnce().scheduler(key -> cancelsAndThrows).build())) {
            for (int i = 0; i < 3; i++) {
                handles.add(executor.submit("a", "t" + i, () -> "never"));
            }

            for (TaskHandle<?> handle : handles) {
                assertThat(handle.await().status()).isEqualTo(TaskStatus.CANCELLED);
            }
            assertNothingHeld(executor);
        }
    }

    @Test
    void a_scheduler_that_runs_tasks_in_the_calling_thread_loses_no_permit() throws InterruptedException {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                closesAtOnce().scheduler(key -> Runnable::run).build())) {
            TaskHandle<String> outer = executor.submit("a", "outer", () -> {
                TaskHandle<String> inner = executor.submit("a", "inner", () -> "inside");
                return "waits: " + !inner.isDone();
            });

            assertThat(outer.await().value()).isEqualTo("waits: true");
            assertThat(executor.awaitIdle("a", Duration.ofDays(1))).isTrue();
            assertNothingHeld(executor);
        }
    }

    @Test
    void under_random_failures_every_handle_completes_and_no_permit_is_lost() throws Exception {
        ConcurrentLinkedQueue<TaskHandle<String>> handles = new ConcurrentLinkedQueue<>();
        AtomicInteger starts = new AtomicInteger();
        Scheduler everyFifthFails = task -> {
            if (starts.incrementAndGet() % 5 == 0) {
                throw new OutOfMemoryError("simulated");
            }
            Scheduler.virtualThreads().execute(task);
        };
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(closesAtOnce()
                .scheduler(key -> everyFifthFails)
                .defaultMaxConcurrencyPerGroup(2)
                .globalMaxInFlight(3)
                .globalQueueThreshold(50)
                .rejectionPolicy(RejectionPolicy.DISCARD)
                .build())) {
            List<Callable<Object>> submitters = new ArrayList<>();
            for (int thread = 0; thread < 2; thread++) {
                int seed = thread;
                submitters.add(() -> {
                    Random random = new Random(seed);
                    for (int i = 0; i < 5_000; i++) {
                        int fate = random.nextInt(4);
                        TaskHandle<String> handle = executor.submit("g" + random.nextInt(3), "t", () -> {
                            if (fate == 0) {
                                throw new StackOverflowError();
                            }
                            return "value";
                        });
                        handles.add(handle);
                        if (fate == 1) {
                            handle.cancel(true);
                        }
                    }
                    return null;
                });
            }
            Together.together(submitters);
            for (TaskHandle<String> handle : handles) {
                assertThat(handle.await().status()).isNotNull();
            }
            for (String key : List.of("g0", "g1", "g2")) {
                assertThat(executor.awaitIdle(key, Duration.ofDays(1))).isTrue();
            }
            assertNothingHeld(executor);
        }
        assertThat(handles).hasSize(10_000);
    }

    @Test
    void a_shutdown_that_interrupts_a_task_in_its_callers_thread_leaves_no_interrupt_there() throws Exception {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder().build())) {
            String value = executor.call("a", () -> {
                FutureTask<?> shutdown = new FutureTask<>(() -> executor.shutdownGroup("a"), null);
                Thread.ofPlatform().start(shutdown);
                while (!shutdown.isDone()) {
                    Thread.onSpinWait(); // does not clear the interrupt status
                }
                assertThat(Thread.currentThread().isInterrupted()).isTrue();
                return "v";
            });

            assertThat(Thread.interrupted()).isFalse();
            assertThat(value).isEqualTo("v");
        }
    }

    @Test
    void a_call_whose_task_throws_loses_no_permit() throws Exception {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                closesAtOnce().defaultQueueThresholdPerGroup(0).build())) {
            for (Throwable thrown : List.of(new IOException(), new StackOverflowError())) {
                FutureTask<Object> caller = new FutureTask<>(() -> executor.call("a", throwing(thrown)));
                caller.run();
                assertThatThrownBy(caller::get).hasCause(thrown);
                assertNothingHeld(executor);
            }
        }
    }
}
